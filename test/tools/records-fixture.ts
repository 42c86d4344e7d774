// Records tools as the daemon has them, over a folder of its own, with an agent that has the given grants.

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Moment } from "../../src/core/authority/compiled.ts";
import type { JsonObject } from "../../src/core/base/json.ts";
import type { RequestsResult } from "../../src/core/gate/known-tool.ts";
import { parseSpecs } from "../../src/core/notation/compact/grant-specs.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import { requestText } from "../../src/core/notation/request/request-printer.ts";
import type { MemoryStore, MemoryValue } from "../../src/core/ports/stores/memory-store.ts";
import type { Holding } from "../../src/daemon/calls/holding.ts";
import { Contexts } from "../../src/daemon/contexts/contexts.ts";
import { recordPowers } from "../../src/daemon/contexts/records.ts";
import { Session } from "../../src/daemon/session.ts";
import { builtinToolWith, type DaemonTool } from "../../src/daemon/tools/daemon-tool.ts";
import { DaemonTools } from "../../src/daemon/tools/daemon-tools.ts";
import { toAscii } from "../../src/platform/ascii.ts";
import { sha256 } from "../../src/platform/digest.ts";
import { readFrontmatter } from "../../src/text/frontmatter.ts";
import { recordTools } from "../../src/tools/records/record-tools.ts";
import { removeState } from "../house/remove-state.ts";
import { linkOf } from "../vectors/machine.ts";
import { authorizeCall, executionOf } from "./carrying.ts";

const READING: Reading = { pathSettings: { home: null, base: null, protectedPaths: [] }, toAscii, ceiling: null };

export interface Got {
  /** "done", or the code. */
  readonly said: string;
  readonly need: string | null;
  readonly message: string;
  readonly value: JsonObject;
  readonly isUntrusted: boolean;
}

export class RecordsFixture {
  readonly base: string = realpathSync(mkdtempSync(join(tmpdir(), "ambit-records-")));
  readonly workspace: string = join(this.base, "project");
  readonly tools: readonly DaemonTool[];
  specs: readonly string[] = [];
  /** Runs between the decision and the execution. */
  meanwhile: () => void = () => undefined;

  readonly #contexts = new Contexts({
    held: (session) => this.#held(session),
    stores: {} as ConstructorParameters<typeof Contexts>[0]["stores"],
    redacting: { known: null, text: (text) => text, json: (value) => value },
    instruments: null,
    now: () => 0,
    id: () => "o_test",
  });

  constructor() {
    mkdirSync(join(this.workspace, ".ambit", "records"), { recursive: true });
    mkdirSync(join(this.base, "state"), { mode: 0o700 });
    const powers = recordPowers({
      state: join(this.base, "state"),
      records: { workspaceOf: () => null },
      memory: memoryInPlace(),
      held: (session) => this.#held(session),
      now: () => Date.now(),
    });
    this.tools = recordTools(readFrontmatter, sha256).map((tool) => builtinToolWith(tool, powers));
  }

  session(): Session {
    const name = { agent: "scout", workspace: this.workspace };
    return new Session({ name, cwd: this.workspace, id: "s", user: null, trace: "t" } as never);
  }

  path(id: string): string {
    return join(this.workspace, ".ambit", "records", `${id}.md`);
  }

  put(id: string, text: string): void {
    mkdirSync(dirname(this.path(id)), { recursive: true });
    writeFileSync(this.path(id), text);
  }

  text(id: string): string {
    return readFileSync(this.path(id), "utf8");
  }

  /** All requests of a call. */
  async requests(name: string, input: JsonObject, session: Session = this.session()): Promise<RequestsResult> {
    const tool = this.tools.find((one) => one.name === name) as DaemonTool;
    const own = new DaemonTools([tool], { of: async () => [] })
      .lookup(
        tool,
        READING,
        session,
        [],
      )(name)
      ?.requests(input);
    if (own === undefined || !own.ok) return own ?? { ok: false, code: "bad_value", message: "no such tool" };
    const derived = (await tool.derive?.(input, session, READING)) ?? { ok: true, value: [] };
    return derived.ok ? { ok: true, value: [...own.value, ...derived.value] } : derived;
  }

  /** As the daemon does: derived, decided, carried out. */
  async call(name: string, input: JsonObject, session: Session = this.session()): Promise<Got> {
    const tool = this.tools.find((one) => one.name === name) as DaemonTool;
    const { holding, moment } = this.#held(session);
    const asked = await this.requests(name, input, session);
    const lookup = () => ({ name, requirement: null, requests: () => asked });
    const gate = await authorizeCall(holding.authority, { tool: name, input }, lookup, moment);
    const got = { need: null, message: "", value: {}, isUntrusted: false };
    if (!gate.ok) {
      const { code, request, reason } = gate;
      return { ...got, said: code, need: request === null ? null : requestText(request), message: reason ?? "" };
    }
    this.meanwhile();
    const wasClean = session.isClean;
    const executed = await tool.execute(executionOf(session, gate.warrant, READING, this.#contexts));
    if (!executed.ok) return { ...got, said: executed.code, message: executed.message };
    return { ...got, said: "done", value: executed.value as JsonObject, isUntrusted: wasClean && !session.isClean };
  }

  remove(): void {
    removeState(this.base);
  }

  #held(session: Session): { readonly holding: Holding; readonly moment: Moment } {
    const grants = parseSpecs([...this.specs, "tool.invoke{tools=[builtin:**]}"], READING) ?? [];
    const holding = { authority: [[linkOf(grants)]], reading: READING } as unknown as Holding;
    return { holding, moment: { now: 0, clean: session.isClean, generation: 0, revoked: null, exhausted: null } };
  }
}

/** Values by key, and nothing else of a store. */
function memoryInPlace(): MemoryStore {
  const values = new Map<string, MemoryValue>();
  const kept = async <T>(value: T): Promise<{ readonly ok: true; readonly value: T }> => ({ ok: true, value });
  return {
    get: (_, key) => kept(values.get(key) ?? null),
    set: ({ key, value, isClean, writer, at }) => {
      values.set(key, { key, value, version: 1, at, expires: null, isClean, writer });
      return kept({ ok: true, version: 1 });
    },
    delete: (_, key) => kept(values.delete(key)),
    list: () => kept([]),
    sweep: () => kept(0),
  };
}
