// A defect in the execution of a permitted call: the call has an outcome in the log, its approval is not left in use, and the
// session goes on. Over the real store, with a tool and programs that throw.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/base/json.ts";
import { done } from "../../src/core/base/result.ts";
import { readCompact } from "../../src/core/notation/compact/compact.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import type { Answer } from "../../src/core/ports/daemon/exchange.ts";
import type { LogEntry } from "../../src/core/ports/stores/log.ts";
import { Daemon } from "../../src/daemon/daemon.ts";
import { Entries, NO_ACTOR } from "../../src/daemon/log/entries.ts";
import type { DaemonParts } from "../../src/daemon/parts.ts";
import type { ClientConnection, Exchange } from "../../src/daemon/rpc/serving.ts";
import { daemonSecrets } from "../../src/daemon/secrets.ts";
import type { DaemonTool } from "../../src/daemon/tools/daemon-tool.ts";
import { sha256 } from "../../src/platform/digest.ts";
import { openState, type State } from "../../src/store/state.ts";
import { partsOf } from "../vectors/dispatch-parts.ts";
import { authorityOf, NO_SPAN, READING, rootOf, WORK } from "../vectors/machine.ts";

const DEFECT = "a defect";
const THROWING: DaemonTool = {
  name: "defective",
  description: "",
  input: { type: "object" },
  verbs: [],
  requests: () => done([]),
  execute: () => Promise.reject(new Error(DEFECT)),
};
const PROGRAM = { argv: ["true"], in: WORK, root: "ro" };
const TOOLS = "tools=[defective,proc_exec]";
const ALLOWING = [`tool.invoke{${TOOLS}}`, "proc.exec"];
const ASKING = [`tool.invoke{${TOOLS},ask}`, "proc.exec"];
const PEER = { pid: process.pid, uid: 0, start: "0", ancestors: [], terminal: false };

