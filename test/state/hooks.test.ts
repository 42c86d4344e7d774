// Hooks of clients, through the native program that clients run: decided and logged by the daemon, and blocked by every failure.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { protocolVersion } from "../../src/daemon/rpc/limits.ts";
import { nativeProgram } from "../../src/platform/native-program.ts";
import { root } from "../e2e/ambit.ts";
import { until } from "../house/until.ts";
import { Fixture } from "./fixture.ts";

const MODE = "permission_mode";
const native = nativeProgram(root);

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  const files = ["fs.read", "fs.write{paths=[src/**]}", "fs.write{paths=[docs/**],ask}"];
  const more = ["proc.exec{cmds=[ls,cat]}", "net.get{hosts=[api.github.com]}", "tool.invoke{tools=[mcp__notes__add]}"];
  fixture.agent("coder", [...files, ...more, "tool.invoke{tools=[builtin:**]}"], "sandbox: .\n");
  fixture.agent("bare", ["proc.exec{cmds=[ls,cat]}", "fs.read", "fs.write"], "sandbox: .\n");
  fixture.agent("careful", ["fs.read{clean}"], "sandbox: .\n");
  fixture.agent("counted", ["fs.read{calls=2}"], "sandbox: .\n");
  mkdirSync(join(fixture.project, "src"));
  writeFileSync(join(fixture.base, "outside"), "secret");
  symlinkSync(join(fixture.base, "outside"), join(fixture.project, "src", "link"));
  symlinkSync(join(fixture.base, "nowhere"), join(fixture.project, "src", "dangling"));
  await fixture.begin();
});
afterAll(() => fixture?.remove());

