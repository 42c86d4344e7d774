// web_fetch as the daemon has it, over a real broker and servers on loopback, with an agent that has the given grants.
import type { Moment } from "../../src/core/authority/compiled.ts";
import { compile } from "../../src/core/authority/compiled.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import { ALWAYS } from "../../src/core/authority/link.ts";
import type { JsonObject } from "../../src/core/base/json.ts";
import { decideCall } from "../../src/core/gate/call-decision.ts";
import { readCompact } from "../../src/core/notation/compact/compact.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import { requestText } from "../../src/core/notation/request/request-printer.ts";
import type { SealedSecret } from "../../src/core/ports/stores/secret-store.ts";
import { Session } from "../../src/daemon/session.ts";
import type { OwnerTool } from "../../src/daemon/tools/owner-tool.ts";
import { OwnerTools } from "../../src/daemon/tools/owner-tools.ts";
import { webTool } from "../../src/daemon/tools/web.ts";
import { toAscii } from "../../src/platform/ascii.ts";
import { FetchWorld } from "../secrets/fetch-world.ts";
import { carrying } from "./carrying.ts";

const READING: Reading = { ground: { home: null, base: null, protectedPaths: [] }, toAscii, ceiling: null };

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

export class WebWorld extends FetchWorld {
  readonly secrets: Map<string, KeptSecret> = new Map();
  readonly used: string[] = [];
  readonly probed: string[] = [];
  readonly #tools = new WeakMap<Session, OwnerTool>();
  /** The values that are redacted. */
  known: readonly string[] = [];

  session(): Session {
    return new Session({ name: { agent: "scout", workspace: null }, id: "s", user: null, trace: "t" } as never);
  }

  async web(held: Fetching, input: JsonObject): Promise<Got> {
    const session = held.session ?? this.session();
    const authority = () => [[linkOf([...held.specs, "tool.invoke{tools=[web_fetch]}"])]] as const;
    const moment = (): Moment => ({
      now: 0,
      clean: session.isClean,
      generation: 0,
      revoked: null,
      exhausted: held.exhausted ?? null,
    });
    const tool =
      this.#tools.get(session) ??
      webTool({
        fetch: (wish) => this.client.fetch(wish),
        holds: (one) => (one.isClosed ? null : { authority: authority(), moment: moment() }),
        resolver: () => ({ servers: [this.resolver] }),
        redacted: (value) => {
          const text = this.known.reduce((before, one) => before.replaceAll(one, "[REDACTED]"), JSON.stringify(value));
          return JSON.parse(text) as JsonObject;
        },
        secrets: {
          get: (name) => this.#sealed(name),
          ready: async () => undefined,
          open: (name) => ({ ok: true, value: { value: Buffer.from(this.secrets.get(name)?.value ?? "") } }),
          use: async ({ name }) => {
            const left = (this.secrets.get(name)?.uses ?? 1000) - this.used.filter((one) => one === name).length;
            if (left > 0) this.used.push(name);
            return left > 0;
          },
          probed: (name) => void this.probed.push(name),
        },
      });
    this.#tools.set(session, tool);
    const lookup = new OwnerTools([tool], { of: async () => [] }).lookup(tool, READING, session, []);
    const caller = { agent: "scout", authority: authority() };
    const decision = decideCall(caller, { tool: "web_fetch", input }, lookup, moment(), []);
    const got = { need: null, message: "", value: {}, session };
    if (decision.outcome === "deny") {
      tool.denied?.(input, session);
      const need = decision.request === null ? null : requestText(decision.request);
      return { ...got, said: decision.code, by: "gate", need };
    }
    const carried = await tool.execute(carrying(decision.input, session, decision.requests));
    if (carried.ok) {
      if (carried.isUntrusted) session.taint("test");
      return { ...got, said: "done", by: null, value: carried.value as JsonObject };
    }
    const { code, message, denied } = carried;
    const need = denied?.request == null ? null : requestText(denied.request);
    return { ...got, said: code, by: denied === undefined ? "world" : "way", need, message };
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

function linkOf(specs: readonly string[]): ReturnType<typeof compile> {
  const grants = specs.map((text): Grant => {
    const span = { source: "test", start: 0, end: text.length };
    const grant = readCompact(text, { reading: READING, diagnostics: new Diagnostics(), span, root: null });
    if (grant === null) throw new Error(`${text} does not parse`);
    return grant;
  });
  return compile({ id: "own", role: "own", issuer: "", holder: "scout", grants, validity: ALWAYS, calls: null });
}
