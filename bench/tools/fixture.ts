// A project with a third-party tool in it, the real daemon on a state of its own, and the grants of a session of the benchmark.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Authority } from "../../src/core/authority/chain.ts";
import type { Moment } from "../../src/core/authority/compiled.ts";
import { authorize } from "../../src/core/gate/call.ts";
import type { KnownTool } from "../../src/core/gate/known-tool.ts";
import type { Warrant } from "../../src/core/gate/warrant.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import type { Holding } from "../../src/daemon/calls/holding.ts";
import type { Contexts } from "../../src/daemon/contexts/contexts.ts";
import type { ProgramContext } from "../../src/daemon/parts.ts";
import { Session } from "../../src/daemon/session.ts";
import type { ExecutionResult, ToolExecution } from "../../src/daemon/tools/daemon-tool.ts";
import { segmentsOf } from "../../src/platform/folders.ts";
import { toAscii } from "../../src/sandbox/network/names/ascii.ts";
import { rootFolder } from "../place.ts";
import { moment } from "../sandbox/fixture.ts";

export const OURS = "ambit";
export const AGENT = "worker";

export interface ToolsFixture {
  readonly base: string;
  readonly project: string;
  readonly folders: { readonly state: string; readonly config: string };
  remove(): void;
}

/** Two tools: one that uses nothing, and one that uses its context once. */
const TOOLS = `import { defineTool } from "ambit";
const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"], additionalProperties: false };
export default [
  defineTool({ name: "echo", description: "Says it again.", input, execute: ({ text }) => ({ text }) }),
  defineTool({
    name: "keeper",
    description: "Says what is kept.",
    capabilities: { storage: { scope: "tool-private", kind: "kv" } },
    input,
    execute: async ({ text }, context) => {
      const kept = await context.storage.get("notes/today");
      return kept.ok ? { text } : kept;
    },
  }),
];
`;

const RECORD = `---
capabilities:
  - "memory.read"
  - "memory.write"
  - "tool.invoke{tools=[echo,keeper,builtin:**]}"
---
`;

export function makeToolsFixture(): ToolsFixture {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-bench-tools-")));
  const project = join(base, "project");
  mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
  mkdirSync(join(project, ".ambit", "tools"));
  writeFileSync(join(project, ".ambit", "agents", `${AGENT}.md`), RECORD);
  writeFileSync(join(project, ".ambit", "tools", "speaking.mjs"), TOOLS);
  const environment = {
    PATH: process.env["PATH"],
    XDG_STATE_HOME: join(base, "state"),
    XDG_CONFIG_HOME: join(base, "config"),
  };
  const run = (...words: readonly string[]) =>
    spawnSync(process.execPath, [join(rootFolder, "bin", "ambit"), ...words], {
      cwd: project,
      env: environment,
      encoding: "utf8",
    });
  const remove = (): void => {
    run("daemon", "stop");
    rmSync(base, { recursive: true, force: true });
  };
  for (const words of [
    ["trust", "--yes"],
    ["daemon", "start"],
  ]) {
    const { status, stdout, stderr } = run(...words);
    if (status === 0) continue;
    remove();
    throw new Error(`ambit ${words.join(" ")}: ${stderr}${stdout}`);
  }
  const folders = { state: join(base, "state", "ambit"), config: join(base, "config", "ambit") };
  return { base, project, folders, remove };
}

export function readingIn(folder: string): Reading {
  return { pathSettings: { home: null, base: segmentsOf(folder), protectedPaths: [] }, toAscii, ceiling: null };
}

export function sessionIn(folder: string): Session {
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
    ...{ id: "s_bench", name: { workspace: folder, agent: AGENT }, asked: AGENT, cwd: folder, user: null, trace: "t" },
    ...{ face: "bench", opened: 0, environment: {}, connected, root: mark },
  });
}

/** As the daemon has it, without the text of a record. */
export function heldBy(authority: Authority, reading: Reading): { readonly holding: Holding; readonly moment: Moment } {
  const nothing = {
    links: authority.map(() => []),
    approvers: { need: 1, of: null },
    needsReview: false,
    notes: [],
    record: null,
    blocked: null,
  };
  return { holding: { authority, written: null, revoked: () => [], reading, ...nothing }, moment: moment() };
}

/** Decided by the gate; its ports answer at once, and nothing is written. */
export async function warrantOf(
  authority: Authority,
  tool: KnownTool,
  input: ToolExecution["input"],
): Promise<Warrant> {
  const answer = await authorize({ agent: AGENT, authority }, { tool: tool.name, input }, () => tool, moment(), [], {
    approvals: async () => ({ kind: "refused", reason: "no approver is present" }),
    commit: COMMITTED,
  });
  if (!answer.ok) throw new Error(`${tool.name} is denied: ${answer.code} ${answer.reason ?? ""}`);
  return answer.warrant;
}

export const COMMITTED = async (): Promise<{ readonly ok: true; readonly receipt: string }> => ({
  ok: true,
  receipt: "c_bench",
});

export function carryingOf(
  session: Session,
  warrant: Warrant,
  contexts: Contexts | null = null,
  reading: Reading = readingIn("/"),
): ToolExecution {
  const { signal } = new AbortController();
  const context: ToolExecution["context"] = (options) => {
    if (contexts === null) throw new Error("this tool has no context");
    return contexts.open({ ...options, session, warrant, programContext: NO_PROGRAMS });
  };
  return {
    input: warrant.arguments,
    session,
    warrant,
    reading,
    signal,
    programContext: NO_PROGRAMS,
    reservation: null,
    client: null,
    context,
  };
}

/** A refusal ends the run: nothing that was not done is timed. */
export function carriedValue(carried: ExecutionResult): Readonly<Record<string, unknown>> {
  if (!carried.ok) throw new Error(`${carried.code}: ${carried.message}`);
  return carried.value as Readonly<Record<string, unknown>>;
}

const NO_PROGRAMS: ProgramContext = new Proxy({} as ProgramContext, {
  get: (_, name) => {
    throw new Error(`${String(name)}: no program runs here`);
  },
});