interface Said {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** As a client runs it. */
async function run(words: readonly string[], input: string | null, milliseconds = 20_000): Promise<Said> {
  const [folder = fixture.folder, ...rest] = words;
  const child = spawn(native, ["hook", folder, String(milliseconds), ...rest], { cwd: fixture.project });
  let [out, err] = ["", ""];
  child.stdout.on("data", (part: Buffer) => {
    out += part;
  });
  child.stderr.on("data", (part: Buffer) => {
    err += part;
  });
  child.stdin.on("error", () => undefined);
  if (input !== null) child.stdin.end(input);
  const [status] = (await once(child, "close")) as [number | null];
  return { status, out, err };
}

function question(tool: string, input: object, more: object = {}): string {
  const about = { session_id: "one", cwd: fixture.project, [MODE]: "default", hook_event_name: "PreToolUse" };
  return JSON.stringify({ ...about, tool_name: tool, tool_input: input, ...more });
}

async function claude(tool: string, input: object, ...more: readonly string[]): Promise<Said> {
  return run([fixture.folder, "claude", "coder", ...more], question(tool, input));
}

/** `allow`, `ask`, or the code of the denial. */
async function verdict(tool: string, input: object, ...more: readonly string[]): Promise<string> {
  const { status, out, err } = await claude(tool, input, ...more);
  if (status === 2) return /\(([a-z_]+)\)/.exec(err)?.[1] ?? err;
  if (out === "") return "none";
  const { hookSpecificOutput: answer } = JSON.parse(out) as { hookSpecificOutput: Record<string, string> };
  return answer["permissionDecision"] ?? "";
}

function updatedIn(out: string): Readonly<Record<string, string>> {
  const { hookSpecificOutput } = JSON.parse(out) as { hookSpecificOutput: { updatedInput: Record<string, string> } };
  return hookSpecificOutput.updatedInput;
}

const at = (path: string): string => join(fixture.project, path);

describe("a tool of Claude Code", () => {
  test.each<[string, (path: typeof at) => object, string]>([
    ["Read", (path) => ({ file_path: path("a") }), "allow"],
    ["Read", () => ({ file_path: "/etc/hostname" }), "scope_violation"],
    ["Read", (path) => ({ file_path: path("src/link") }), "scope_violation"],
    ["Read", (path) => ({ file_path: path("src/dangling") }), "invalid_input"],
    ["Write", (path) => ({ file_path: path("src/a"), content: "" }), "allow"],
    ["Write", (path) => ({ file_path: path("a"), content: "" }), "scope_violation"],
    ["Write", (path) => ({ file_path: path("docs/a"), content: "" }), "ask"],
    ["Write", (path) => ({ file_path: path("src/../.ambit/agents/coder.md") }), "self_modification"],
    ["Write", (path) => ({ file_path: path(".claude/settings.json") }), "self_modification"],
    ["Edit", (path) => ({ file_path: path("src/link") }), "scope_violation"],
    ["Grep", () => ({ pattern: "x" }), "allow"],
    ["Grep", () => ({ pattern: "x", path: ".." }), "scope_violation"],
    ["WebFetch", () => ({ url: "https://api.github.com/x" }), "allow"],
    ["WebFetch", () => ({ url: "https://api.github.com.evil.example/x" }), "scope_violation"],
    ["WebSearch", () => ({ query: "x" }), "capability_absent"],
    ["mcp__notes__add", () => ({}), "allow"],
    ["mcp__notes__remove", () => ({}), "scope_violation"],
    ["Unknown", () => ({}), "scope_violation"],
    // Granted as a built-in tool of ours; a client's tool of that name is another one.
    ["fs_read", () => ({}), "scope_violation"],
    ["TodoWrite", () => ({}), "none"],
    ["Bash", () => ({ command: "rm -rf ." }), "scope_violation"],
    ["Bash", () => ({ command: "ls; rm x" }), "scope_violation"],
    ["Bash", () => ({ command: "ls $(id)" }), "unsupported_command"],
    ["Bash", () => ({ command: "ls > out" }), "scope_violation"],
  ])("%s %s: %s", async (tool, input, expected) => {
    expect(await verdict(tool, input(at))).toBe(expected);
  });

  test("that runs a command becomes a call of ambit, which runs it in the sandbox", async () => {
    const { out } = await claude("Bash", { command: `ls 'a b' "it's"`, description: "list" }, "--wait", "9000");
    const updated = updatedIn(out);
    expect(updated["description"]).toBe("list");
    expect(updated["command"]).toMatch(/ call coder shell '\{.*\}' --session s_\w+ --wait 9$/);
    writeFileSync(at("listed"), "");
    const { out: plain } = await claude("Bash", { command: "ls listed" });
    const child = spawn("sh", ["-c", updatedIn(plain)["command"] ?? ""], {
      cwd: fixture.project,
      env: fixture.environment,
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (part: Buffer) => {
        printed += part;
      });
    await once(child, "close");
    expect(printed).toBe("listed\n");
  });

  test("that runs a command outside of the sandbox needs a writable root, and never runs ambit", async () => {
    expect(await verdict("Bash", { command: "ls" }, "--no-sandbox")).toBe("scope_violation");
    expect(await verdict("Bash", { command: "ambit approve x" }, "--no-sandbox")).toBe("self_modification");
  });

  test("is logged before the client runs it, with the session of the conversation", async () => {
    for (const name of ["logged", "logged-too"]) await claude("Read", { file_path: at(name) });
    const entries = await fixture.log({ agent: "coder", count: 20 });
    const found = entries.filter(({ kind, more }) => kind === "decision" && JSON.stringify(more).includes("/logged"));
    expect(found).toHaveLength(2);
    expect(found[0]).toMatchObject({ outcome: "allow", tool: "fs_read", verbs: ["tool.invoke", "fs.read"] });
    expect(found[0]?.session).toBe(found[1]?.session);
  });

  test("is denied with what is allowed instead and an id", async () => {
    const { err } = await claude("Write", { file_path: at("a"), content: "" });
    expect(err).toContain("ambit denied Write: fs.write ");
    expect(err).toContain("allowed: fs.write{");
    expect(err).toMatch(/\nid: c_\w+\n$/);
  });

  test("waits for an approval where no person answers the client's prompt", async () => {
    const asked = question("Write", { file_path: at("docs/b"), content: "" }, { [MODE]: "bypassPermissions" });
    const { status, err } = await run([fixture.folder, "claude", "coder"], asked);
    expect([status, err]).toEqual([2, expect.stringContaining("(approval_required)")]);
    expect(err).toMatch(/a person runs: ambit approve a_\w+/);
  });
});

test.each<[string, string]>([
  ["ls src", "0 "],
  ["ls *", "2 unsupported_command"],
  ["ls src/*.ts | cat", "2 unsupported_command"],
  ["cat src/a > src/b", "0 "],
  // The link leads out of the project.
  ["cat src/a > src/link", "2 scope_violation"],
  ["cat < src/link", "2 scope_violation"],
  ["cat src/a > .git/hooks/post-commit", "2 self_modification"],
  ["rm src/a", "2 scope_violation"],
])("a command that the client runs itself: %s", async (command, expected) => {
  const { status: found, err } = await run(
    [fixture.folder, "claude", "bare", "--no-sandbox"],
    question("Bash", { command }),
  );
  expect(`${found} ${/\(([a-z_]+)\)/.exec(err)?.[1] ?? ""}`).toBe(expected);
});

test("a grant for sessions that have read nothing untrusted covers no hook", async () => {
  const { err } = await run([fixture.folder, "claude", "careful"], question("Read", { file_path: at("a") }));
  expect(err).toContain("(untrusted_content)");
});

test("questions at once have one session", async () => {
  const asked = question("Read", { file_path: at("a") }, { session_id: "at once" });
  const answers = await Promise.all(Array.from({ length: 16 }, () => run([fixture.folder, "claude", "bare"], asked)));
  expect(answers.map(({ status: found }) => found)).toEqual(Array.from({ length: 16 }, () => 0));
  const opened = await fixture.log({ agent: "bare", kind: "session", outcome: "opened", count: 50 });
  const decided = await fixture.log({ agent: "bare", kind: "decision", outcome: "allow", count: 16 });
  expect(new Set(decided.map(({ session }) => session)).size).toBe(1);
  expect(opened.filter(({ session }) => session === decided[0]?.session)).toHaveLength(1);
});

test("a budget counts calls through hooks, over all their processes", async () => {
  const statuses: (number | null)[] = [];
  for (let count = 0; count < 4; count++)
    statuses.push((await run([fixture.folder, "claude", "counted"], question("Read", { file_path: at("a") }))).status);
  expect(statuses).toEqual([0, 0, 2, 2]);
});

describe("the call is blocked, with a text, by", () => {
  test.each<[string, readonly string[], string]>([
    ["no input", ["claude", "coder"], ""],
    ["text", ["claude", "coder"], "hello"],
    ["JSON that is cut off", ["claude", "coder"], '{"session_id":"one"'],
    ["a list", ["claude", "coder"], "[]"],
    ["a key twice", ["claude", "coder"], '{"cwd":"/","cwd":"/project"}'],
    ["no members", ["claude", "coder"], "{}"],
    ["bytes that are no text", ["claude", "coder"], "\ud800"],
    ["nesting without end", ["claude", "coder"], `{"a":${"[".repeat(5000)}`],
    ["more than a megabyte", ["claude", "coder"], " ".repeat(1_000_001)],
    ["a megabyte that grows", ["claude", "coder"], '"'.repeat(900_000)],
    ["another client", ["clyde", "coder"], "{}"],
    ["another agent", ["claude", "absent"], question0("Read")],
    ["an unknown word", ["claude", "coder", "--yes", "x"], question0("Read")],
    ["a word without a value", ["claude", "coder", "--user"], question0("Read")],
    ["an unknown user", ["claude", "coder", "--user", "a/b"], question0("Read")],
  ])("%s", async (_, words, input) => {
    const { status, out, err } = await run([fixture.folder, ...words], input);
    expect([status, out]).toEqual([2, ""]);
    expect(err).toMatch(/^ambit: the call is blocked: \S/);
  });

  test("input that does not end", async () => {
    const { status, err } = await run([fixture.folder, "claude", "coder"], null, 300);
    expect([status, err]).toEqual([2, expect.stringContaining("in time")]);
  });

  test("a folder that others can read", async () => {
    const open = join(fixture.base, "open");
    mkdirSync(open, { mode: 0o755 });
    const { status, err } = await run([open, "claude", "coder"], question("Read", {}));
    expect([status, err]).toEqual([2, expect.stringContaining("cannot be reached")]);
  });
});

function question0(tool: string): string {
  const about = { session_id: "one", cwd: "/", hook_event_name: "PreToolUse" };
  return JSON.stringify({ ...about, tool_name: tool, tool_input: { file_path: "/x" } });
}

/** What answers in the daemon's place. */
async function against(answer: (write: (bytes: Buffer) => void, end: () => void) => void): Promise<Said> {
  const folder = join(fixture.base, `fake-${Math.random().toString(36).slice(2)}`);
  mkdirSync(folder, { mode: 0o700 });
  chmodSync(folder, 0o700);
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    answer(
      (bytes) => socket.write(bytes),
      () => socket.end(),
    );
  });
  server.listen(join(folder, "call.sock"));
  await once(server, "listening");
  try {
    return await run([folder, "claude", "coder"], question("Read", {}), 1_000);
  } finally {
    server.close();
  }
}

