// Sessions with real file tools over a real tree: the test sets and changes the session's grants.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "vitest";
import type { Authority, Chain } from "../../src/core/authority/chain.ts";
import type { Moment } from "../../src/core/authority/compiled.ts";
import type { JsonObject } from "../../src/core/base/json.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import { Contexts } from "../../src/daemon/contexts/contexts.ts";
import { type DaemonFiles, daemonFiles } from "../../src/daemon/contexts/files.ts";
import { Session } from "../../src/daemon/session.ts";
import { builtinTool, type ExecutionResult } from "../../src/daemon/tools/daemon-tool.ts";
import { DaemonTools } from "../../src/daemon/tools/daemon-tools.ts";
import { RootLock } from "../../src/sandbox/drafts/root-lock.ts";
import { TriggerTable } from "../../src/sandbox/plan/triggers/trigger-table.ts";
import { FILE_TOOLS } from "../../src/tools/files/file-tools.ts";
import { root as ourPackage } from "../e2e/ambit.ts";
import { type Granted, grantOf, path } from "../files/fixture.ts";
import { chain, link, moment } from "../forge/authority.ts";
import { authorizeCall, executionOf } from "./carrying.ts";

export interface ToolsFixture {
  readonly session: Session;
  /** From the next call on. */
  authority: Authority;
  moment: Partial<Moment>;
  /** As the daemon does: the requests are decided, and only then carried out. */
  call(tool: string, input: JsonObject, approved?: boolean): Promise<ExecutionResult>;
  /** The bound call, if the gate allows it. `reading`: the reading of the records behind the decision. */
  decide(
    tool: string,
    input: JsonObject,
    approved?: boolean,
    reading?: Reading,
  ): Promise<(() => Promise<ExecutionResult>) | ExecutionResult>;
  readonly files: DaemonFiles;
}

export interface ToolsOptions {
  readonly granted: readonly Granted[];
  /** The folder of relative names. */
  readonly folder: string;
  readonly protectedPaths?: readonly string[];
  readonly home?: string;
  readonly state?: string;
  readonly workingRoot?: string;
  /** The folder of our package; by default this one. */
  readonly program?: string;
}

const opened: DaemonFiles[] = [];
afterEach(() => {
  for (const files of opened.splice(0)) files.close();
});

/** As the notation makes them: each with the folder it was written for. */
export function chainOf(...granted: readonly Granted[]): Chain {
  return chain(
    link(
      "record",
      granted.map((one) => ({ ...grantOf(one), root: path(one[1]) })),
    ),
  );
}

/** File tools store nothing. */
const NO_STORES = {} as ConstructorParameters<typeof Contexts>[0]["stores"];

let sessions = 0;

export function newSession(folder: string): Session {
  const mark = { pid: process.pid, start: "0" };
  const peer = { ...mark, uid: 0, ancestors: [mark], terminal: false };
  const connected = {
    socketName: "call" as const,
    peer,
    onClose: () => undefined,
    tell: () => true,
    close: () => undefined,
  };
  return new Session({
    id: `s_${sessions++}`,
    name: { workspace: folder, agent: "scout" },
    asked: "scout",
    cwd: folder,
    user: null,
    trace: "t",
    face: "test",
    opened: 0,
    environment: {},
    connected,
    root: mark,
  });
}

export function toolsIn(asked: ToolsOptions): ToolsFixture {
  const { folder } = asked;
  const protectedPaths = (asked.protectedPaths ?? []).map(path);
  const pathSettings = { home: asked.home === undefined ? null : path(asked.home), base: path(folder), protectedPaths };
  const workingRoot = asked.workingRoot === undefined ? null : path(asked.workingRoot);
  const reading = { pathSettings, toAscii: (name: string) => name, ceiling: null, workingRoot };
  const session = newSession(folder);
  const held = () => {
    if (session.isClosed) return null;
    const { authority } = fixture;
    const approvers = { need: 1, of: null };
    const nothing = {
      links: authority.map(() => []),
      approvers,
      needsReview: false,
      notes: [],
      record: null,
      blocked: null,
    };
    return {
      holding: { authority, written: null, revoked: () => [], reading, ...nothing },
      moment: moment(fixture.moment),
    };
  };
  const folders = { state: asked.state ?? null, config: null };
  const program = asked.program ?? ourPackage;
  const table = new TriggerTable();
  const files = daemonFiles({
    lock: new RootLock(),
    program,
    folders,
    home: asked.home ?? null,
    held,
    triggers: () => table,
  });
  opened.push(files);
  const contexts = new Contexts({
    held,
    stores: NO_STORES,
    redacting: { known: null, text: (text) => text, json: (value) => value },
    instruments: {
      backends: () => ({ has: () => true, hasSecret: () => false }),
      of: (call) => ({ fetching: null, files: files.of(call), programs: null, secrets: null }),
    },
    now: () => 0,
    id: () => "o_test",
  });
  const tools = new DaemonTools(FILE_TOOLS.map(builtinTool), { of: async () => [] });
  const fixture: ToolsFixture = {
    session,
    files,
    authority: [chainOf(...asked.granted)],
    moment: {},
    call: async (name, input, approved = false) => {
      const decided = await fixture.decide(name, input, approved);
      return typeof decided === "function" ? decided() : decided;
    },
    decide: async (name, input, approved = false, by = reading) => {
      const tool = tools.ours(name);
      if (tool === null) throw new Error(`no tool ${name}`);
      const lookup = tools.lookup(tool, by, session, []);
      const gate = await authorizeCall(
        fixture.authority,
        { tool: name, input },
        lookup,
        moment(fixture.moment),
        approved,
      );
      if (gate.ok) return () => tool.execute(executionOf(session, gate.warrant, by, contexts));
      return { ok: false, code: gate.code, message: gate.reason ?? "by the gate" };
    },
  };
  return fixture;
}

/** The value, or the code and reason of the refusal. */
export async function said(answer: Promise<ExecutionResult>): Promise<unknown> {
  const carried = await answer;
  return carried.ok ? carried.value : `${carried.code}: ${carried.message}`;
}

export function write(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}
