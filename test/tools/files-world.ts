// Sessions with real file tools over a real tree: what a session holds is the test's to say and to change.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "vitest";
import type { Authority, Chain } from "../../src/core/authority/chain.ts";
import type { Moment } from "../../src/core/authority/compiled.ts";
import { judge } from "../../src/core/authority/judge.ts";
import type { Request } from "../../src/core/authority/request.ts";
import type { JsonObject } from "../../src/core/base/json.ts";
import { Session } from "../../src/daemon/session.ts";
import { type DaemonFiles, daemonFiles } from "../../src/daemon/tools/files.ts";
import type { ExecutionResult } from "../../src/daemon/tools/owner-tool.ts";
import { RootLock } from "../../src/sandbox/drafts/root-lock.ts";
import { TriggerTable } from "../../src/sandbox/plan/triggers/trigger-table.ts";
import { root as ourPackage } from "../e2e/ambit.ts";
import { type Granted, grantOf, path } from "../files/world.ts";
import { chain, link, moment } from "../forge/authority.ts";
import { carrying } from "./carrying.ts";

export interface ToolsWorld {
  readonly session: Session;
  /** From the next call on. */
  authority: Authority;
  moment: Partial<Moment>;
  /** As the daemon does it: the requests are decided, and only then carried out. */
  call(tool: string, input: JsonObject, approved?: boolean): Promise<ExecutionResult>;
  readonly files: DaemonFiles;
}

export interface Asked {
  readonly granted: readonly Granted[];
  /** Where relative names begin. */
  readonly folder: string;
  readonly protectedPaths?: readonly string[];
  readonly home?: string;
  readonly state?: string;
  readonly workingRoot?: string;
  /** Where our package is; this one if left out. */
  readonly program?: string;
}

const opened: DaemonFiles[] = [];
afterEach(() => {
  for (const files of opened.splice(0)) files.close();
});

/** As the notation makes them: each with the folder it was written for. */
export function holding(...granted: readonly Granted[]): Chain {
  return chain(
    link(
      "record",
      granted.map((one) => ({ ...grantOf(one), root: path(one[1]) })),
    ),
  );
}

let sessions = 0;

export function newSession(folder: string): Session {
  const mark = { pid: process.pid, start: "0" };
  const peer = { ...mark, uid: 0, ancestors: [mark], terminal: false };
  const connected = { door: "call" as const, peer, onClose: () => undefined, tell: () => true, close: () => undefined };
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

export function toolsIn(asked: Asked): ToolsWorld {
  const { folder } = asked;
  const protectedPaths = (asked.protectedPaths ?? []).map(path);
  const ground = { home: asked.home === undefined ? null : path(asked.home), base: path(folder), protectedPaths };
  const workingRoot = asked.workingRoot === undefined ? null : path(asked.workingRoot);
  const reading = { ground, toAscii: (name: string) => name, ceiling: null, workingRoot };
  const session = newSession(folder);
  const held = () => {
    if (session.isClosed) return null;
    const { authority } = world;
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
      moment: moment(world.moment),
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
  const world: ToolsWorld = {
    session,
    files,
    authority: [holding(...asked.granted)],
    moment: {},
    call: async (name, input, approved = false) => {
      const tool = files.tools.find((one) => one.name === name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      const requests = tool.requests(input, reading, session);
      if (!requests.ok) return { ok: false, code: "invalid_input", message: requests.message };
      for (const request of requests.value) {
        const denied = refusalOf(world.authority, request, moment(world.moment), approved);
        if (denied !== null) return denied;
      }
      return tool.execute(carrying(input, session, requests.value));
    },
  };
  return world;
}

function refusalOf(authority: Authority, request: Request, at: Moment, approved: boolean): ExecutionResult | null {
  const decision = judge(authority, request, at);
  if (decision.outcome === "allow" || (decision.outcome === "ask" && approved)) return null;
  return { ok: false, code: decision.outcome === "ask" ? "approval_required" : decision.code, message: "by the gate" };
}

/** The value, or the code of the refusal and why. */
export async function said(answer: Promise<ExecutionResult>): Promise<unknown> {
  const carried = await answer;
  return carried.ok ? carried.value : `${carried.code}: ${carried.message}`;
}

export function write(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}
