// web_fetch as the daemon has it, over a real broker and servers on loopback, with an agent that has the given grants.

import type { Authority } from "../../src/core/authority/chain.ts";
import { compile, type Moment } from "../../src/core/authority/compiled.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import { ALWAYS } from "../../src/core/authority/link.ts";
import type { JsonObject } from "../../src/core/base/json.ts";
import { readCompact } from "../../src/core/notation/compact/compact.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import { requestText } from "../../src/core/notation/request/request-printer.ts";
import type { LogEntry } from "../../src/core/ports/stores/log.ts";
import type { SealedSecret, SecretStore } from "../../src/core/ports/stores/secret-store.ts";
import { Contexts } from "../../src/daemon/contexts/contexts.ts";
import { contextNet, FetchQueue } from "../../src/daemon/contexts/net.ts";
import { ContextSecrets } from "../../src/daemon/contexts/secrets.ts";
import { refusedIn } from "../../src/daemon/log/call-report.ts";
import { Session } from "../../src/daemon/session.ts";
import { builtinTool } from "../../src/daemon/tools/daemon-tool.ts";
import { DaemonTools } from "../../src/daemon/tools/daemon-tools.ts";
import { toAscii } from "../../src/platform/ascii.ts";
import { WEB_FETCH_TOOL } from "../../src/tools/web/web-fetch.ts";
import { FetchFixture } from "../secrets/fetch-fixture.ts";
import { authorizeCall, executionOf } from "./carrying.ts";

const READING: Reading = { pathSettings: { home: null, base: null, protectedPaths: [] }, toAscii, ceiling: null };

export interface KeptSecret {
  readonly value: string;
  readonly tools: readonly string[];
  readonly hosts: readonly string[];
  readonly uses?: number;
  readonly isCanary?: boolean;
}

export interface Fetching {
  /** The grants; read again for every decision. */
  specs: readonly string[];
  /** Once the call is charged. */
  readonly exhausted?: Moment["exhausted"];
  readonly session?: Session;
}

export interface Got {
  /** "done", or the code. */
  readonly said: string;
  /** Whether the gate, a decision during the call, or the network refused it. */
  readonly by: "gate" | "way" | "world" | null;
  readonly need: string | null;
  readonly message: string;
  readonly value: JsonObject;
  readonly session: Session;
}

export class WebFixture extends FetchFixture {
  readonly secrets: Map<string, KeptSecret> = new Map();
  readonly used: string[] = [];
  readonly probed: string[] = [];
  readonly #contexts = new WeakMap<Session, { readonly contexts: Contexts; held: Fetching }>();
  /** The values that are redacted. */
  known: readonly string[] = [];

  session(): Session {
    return new Session({ name: { agent: "scout", workspace: null }, id: "s", user: null, trace: "t" } as never);
  }

  /** As the daemon does it: decided, approved by a person where a grant asks, and only then executed in a context. */
  async web(held: Fetching, input: JsonObject): Promise<Got> {
    const session = held.session ?? this.session();
    const known = this.#contexts.get(session) ?? { contexts: this.#contextsOf(session), held };
    known.held = held;
    this.#contexts.set(session, known);
    const { contexts } = known;
    const { holding, moment } = holdingOf(session, { specs: held.specs });
    const tool = builtinTool(WEB_FETCH_TOOL);
    const lookup = new DaemonTools([tool], { of: async () => [] }).lookup(tool, READING, session, []);
    const gate = await authorizeCall(holding.authority, { tool: "web_fetch", input }, lookup, moment, true);
    const got = { need: null, message: "", value: {}, session };
    if (!gate.ok) {
      const requests = lookup("web_fetch")?.requests(input);
      if (requests?.ok === true) contexts.denied(session, "web_fetch", requests.value);
      return { ...got, said: gate.code, by: "gate", need: gate.request === null ? null : requestText(gate.request) };
    }
    const executed = await tool.execute(executionOf(session, gate.warrant, READING, contexts));
    if (executed.ok) return { ...got, said: "done", by: null, value: executed.value as JsonObject };
    const { code, message, met } = executed;
    const denial = met?.denials.find((one) => one.code === code);
    const need = denial === undefined || denial.request === "" ? null : denial.request;
    return { ...got, said: code, by: refusedIn(executed) === null ? "world" : "way", need, message };
  }