function frame(kind: number, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const payload = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const header = Buffer.alloc(5);
  header.writeUInt32BE(payload.length);
  header[4] = kind;
  return Buffer.concat([header, payload]);
}

const HELLO = frame(0, JSON.stringify({ hello: { protocol: protocolVersion, version: "x" } }));
const channel = (number: number): Uint8Array => Uint8Array.of(0, 0, 0, 1, number);
const DONE = frame(0, '{"id":1,"ok":true,"value":{}}');
const status = (code: number): Buffer => frame(1, channel(3), Uint8Array.of(code));

describe("a daemon that fails blocks the call:", () => {
  test.each<[string, readonly Buffer[], boolean]>([
    ["it closes at once", [], true],
    ["it says nothing", [], false],
    ["it greets and closes", [HELLO], true],
    ["it greets and hangs", [HELLO], false],
    ["it answers without a status", [HELLO, DONE], false],
    ["it ends after the status", [HELLO, status(0)], true],
    ["a status without a reason", [HELLO, status(2), DONE], false],
    ["another status", [HELLO, status(1), DONE], false],
    ["two statuses", [HELLO, status(2), status(0), DONE], false],
    ["a refusal", [HELLO, frame(0, '{"id":1,"ok":false,"code":"not_available","message":"x"}')], false],
    ["a frame that is too long", [Buffer.from([255, 255, 255, 255, 0])], false],
    ["a frame of an unknown kind", [frame(9, "x")], false],
    ["a channel that there is not", [HELLO, frame(1, channel(4), "x"), status(0), DONE], false],
    ["text", [Buffer.from("HTTP/1.1 200 OK\r\n\r\n")], true],
  ])("%s", async (_, frames, ends) => {
    const said = await against((write, end) => {
      for (const one of frames) write(one);
      if (ends) end();
    });
    expect(said.status).toBe(2);
    expect(said.err).toMatch(/^ambit: the call is blocked: \S/);
  });

  test("a whole answer is printed as it is", async () => {
    const said = await against((write) => {
      for (const one of [HELLO, frame(1, channel(1), "a"), frame(1, channel(1), "b"), status(0), DONE]) write(one);
    });
    expect(said).toEqual({ status: 0, out: "ab", err: "" });
  });
});