let folder: string;
let state: State;
let daemon: Daemon;
let session: string;
const connected: ClientConnection = {
  ...{ socketName: "call", peer: PEER },
  onClose: () => undefined,
  tell: () => false,
  close: () => undefined,
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-defect-"));
  const opened = openState(folder, { digest: sha256, program: process.cwd() });
  if (!opened.ok) throw new Error(opened.message);
  state = opened.value;
});
afterEach(() => {
  state.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(...specs: readonly string[]): Promise<void> {
  const diagnostics = new Diagnostics();
  const grants = specs.map((spec) => {
    const read = readCompact(spec, { reading: READING, diagnostics, span: NO_SPAN, root: rootOf(WORK) });
    if (read === null) throw new Error(`does not parse: ${spec}`);
    return read;
  });
  let count = 0;
  const id: DaemonParts["id"] = (letter) => `${letter}_${++count}`;
  const now = Date.now;
  const entries = new Entries({ id, now, redacting: { known: null, text: (text) => text, json: (value) => value } });
  const secrets = daemonSecrets({
    ...{ secrets: state.secrets, settings: state.settings, state: folder, now },
    entry: (outcome, name) => entries.make("secret", NO_ACTOR, outcome, { of: name }),
    alarm: () => undefined,
  });
  const parts = partsOf(state, secrets, authorityOf(grants));
  daemon = new Daemon({
    parts: {
      ...{ ...parts, now, id },
      programs: { ...parts.programs, isProgram: (tool) => tool === "proc_exec", argvOf: () => ["true"] },
    },
    ...{ protocol: 1, pid: process.pid, state: folder, more: [THROWING], foreign: { of: async () => [] } },
    connections: () => 1,
    stop: () => undefined,
  });
  const none = { user: null, trace: null, pledge: null, token: null, environment: {}, isForParent: false };
  const answer = await ask("session.open", { cwd: WORK, agent: "agent", face: "library", ...none });
  session = answer.ok ? String((answer.value as { session: string }).session) : answer.message;
}

async function ask(name: string, value: JsonObject): Promise<Answer<object>> {
  const exchange: Exchange = {
    ...{ connected, name, value: { session: session ?? "", ...value } },
    signal: new AbortController().signal,
    stop: () => undefined,
    tell: () => undefined,
    send: async () => undefined,
    input: (async function* () {})(),
  };
  const handler = daemon.handlers.call.get(name);
  if (handler === undefined) throw new Error(name);
  return handler(exchange);
}

const call = (name: string, tool: string, input: JsonObject, more: JsonObject = {}): Promise<Answer<object>> =>
  ask(name, { tool, input, requests: null, waitMilliseconds: 0, ...more });

async function outcomes(): Promise<readonly LogEntry[]> {
  // What is deferred is written when the daemon closes.
  await daemon.close();
  const found = await state.ledger.log({ kind: "outcome", count: 100 });
  return found.ok ? found.value.map(({ entry }) => entry) : [];
}

describe.each([
  ["a tool", "call.do", "defective", {}],
  ["a program", "call.run", "proc_exec", PROGRAM],
] as const)("%s that throws", (_, name, tool, input) => {
  test("is answered as an internal error, and logged as failed", async () => {
    await start(...ALLOWING);
    await expect(call(name, tool, input)).rejects.toThrow();
    expect((await outcomes()).map(({ more }) => more["ended"])).toEqual(["failed internal"]);
  });

  test("ends the use of its approval", async () => {
    await start(...ASKING);
    expect(await call(name, tool, input)).toMatchObject({ value: { code: "approval_required" } });
    const [asked] = (await given(state.approvals.list(["pending"], 10))) ?? [];
    const answer = { by: "p", at: Date.now(), level: 1, terminal: true, step: "exact", uses: 1, milliseconds: 600_000 };
    expect(await daemon.approvalRequests.approve(asked?.id ?? "", answer as never)).toMatchObject({ ok: true });
    await expect(call(name, tool, input)).rejects.toThrow();
    expect(await outcomes()).toHaveLength(1);
    expect((await given(state.approvals.list(["executing", "failed"], 10))).map((one) => one.state)).toEqual([
      "failed",
    ]);
  });
});

test("a call that is refused before it runs leaves the terminal of its session free", async () => {
  await start(...ALLOWING);
  const terminal = { terminal: { columns: 80, rows: 24 } };
  expect(await call("call.run", "proc_exec", PROGRAM, { ...terminal, profile: "none" })).toMatchObject({
    code: "invalid_input",
  });
  // Both reach the program, which throws.
  for (let round = 0; round < 2; round++)
    await expect(call("call.run", "proc_exec", PROGRAM, terminal)).rejects.toThrow("no program runs");
});

test("the approver of a client is shown its profile, and approves no other", async () => {
  await start(...ASKING);
  for (const profile of ["ambit:codex@1", null])
    expect(await call("call.run", "proc_exec", PROGRAM, { profile })).toMatchObject({
      value: { code: "approval_required" },
    });
  const asked = await given(state.approvals.list(["pending"], 10));
  expect(asked.map((one) => one.arguments)).toEqual(
    expect.arrayContaining([{ ...PROGRAM, profile: "ambit:codex@1" }, PROGRAM]),
  );
  expect(new Set(asked.map(({ digest }) => digest)).size).toBe(2);
});

test.each([
  ["session.pledge", { specs: [1] }],
  ["session.taint", { why: 1 }],
  ["call.settle", { receipt: 1, ended: "done" }],
  ["context.use", { receipt: 1 }],
])("%s with bad input says what is wrong with it, not that there is no session", async (name, value) => {
  await start("tool.invoke");
  expect(await ask(name, value)).toMatchObject({ ok: false, code: "invalid_input" });
  expect(await ask(name, { ...value, session: "s_none" })).toMatchObject({ ok: false, code: "unknown_session" });
});

async function given<T>(asked: Promise<{ readonly ok: true; readonly value: T } | { readonly ok: false }>): Promise<T> {
  const answer = await asked;
  if (!answer.ok) throw new Error("the store did not answer");
  return answer.value;
}