  #contextsOf(session: Session): Contexts {
    const held = (one: Session) => {
      const now = this.#contexts.get(session)?.held;
      return one.isClosed || now === undefined ? null : holdingOf(session, now);
    };
    const secrets = new ContextSecrets({
      kept: {
        secrets: {
          get: (name: string) => this.#sealed(name),
          use: async (name: string) => {
            const left = (this.secrets.get(name)?.uses ?? 1000) - this.used.filter((one) => one === name).length;
            if (left > 0) this.used.push(name);
            return { ok: true, value: left > 0 };
          },
        } as unknown as SecretStore,
        ledger: {
          append: async ([entry]: readonly LogEntry[]) => {
            this.probed.push(String(entry?.of));
            return { ok: true, value: null } as never;
          },
        },
      },
      open: (name) => ({ ok: true, value: { value: Buffer.from(this.secrets.get(name)?.value ?? "") } as never }),
      ready: async () => undefined,
      entry: (kind, outcome, of) => ({ kind, outcome, of }) as LogEntry,
      log: () => undefined,
    });
    const redacted = (text: string): string =>
      this.known.reduce((before, one) => before.replaceAll(one, "[REDACTED]"), text);
    const redacting = {
      known: null,
      text: redacted,
      json: <T>(value: T): T => JSON.parse(redacted(JSON.stringify(value))) as T,
    };
    const fetches = new FetchQueue();
    return new Contexts({
      held,
      stores: {} as ConstructorParameters<typeof Contexts>[0]["stores"],
      redacting,
      instruments: {
        backends: () => ({ has: () => true, hasSecret: () => false }),
        of: ({ tool, enforced }) => ({
          fetching: contextNet({
            ...{ session, tool, enforced, redacting, fetches },
            fetch: (wish) => this.client.fetch(wish),
            resolver: () => ({ servers: [this.resolver] }),
            redacted: (bytes) => bytes,
          }),
          files: null,
          programs: null,
          secrets: secrets.port(session, tool),
        }),
        denied: (one, tool, requests, isGranted) => secrets.denied(one, tool, requests, isGranted),
      },
      now: () => 0,
      id: () => "o_test",
    });
  }

  #sealed(name: string): SealedSecret | null {
    const kept = this.secrets.get(name);
    if (kept === undefined) return null;
    const { tools, hosts, uses, isCanary } = kept;
    const binding = { tools, hosts, uses: uses ?? null };
    return {
      name,
      version: 1,
      sealed: "",
      keyId: "",
      binding,
      username: null,
      isCanary: isCanary ?? false,
      used: 0,
      at: 0,
    };
  }
}

function holdingOf(session: Session, { specs, exhausted }: Fetching) {
  const authority: Authority = [[linkOf([...specs, "tool.invoke{tools=[web_fetch]}"])]];
  const none = { links: [[]], approvers: { need: 1, of: null }, needsReview: false, notes: [], record: null };
  const moment: Moment = {
    ...{ now: 0, clean: session.isClean, generation: 0, revoked: null },
    exhausted: exhausted ?? null,
  };
  return { holding: { ...none, authority, written: null, revoked: () => [], reading: READING, blocked: null }, moment };
}

function linkOf(specs: readonly string[]): ReturnType<typeof compile> {
  const grants = specs.map((text): Grant => {
    const span = { source: "test", start: 0, end: text.length };
    const grant = readCompact(text, { reading: READING, diagnostics: new Diagnostics(), span, root: null });
    if (grant === null) throw new Error(`${text} does not parse`);
    return grant;
  });
  return compile({ id: "own", role: "own", issuer: "", holder: "scout", grants, validity: ALWAYS, calls: null });
}
