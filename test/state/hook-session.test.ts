// A shell command that a client's hook replaced is called through the hook's own session: with its agent, its labels and its
// workspace, from processes of the same client alone.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nativeProgram } from "../../src/platform/native-program.ts";
import { root } from "../e2e/ambit.ts";
import { recordText } from "../house/files.ts";
import { until } from "../house/until.ts";
import type { Caller, Ran } from "./calling.ts";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("coder", ["proc.exec{cmds=[ls,cat]}", "fs.read"], "sandbox: .\n");
  fixture.agent("other", ["proc.exec{cmds=[ls]}", "fs.read"], "sandbox: .\n");
  fixture.agent("careful", ["proc.exec{cmds=[ls],clean}", "fs.read"], "sandbox: .\n");
  fixture.agent(
    "streamer",
    ["proc.exec{cmds=[echo,sleep,seq,sh,touch],root=rw}", "fs.read", "fs.write"],
    "sandbox: .\n",
  );
  mkdirSync(join(fixture.project, "src"));
  writeFileSync(join(fixture.project, "src", "seen"), "");
  // Another workspace inside this one, whose agent of the same id may do more.
  fixture.write("project/inner/.ambit/agents/coder.md", recordText(["proc.exec{cmds=[ls,cat,id]}", "fs.read"]));
  await fixture.begin();
  // By a process that is no client of a session yet.
  const trusted = await fixture.caller().spawn(join(fixture.project, "inner"), ...fixture.words("trust", "--yes"));
  if (trusted.status !== 0) throw new Error(trusted.out);
});
afterAll(() => fixture?.remove());

interface Question {
  readonly agent?: string;
  readonly command: string;
  readonly cwd?: string;
  readonly more?: object;
}

/** A client's process starts its hooks and its commands, each by a shell. */
function hook(of: Caller, { agent = "coder", command, cwd = fixture.project, more = {} }: Question): Promise<Ran> {
  const about = { session_id: "one", cwd, hook_event_name: "PreToolUse" };
  const input = JSON.stringify({ ...about, tool_name: "Bash", tool_input: { command }, ...more });
  const words = [nativeProgram(root), "hook", fixture.folder, "20000", "claude", agent];
  return of.spawn(cwd, "sh", "-c", `printf %s "$0" | "$@"; exit $?`, input, ...words);
}

/** As clients run commands. */
function shell(of: Caller, command: string, cwd = fixture.project): Promise<Ran> {
  const variables = Object.entries(fixture.environment).map(([name, value]) => `${name}=${value}`);
  return of.spawn(cwd, "env", ...variables, "sh", "-c", command);
}

async function rewritten(of: Caller, question: Question): Promise<string> {
  const { status, out } = await hook(of, question);
  if (status !== 0) throw new Error(out);
  const answer = JSON.parse(out) as { hookSpecificOutput: { updatedInput: { command: string } } };
  return answer.hookSpecificOutput.updatedInput.command;
}

const sessionIn = (command: string): string => / --session (s_\w+)/.exec(command)?.[1] ?? "";

test("the command is decided, and logged, in the hook's session, and opens none of its own", async () => {
  const one = fixture.caller();
  const command = await rewritten(one, { command: "ls src" });
  expect(await shell(one, command)).toEqual({ status: 0, out: "seen\n" });
  const entries = await fixture.log({ agent: "coder" });
  const decided = entries.filter(
    ({ kind, tool, outcome }) => kind === "decision" && tool === "shell" && outcome === "allow",
  );
  expect(decided.at(-1)?.session).toBe(sessionIn(command));
  const opened = entries.filter(({ kind, outcome }) => kind === "session" && outcome === "opened");
  expect(opened.map(({ more }) => more["face"])).not.toContain("call");
});

test.each<[string, number, string]>([
  ["ls missing", 2, "missing"],
  ["cat src/seen missing || ls src", 0, "seen\n"],
  ["ls src && cat missing", 1, "seen\n"],
])("the status and output of %s are those of the script", async (script, status, part) => {
  const one = fixture.caller();
  const ran = await shell(one, await rewritten(one, { command: script }));
  expect([ran.status, ran.out]).toEqual([status, expect.stringContaining(part)]);
});

test("output comes while the script runs, which ends with the client's command", async () => {
  const one = fixture.caller();
  const command = await rewritten(one, { agent: "streamer", command: "echo first; sleep 1000" });
  // Without the first line before the end of the script nothing here would end.
  const lines = `${command} >"$1" 2>&1 & read first <"$1"; echo "got $first"; kill $!; wait $!; echo "ended"`;
  const pipe = join(fixture.base, "pipe");
  const ran = await shell(one, `mkfifo ${pipe}; set -- ${pipe}; ${lines}`);
  // A shell may say at any time before its end that a background job was terminated.
  expect(ran.out.replace(/^.*Terminated.*\n/m, "")).toBe("got first\nended\n");
  const running = async (): Promise<number | undefined> =>
    (await fixture.status()).sessions.find(({ agent }) => agent === "streamer")?.running;
  await until(async () => (await running()) === 0, "the script ended with its command");
});

