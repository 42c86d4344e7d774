// Secrets for one fetch: kept here, bound to the tool and to the host, held by the session, counted, and wiped afterwards. Who
// asks for one that is not for them is told nothing about it, and a person is.
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { SealedSecret } from "../../core/ports/stores/secret-store.ts";
import type { FetchSecret } from "../../sandbox/network/fetch/fetch-client.ts";
import { isBoundTo } from "../../sandbox/network/fetch/handles-binding.ts";
import { WEB_FETCH } from "../../tools/web/definition.ts";
import { secretRequest, type WebCall } from "../../tools/web/fetch-input.ts";
import type { HeldAuthority } from "../../tools/web/hops.ts";
import type { Session } from "../session.ts";

export interface WebSecrets {
  get(name: string): SealedSecret | null;
  /** Counts one use and writes it down; false where none is left. */
  use(secret: SealedSecret, session: Session): Promise<boolean>;
  /** Waits for the key where the store is locked and the key's place was not asked just now. */
  ready(): Promise<void>;
  /** For one use. The value is the caller's to wipe. */
  open(name: string): Answer<{ readonly value: Uint8Array }>;
  /** Somebody asked for a secret that is there and is not for them. */
  probed(name: string, session: Session): void;
}

export type Given =
  | { readonly ok: true; readonly secrets: readonly FetchSecret[] }
  | { readonly ok: false; readonly message: string; readonly request: Request | null };

export class WebSecretUse {
  readonly #secrets: WebSecrets;
  readonly #holds: (session: Session) => HeldAuthority | null;
  readonly #tool: string;
  /** An alarm is raised once a session for each of them: the log is not for whoever asks to fill. */
  readonly #told = new WeakMap<Session, Set<string>>();

  constructor(secrets: WebSecrets, holds: (session: Session) => HeldAuthority | null, tool: string = WEB_FETCH) {
    this.#secrets = secrets;
    this.#holds = holds;
    this.#tool = tool;
  }

  /** Everything is looked at before anything is opened, and everything is opened before anything is counted. */
  async open(call: WebCall, session: Session): Promise<Given> {
    // Only for one that is meant for it: nobody else makes a keychain ask a person.
    if (call.secrets.some((name) => this.#isMeant(name, call))) await this.#secrets.ready();
    const found: SealedSecret[] = [];
    for (const name of call.secrets) {
      const secret = this.#secrets.get(name);
      if (secret !== null && this.#isFor(secret, call)) found.push(secret);
      else {
        this.probed(call, session);
        return refusedFor(name, call, this.#tool);
      }
    }
    const opened: FetchSecret[] = [];
    const wiped = (name: string): Given => {
      for (const { value } of opened) value.fill(0);
      return refusedFor(name, call, this.#tool);
    };
    for (const { name, binding } of found) {
      const one = this.#secrets.open(name);
      if (!one.ok) return wiped(name);
      opened.push({ name, value: one.value.value, hosts: binding.hosts });
    }
    for (const secret of found) if (!(await this.#secrets.use(secret, session))) return wiped(secret.name);
    return { ok: true, secrets: opened };
  }

  /** Raises the alarm for each secret of the call that is there and is not granted, or not for this tool and host. */
  probed(call: WebCall, session: Session): void {
    for (const name of call.secrets) {
      const secret = this.#secrets.get(name);
      if (secret === null || (this.#isFor(secret, call) && this.#isGranted(name, call, session))) continue;
      const told = this.#told.get(session) ?? new Set<string>();
      this.#told.set(session, told);
      if (told.has(name)) continue;
      told.add(name);
      this.#secrets.probed(name, session);
    }
  }

  #isMeant(name: string, call: WebCall): boolean {
    const secret = this.#secrets.get(name);
    return secret !== null && this.#isFor(secret, call);
  }

  #isFor({ binding, isCanary }: SealedSecret, { url }: WebCall): boolean {
    return !isCanary && binding.tools.includes(this.#tool) && isBoundTo(binding.hosts, url);
  }

  #isGranted(name: string, { url }: WebCall, session: Session): boolean {
    const request = secretRequest(name, url, this.#tool);
    const held = this.#holds(session);
    return request !== null && held !== null && judge(held.authority, request, held.moment).outcome !== "deny";
  }
}

/** The same words whatever is the matter: nobody learns here which secrets there are. */
function refusedFor(name: string, { url }: WebCall, tool: string): Given {
  return { ok: false, message: `there is no secret ${name} for this address`, request: secretRequest(name, url, tool) };
}
