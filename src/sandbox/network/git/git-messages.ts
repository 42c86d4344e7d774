// Messages between daemon and broker about git: what a sandbox's git relay serves, and the credential for one request.
import { DENIAL_CODES, type DenialCode } from "../../../core/authority/decision.ts";
import { authoritiesCharactersMax, credentialBytesMax, gitHostsMax } from "../limits.ts";
import { type Check, exactly, isShape, list, orNull, text, whole } from "../shape.ts";
import { GIT_SERVICES, type GitRequest, type GitService } from "./git-request.ts";

/** The hosts that the relay of a sandbox serves. */
export interface GitHosts {
  readonly hosts: readonly string[];
  /** Certificates to trust instead of Node's. */
  readonly authorities: string | null;
}

export type CredentialRequest = Pick<GitRequest, "host" | "repository" | "service">;

export interface Credential {
  readonly username: string;
  readonly password: string;
}

export type CredentialDecision =
  | { readonly credential: Credential }
  | { readonly credential: null; readonly code: DenialCode; readonly message: string };

export interface CredentialAnswer {
  readonly kind: "credential-answer";
  readonly number: number;
  readonly credential: Credential | null;
  /** Set for a denial only. */
  readonly code: DenialCode | null;
  /** For the person at git. */
  readonly message: string;
}

export interface CredentialQuery extends CredentialRequest {
  readonly kind: "credential-request";
  readonly number: number;
  readonly sandbox: string;
}

const number = whole(1, Number.MAX_SAFE_INTEGER);
const host = text(253, /^[a-z0-9.-]+$/);
const credential: Check<Credential> = (value): value is Credential =>
  isShape<Credential>(value, {
    username: text(credentialBytesMax, /^[^\r\n\0]+$/),
    password: text(credentialBytesMax, /^[^\r\n\0]+$/),
  });

export const gitHosts: Check<GitHosts> = (value): value is GitHosts =>
  isShape<GitHosts>(value, { hosts: list(host, gitHostsMax), authorities: orNull(text(authoritiesCharactersMax)) });

export function readCredentialAnswer(value: unknown): CredentialAnswer | null {
  const isAnswer = isShape<CredentialAnswer>(value, {
    ...{ kind: exactly("credential-answer"), number, credential: orNull(credential) },
    ...{ code: orNull(exactly<DenialCode>(...DENIAL_CODES)), message: text(4_096) },
  });
  return isAnswer && (value.credential === null) === (value.code !== null) ? value : null;
}

export function readCredentialQuery(value: unknown): CredentialQuery | null {
  const isQuery = isShape<CredentialQuery>(value, {
    ...{ kind: exactly("credential-request"), number, sandbox: text(64, /^[A-Za-z0-9_.-]+$/), host },
    ...{ repository: text(2_048), service: exactly<GitService>(...GIT_SERVICES) },
  });
  return isQuery ? value : null;
}
