// A new state for a row: the real store, the real vault, the daemon's own calls, and tools as the daemon carries them out. Only
// the outside is faked: the agent's text, the person, and the server that is fetched from.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Authority } from "../../src/core/authority/chain.ts";
import type { JsonObject } from "../../src/core/base/json.ts";
import type { SecretBinding } from "../../src/core/ports/stores/secret-store.ts";
import type { InstrumentsSource } from "../../src/daemon/contexts/contexts.ts";
import { contextNet, FetchQueue } from "../../src/daemon/contexts/net.ts";
import { ContextSecrets } from "../../src/daemon/contexts/secrets.ts";
import { Daemon } from "../../src/daemon/daemon.ts";
import { Entries, NO_ACTOR } from "../../src/daemon/log/entries.ts";
import type { DaemonParts } from "../../src/daemon/parts.ts";
import type { ClientConnection, Exchange } from "../../src/daemon/rpc/serving.ts";
import { type DaemonSecrets, daemonSecrets } from "../../src/daemon/secrets.ts";
import { sha256 } from "../../src/platform/digest.ts";
import type { FetchOptions, FetchResult } from "../../src/sandbox/network/fetch/fetch-client.ts";
import { openState, type State } from "../../src/store/state.ts";
import { decidedFileTools, partsOf } from "./dispatch-parts.ts";
import { WORK } from "./machine.ts";

const AGENT = "agent";
const PASSPHRASE = "a passphrase of a vector";

export interface Called {
  readonly isAllowed: boolean;
  readonly code: string | null;
  /** Every response. */
  readonly text: string;
}

export class DispatchState {
  readonly #folder: string;
  readonly #state: State;
  readonly #entries: Entries;
  readonly #secrets: DaemonSecrets;
  readonly #daemon: Daemon;
  readonly #connected: ClientConnection;
  readonly #alarms: Promise<unknown>[] = [];
  #session = "";
  /** What the server sends to every client. */
  says = "";