test("on a full disk every call is blocked, and none once there is room again", async () => {
  const asked = question("Read", { file_path: join(fixture.project, "src", "a") });
  const own = { ...(JSON.parse(asked) as object), session_id: "another" };
  expect((await run([fixture.folder, "claude", "coder"], asked)).status).toBe(0);
  const [said, opening] = await fixture.withFullDisk(async () => [
    await run([fixture.folder, "claude", "coder"], asked),
    await run([fixture.folder, "claude", "coder"], JSON.stringify(own)),
  ]);
  expect([opening?.status, opening?.err]).toEqual([2, expect.stringContaining("could not be stored")]);
  expect([said?.status, said?.err]).toEqual([2, expect.stringContaining("(audit_unavailable)")]);
  const isAllowed = async (): Promise<boolean> => (await run([fixture.folder, "claude", "coder"], asked)).status === 0;
  await until(isAllowed, "there is room again");
});

test("a daemon that is halted blocks the call at the hook's own deadline", async () => {
  const asked = question("Read", { file_path: join(fixture.project, "src", "a") });
  const said = await fixture.withHaltedDaemon(() => run([fixture.folder, "claude", "coder"], asked, 500));
  expect([said.status, said.err]).toEqual([2, expect.stringMatching(/^ambit: the call is blocked: \S/)]);
});

test("without a daemon nothing is read from standard input, and the status says so", async () => {
  const { status: found, out } = await run([join(fixture.base, "none"), "claude", "coder"], question("Read", {}));
  expect([found, out]).toEqual([75, ""]);
});
