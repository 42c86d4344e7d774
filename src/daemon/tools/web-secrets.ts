// Secrets for one fetch: stored here, bound to the tool and the host, granted to the session, counted, and wiped afterwards. A
// caller that names another secret learns nothing about it, and a person is alerted.
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { Ledger } from "../../core/ports/stores/ledger.ts";
import type { EntryKind, LogEntry } from "../../core/ports/stores/log.ts";
import type { SealedSecret, SecretStore } from "../../core/ports/stores/secret-store.ts";
import type { FetchSecret } from "../../sandbox/network/fetch/fetch-client.ts";
import { isBoundTo } from "../../sandbox/network/fetch/handles-binding.ts";
import { WEB_FETCH } from "../../tools/web/definition.ts";
import { secretRequest, type WebCall } from "../../tools/web/fetch-input.ts";
import type { HeldAuthority } from "../../tools/web/hops.ts";
import type { DaemonSecrets } from "../secrets.ts";
import type { Session } from "../session.ts";

export interface WebSecrets {
  get(name: string): SealedSecret | null;
  /** Counts and logs one use; false if none is left. */
  use(secret: SealedSecret, session: Session): Promise<boolean>;
  /** Waits for the key if the store is locked and its source was not queried recently. */
  ready(): Promise<void>;
  /** For one use. The caller wipes the value. */
  open(name: string): Answer<{ readonly value: Uint8Array }>;
  /** A caller named an existing secret that it may not use. */
  probed(name: string, session: Session): void;
}

export interface StoredSecretsOptions {
  readonly kept: { readonly secrets: SecretStore; readonly ledger: Pick<Ledger, "append"> };
  readonly open: DaemonSecrets["open"];
  readonly ready: DaemonSecrets["ready"];
  entry(kind: EntryKind, outcome: string, of: string | null, more: JsonObject): LogEntry;
  log(line: string): void;
}

/** The secrets of the store for one tool: every use and every alarm is an entry in the log with the session and the tool. */
export function storedSecrets({ kept, open, ready, entry, log }: StoredSecretsOptions, tool: string): WebSecrets {
  const entryFor = (kind: EntryKind, outcome: string, name: string, session: Session): LogEntry => ({
    ...entry(kind, outcome, name, { name }),
    ...session.who(),
    tool,
  });
  return {
    get: (name) => kept.secrets.get(name),
    ready: () => ready(),
    open: (name) => open(name),
    use: async ({ name, version }, session) => {
      const counted = await kept.secrets.use(name, version, entryFor("secret", "used", name, session));
      return counted.ok && counted.value;
    },
    probed: (name, session) => {
      log(`alarm: ${session.facts.name.agent} asked for the secret ${name}, which is not for it`);
      void kept.ledger.append([entryFor("alarm", "secret_probe", name, session)]);
    },
  };
}

export type OpenedSecrets =
  | { readonly ok: true; readonly secrets: readonly FetchSecret[] }
  | { readonly ok: false; readonly message: string; readonly request: Request | null };

export class WebSecretUse {
  readonly #secrets: WebSecrets;
  readonly #holds: (session: Session) => HeldAuthority | null;
  readonly #tool: string;
  /** One alarm per session and secret: a caller must not be able to fill the log. */
  readonly #told = new WeakMap<Session, Set<string>>();

  constructor(secrets: WebSecrets, holds: (session: Session) => HeldAuthority | null, tool: string = WEB_FETCH) {
    this.#secrets = secrets;
    this.#holds = holds;
    this.#tool = tool;
  }

  /** Everything is checked before anything is opened, and everything is opened before anything is counted. */
  async open(call: WebCall, session: Session): Promise<OpenedSecrets> {
    // Only for a permitted secret: no other request makes a keychain prompt a person.
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
    const wiped = (name: string): OpenedSecrets => {
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

  /** Raises an alarm for each existing secret of the call that is not granted, or not for this tool and host. */
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

/** The same message for every cause, so that a caller cannot find out which secrets exist. */
function refusedFor(name: string, { url }: WebCall, tool: string): OpenedSecrets {
  return { ok: false, message: `there is no secret ${name} for this address`, request: secretRequest(name, url, tool) };
}