  private constructor(folder: string, state: State, authority: Authority) {
    let count = 0;
    const now = (): number => Date.now();
    const id: DaemonParts["id"] = (letter) => `${letter}_${++count}`;
    this.#folder = folder;
    this.#state = state;
    this.#entries = new Entries({ id, now, redacting: { known: null, text: (text) => text, json: (value) => value } });
    this.#secrets = daemonSecrets({
      secrets: state.secrets,
      settings: state.settings,
      state: folder,
      now,
      entry: (outcome, name) => this.#entries.make("secret", NO_ACTOR, outcome, { of: name }),
      alarm: (name) => this.#alarm("canary_leak", name),
    });
    this.#daemon = new Daemon({
      parts: { ...partsOf(state, this.#secrets, authority), now, id },
      protocol: 1,
      pid: process.pid,
      state: folder,
      more: decidedFileTools(),
      instruments: this.#instruments(),
      foreign: { of: async () => [] },
      connections: () => 1,
      stop: () => undefined,
    });
    const peer = { pid: process.pid, uid: 0, start: "0", ancestors: [], terminal: false };
    this.#connected = { socketName: "call", peer, onClose: () => undefined, tell: () => false, close: () => undefined };
  }

  static async open(authority: Authority): Promise<DispatchState> {
    const folder = mkdtempSync(join(tmpdir(), "ambit-vectors-state-"));
    // The runner and the tests start in our own folder, where the driver is.
    const opened = openState(folder, { digest: sha256, program: process.cwd() });
    if (!opened.ok) throw new Error(opened.message);
    const made = new DispatchState(folder, opened.value, authority);
    const none = { user: null, trace: null, pledge: null, token: null, environment: {}, isForParent: false };
    const session = await made.#ask("session.open", { cwd: WORK, agent: AGENT, face: "library", ...none });
    made.#session = String(session["session"]);
    return made;
  }

  async secret(name: string, value: string, binding: SecretBinding | null, isCanary: boolean): Promise<void> {
    const bound = binding ?? { tools: [], hosts: [], uses: null };
    const asked = { name, value, binding: bound, username: null, isCanary, isRotation: false };
    told(await this.#secrets.vault.set(asked, this.#entries.make("secret", NO_ACTOR, "set", { of: name })));
  }

  /** As a person locks it: under a passphrase that has not been typed since. */
  async lock(): Promise<void> {
    const entry = this.#entries.make("secret", NO_ACTOR, "rekeyed");
    told(await this.#secrets.vault.rekey({ key: { source: "passphrase", passphrase: PASSPHRASE } }, entry));
    told(await this.#secrets.vault.lock());
  }

  async call(tool: string, input: JsonObject): Promise<Called> {
    const asked = { session: this.#session, tool, input, requests: null, waitMilliseconds: 0 };
    const answer = await this.#ask("call.do", asked);
    const isAllowed = answer["outcome"] === "done";
    return { isAllowed, code: isAllowed ? null : String(answer["code"]), text: JSON.stringify(answer) };
  }

  /** The alerts in the log, by name. */
  async alarms(): Promise<readonly string[]> {
    await Promise.all(this.#alarms);
    const found = await this.#state.ledger.log({ kind: "alarm", count: 100 });
    if (!found.ok) throw new Error(found.message);
    return found.value.map(({ entry }) => entry.outcome);
  }

  close(): void {
    this.#state.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #instruments(): InstrumentsSource {
    const { secrets, ledger } = this.#state;
    const uses = new ContextSecrets({
      kept: {
        secrets,
        ledger: {
          append: (entries) => {
            const written = ledger.append(entries);
            this.#alarms.push(written);
            return written;
          },
        },
      },
      open: (name) => this.#secrets.open(name),
      ready: () => this.#secrets.ready(),
      entry: (kind, outcome, of, more) => this.#entries.make(kind, NO_ACTOR, outcome, { of, more }),
      log: () => undefined,
    });
    const fetches = new FetchQueue();
    return {
      backends: () => ({ has: () => true, hasSecret: () => false }),
      of: ({ session, tool, enforced }) => ({
        fetching: contextNet({
          ...{ session, tool, enforced, fetches, redacting: this.#secrets.redacting },
          fetch: (wish) => this.#fetch(wish),
          resolver: () => null,
          redacted: (bytes) => bytes,
        }),
        files: null,
        programs: null,
        secrets: uses.port(session, tool),
      }),
      denied: (session, tool, requests, isGranted) => uses.denied(session, tool, requests, isGranted),
    };
  }

  #alarm(what: string, name: string): void {
    this.#alarms.push(
      this.#state.ledger.append([this.#entries.make("alarm", NO_ACTOR, what, { of: name, more: { name } })]),
    );
  }

  /** A server that returns the secrets it received, as one that echoes headers does. */
  async #fetch({ url, secrets }: FetchOptions): Promise<FetchResult> {
    const values = secrets.map(({ value }) => Buffer.from(value).toString("utf8"));
    const body = Buffer.from([this.says, ...values].join(" "));
    return {
      ok: true,
      status: 200,
      url,
      headers: [["content-type", "text/plain"]],
      body: (async function* () {
        yield body;
      })(),
      end: Promise.resolve({ ok: true, seen: [] }),
      hops: [],
      used: secrets.map(({ name }) => name),
    };
  }

  async #ask(name: string, value: JsonObject): Promise<JsonObject> {
    const answering = this.#daemon.handlers.call.get(name);
    if (answering === undefined) throw new Error(`the daemon does not answer ${name}`);
    const answer = await answering(exchangeOf(this.#connected, name, value));
    return answer.ok
      ? (answer.value as JsonObject)
      : { outcome: "refused", code: answer.code, message: answer.message };
  }
}

function exchangeOf(connected: ClientConnection, name: string, value: JsonObject): Exchange {
  return {
    connected,
    name,
    value,
    signal: new AbortController().signal,
    stop: () => undefined,
    tell: () => undefined,
    send: async () => undefined,
    input: (async function* () {})(),
  };
}

function told(answer: { readonly ok: true } | { readonly ok: false; readonly message: string }): void {
  if (!answer.ok) throw new Error(answer.message);
}
