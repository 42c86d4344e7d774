// Secrets of contexts: stored here, bound to a tool and hosts, counted, and never passed to a tool. A caller that names another
// secret learns nothing about it, and a person is alerted.
import { destinationText } from "../../core/authority/axes/destination.ts";
import { isDestination, isSegments } from "../../core/authority/axes/scope.ts";
import type { Url } from "../../core/authority/axes/url.ts";
import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { FetchSecret, PortFailure, SecretsPort } from "../../core/ports/instruments.ts";
import type { Ledger } from "../../core/ports/stores/ledger.ts";
import type { EntryKind, LogEntry } from "../../core/ports/stores/log.ts";
import type { SealedSecret, SecretStore } from "../../core/ports/stores/secret-store.ts";
import { isBoundTo } from "../../sandbox/network/fetch/handles-binding.ts";
import type { DaemonSecrets } from "../secrets.ts";
import type { Session } from "../session.ts";

export interface ContextSecretsOptions {
  readonly kept: { readonly secrets: SecretStore; readonly ledger: Pick<Ledger, "append"> };
  readonly open: DaemonSecrets["open"];
  readonly ready: DaemonSecrets["ready"];
  entry(kind: EntryKind, outcome: string, of: string | null, more: JsonObject): LogEntry;
  log(line: string): void;
}

/** Where a request goes, as far as a binding looks at it. */
type Address = Pick<Url, "scheme" | "host" | "port">;

export class ContextSecrets {
  readonly #options: ContextSecretsOptions;
  /** One alarm for each session and secret: a caller must not be able to fill the log. */
  readonly #alarms = new WeakMap<Session, Set<string>>();

  constructor(options: ContextSecretsOptions) {
    this.#options = options;
  }

  /** Whether the tool has a secret of this name, wherever it may be sent. */
  has(tool: string, name: string): boolean {
    const secret = this.#options.kept.secrets.get(name);
    return secret !== null && isOf(secret, tool);
  }

  port(session: Session, tool: string): SecretsPort {
    return {
      has: async (name) => this.has(tool, name),
      open: (names, url) => this.#open(session, tool, names, url),
    };
  }

  /** A call was denied: an alarm for each existing secret it named that is not granted, or not for this tool and address. */
  denied(session: Session, tool: string, requests: readonly Request[], isGranted: (request: Request) => boolean): void {
    for (const request of requests) {
      const [name, , host] = request.values;
      // The name of a configured secret is the user's, not the caller's.
      if (request.verb.verb !== "secret.use" || request.isConfigured === true || !isSegments(name)) continue;
      const url = isDestination(host) ? addressIn(requests, destinationText(host)) : null;
      if (!isGranted(request) || url === null || !this.#isFor(name.segments.join("/"), tool, url))
        this.#alarm(session, tool, name.segments.join("/"));
    }
  }

  /** Everything is checked before anything is opened, and everything is opened before anything is counted. */
  async #open(session: Session, tool: string, names: readonly string[], url: Url): ReturnType<SecretsPort["open"]> {
    const { kept, open, ready } = this.#options;
    // Only for a permitted secret: no other request makes a keychain prompt a person.
    if (names.some((name) => this.#isFor(name, tool, url))) await ready();
    const found: SealedSecret[] = [];
    for (const name of names) {
      const secret = kept.secrets.get(name);
      if (secret !== null && this.#isFor(name, tool, url)) found.push(secret);
    }
    const missing = names.find((name) => !found.some((one) => one.name === name));
    if (missing !== undefined) {
      for (const name of names) if (!this.#isFor(name, tool, url)) this.#alarm(session, tool, name);
      return refused(missing);
    }
    const opened: FetchSecret[] = [];
    const wiped = (name: string): ReturnType<typeof refused> => {
      for (const { value } of opened) value.fill(0);
      return refused(name);
    };
    for (const { name, binding } of found) {
      const one = open(name);
      if (!one.ok) return wiped(name);
      const { hosts, isSignOnly = false } = binding;
      opened.push({ name, value: one.value.value, hosts, isSignOnly });
    }
    for (const { name, version } of found) {
      const counted = await kept.secrets.use(name, version, this.#entry("secret", "used", name, session, tool));
      if (!counted.ok || !counted.value) return wiped(name);
    }
    return { ok: true, value: opened };
  }

  #isFor(name: string, tool: string, url: Address): boolean {
    const secret = this.#options.kept.secrets.get(name);
    return secret !== null && isOf(secret, tool) && isBoundTo(secret.binding.hosts, url);
  }

  #alarm(session: Session, tool: string, name: string): void {
    const { kept, log } = this.#options;
    const known = this.#alarms.get(session) ?? new Set<string>();
    this.#alarms.set(session, known);
    if (known.has(name) || kept.secrets.get(name) === null) return;
    known.add(name);
    log(`alarm: ${session.facts.name.agent} requested the secret ${name}, which it may not use`);
    void kept.ledger.append([this.#entry("alarm", "secret_probe", name, session, tool)]);
  }

  #entry(kind: EntryKind, outcome: string, name: string, session: Session, tool: string): LogEntry {
    return { ...this.#options.entry(kind, outcome, name, { name }), ...session.who(), tool };
  }
}

function isOf({ binding, isCanary }: SealedSecret, tool: string): boolean {
  return !isCanary && binding.tools.includes(tool);
}

/** The address that a call with these requests would send to. */
function addressIn(requests: readonly Request[], name: string): Address | null {
  for (const { verb, values, scheme } of requests) {
    const [host, port] = values;
    if (!verb.verb.startsWith("net.") || !isDestination(host) || typeof port !== "number") continue;
    if (destinationText(host) === name) return { scheme: scheme === "http" ? "http" : "https", host, port };
  }
  return null;
}

/** The same message for every cause, so that a caller cannot find out which secrets exist. */
function refused(name: string): PortFailure & { readonly name: string } {
  return { ok: false, code: "secret_refused", message: `there is no secret ${name} for this address`, name };
}