test("a reader that takes its time gets every byte, more than a result can have, and the status", async () => {
  const one = fixture.caller();
  const command = await rewritten(one, { agent: "streamer", command: "seq 1 400000; sh -c 'exit 7'" });
  const { out } = await shell(one, `{ ${command}; echo "status $?" >&2; } | { sleep 1; cksum; }; seq 1 400000 | cksum`);
  const [status, streamed, whole] = out
    .trim()
    .split("\n")
    .toSorted((left, right) => right.localeCompare(left));
  expect(status).toBe("status 7");
  expect(streamed).toBe(whole);
});

test("a change that was not applied is said after the output", async () => {
  const one = fixture.caller();
  const command = await rewritten(one, { agent: "streamer", command: "touch .envrc src/inside && echo made" });
  const { out } = await shell(one, command);
  expect(out).toContain("made\n");
  expect(existsSync(join(fixture.project, "src", "inside"))).toBe(true);
  expect(out).toMatch(/ambit: not applied: \.envrc \(approval_required\)/);
  rmSync(join(fixture.project, "src", "inside"));
});

test("a sub-agent of the client has the session of its conversation", async () => {
  const one = fixture.caller();
  const [own, inner] = [
    await rewritten(one, { command: "ls src" }),
    await rewritten(one, { command: "ls src", more: { agent_id: "a1", agent_type: "explorer" } }),
  ];
  expect(sessionIn(inner)).toBe(sessionIn(own));
  expect((await shell(one, inner)).out).toBe("seen\n");
});

test("after the client went into another workspace its command is still decided by the hook's agent", async () => {
  const one = fixture.caller();
  const inner = join(fixture.project, "inner");
  const command = await rewritten(one, { command: "ls src" });
  expect((await shell(one, command, inner)).out).toBe("seen\n");
  // The inner agent of this id may run `id`; the hook's session is that of the outer one.
  expect((await hook(one, { command: "id", cwd: inner })).out).toContain("(scope_violation)");
  const forged = command.replace(/"script":"[^"]*"/, '"script":"id"');
  expect(await shell(one, forged, inner)).toMatchObject({ status: 10, out: expect.stringContaining("denied") });
});

test("a command of the client that opens a session of its own is not clean either", async () => {
  const one = fixture.caller();
  await hook(one, { command: "ls" });
  const words = ["call", "careful", "shell", JSON.stringify({ script: "ls" })];
  const below = await one.spawn(fixture.project, ...fixture.words(...words));
  expect([below.status, below.out]).toEqual([10, expect.stringContaining("untrusted_content")]);
  expect((await fixture.ambit(...words)).status).toBe(0);
});

test.each<[string, (command: string) => string]>([
  ["an id that is not open", (command) => command.replace(/ s_\w+/, " s_00000000000000000000")],
  ["no id", (command) => command.replace(/ --session s_\w+/, " --session ''")],
  ["another agent", (command) => command.replace(" call coder ", " call other ")],
])("refused with %s", async (_, change) => {
  const one = fixture.caller();
  const command = await rewritten(one, { command: "ls src" });
  const { status, out } = await shell(one, change(command));
  expect([status, out]).toEqual([1, expect.stringContaining("no open session of a client's hook")]);
});

test("refused to a process that the client did not start, with the id of a session that is open", async () => {
  const [one, other] = [fixture.caller(), fixture.caller()];
  const command = await rewritten(one, { command: "ls src" });
  const { status, out } = await shell(other, command);
  expect([status, out]).toEqual([1, expect.stringContaining("no open session of a client's hook")]);
  expect((await shell(one, command)).out).toBe("seen\n");
});

test("the same conversation in another process of the client has another session", async () => {
  const [one, other] = [fixture.caller(), fixture.caller()];
  const [first, second] = [await rewritten(one, { command: "ls src" }), await rewritten(other, { command: "ls src" })];
  expect(sessionIn(first)).not.toBe(sessionIn(second));
  expect((await shell(other, second)).out).toBe("seen\n");
});

test.each(["--user ann", "--pledge fs.read", "--token t"])("refused together with %s", async (option) => {
  const one = fixture.caller();
  const command = await rewritten(one, { command: "ls src" });
  const { status, out } = await shell(one, `${command} ${option}`);
  expect([status, out]).toEqual([2, expect.stringContaining("leave out --user")]);
});

test("a process that calls through it can neither end nor limit it", async () => {
  const one = fixture.caller();
  const command = await rewritten(one, { command: "ls src" });
  const session = sessionIn(command);
  const codes: string[] = [];
  for (const [name, value] of [
    ["session.join", { agent: "coder" }],
    ["session.close", {}],
    ["session.pledge", { specs: ["fs.read"] }],
    ["tools.list", {}],
    ["call.commit", { tool: "x", input: {}, requests: [], waitMilliseconds: 0 }],
    ["call.do", { tool: "shell", input: { script: "ls src" }, requests: null, waitMilliseconds: 0 }],
  ] as const) {
    const answer = await one.ask(name, { session, ...value }).answer;
    codes.push(answer.ok ? "ok" : answer.code);
  }
  const none = "unknown_session";
  expect(codes).toEqual(["ok", none, none, none, none, "ok"]);
});

test("a session that has ended refuses", async () => {
  const one = fixture.caller();
  const command = await rewritten(one, { command: "ls src" });
  await fixture.killDaemon();
  await fixture.startDaemon();
  const { status, out } = await shell(one, command);
  expect([status, out]).toEqual([1, expect.stringContaining("repeat the call in the client")]);
  const again = await rewritten(one, { command: "ls src" });
  expect((await shell(one, again)).out).toBe("seen\n");
});
