// `ambit connect` and `ambit doctor --clients` start the client itself to try its hook. The client here is a small program that
// speaks to its model and runs hooks as Claude Code does, obedient or not; `npm run test:clients` has the real ones.
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;
let bin: string;
let seen: string;
const settings = (): string => join(fixture.project, ".claude", "settings.json");

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("coder", ["fs.read"], "sandbox: .\n");
  bin = join(fixture.base, "bin");
  seen = join(fixture.base, "seen.json");
  const temporary = join(fixture.base, "tmp");
  for (const folder of [bin, temporary]) mkdirSync(folder);
  mkdirSync(join(fixture.project, ".claude"));
  fixture.variables = { PATH: `${bin}:${process.env["PATH"]}`, AMBIT_TEST_TOKEN: "of the person", TMPDIR: temporary };
  await fixture.begin();
});
afterEach(async () => {
  await fixture.ambitAtTerminal("disconnect", "claude");
  rmSync(settings(), { force: true });
  rmSync(join(bin, "claude"), { force: true });
});
afterAll(() => fixture?.remove());

/** `behaviour`: what it does before it answers, as statements; `obeys`: whether a hook's status 2 stops the tool. */
function client({ behaviour = "", obeys = true }: { readonly behaviour?: string; readonly obeys?: boolean }): void {
  const path = join(bin, "claude");
  writeFileSync(
    path,
    `#!${process.execPath}\nconst OBEYS = ${obeys};\n${FAKE.replace("/* behaviour */", behaviour).replace("SEEN_PATH", seen)}`,
  );
  chmodSync(path, 0o755);
}

async function connect(...more: readonly string[]): Promise<{ status: number | null; out: string }> {
  const { status, out } = await fixture.ambitAtTerminal("connect", "claude", "--agent", "coder", "--yes", ...more);
  return { status, out };
}

test("a client that obeys its hook is reported with its version, and doctor repeats it", async () => {
  client({});
  const { status, out } = await connect();
  expect(out).toContain("ok: Claude Code 9.9.9 itself ran the hook");
  expect(status).toBe(0);
  expect((await fixture.ambitAtTerminal("doctor")).out).toContain("ambit doctor --clients");
  expect((await fixture.ambitAtTerminal("doctor", "--clients")).out).toContain("Claude Code 9.9.9 itself ran the hook");
  const told = JSON.parse((await fixture.ambit("doctor", "--clients", "--json")).out) as {
    readonly hooks: readonly { readonly path: string; readonly canary: string; readonly trial: object }[];
  };
  // The user's own settings may have hooks of their own.
  const own = told.hooks.filter(({ path }) => path === settings());
  expect(own).toMatchObject([{ canary: "denied", trial: { kind: "held", version: "9.9.9" } }]);
  // The person's terminal is no terminal of the client that has ended.
  expect((await fixture.ambitAtTerminal("disconnect", "claude")).out).toContain("restored");
});

test("a client that runs the tool all the same is an error, in doctor too", async () => {
  client({ obeys: false });
  const { status, out } = await connect();
  expect(out).toContain("error: Claude Code 9.9.9 itself ran a command that the hook denies");
  expect(status).toBe(1);
  expect((await fixture.ambitAtTerminal("doctor", "--clients")).status).toBe(1);
});

test("a client whose settings switch hooks off runs the tool", async () => {
  writeFileSync(settings(), '{ "disableAllHooks": true }');
  client({});
  expect((await connect()).out).toContain("itself ran a command that the hook denies");
});

test.each([
  ["is not there", null, "`claude` is not on your PATH"],
  [
    "ends at once",
    "console.error('no such option'); process.exit(3);",
    "it ended with 3 without a tool result: no such",
  ],
  ["does not end", "await new Promise(() => setInterval(() => {}, 1000));", "it did not call a tool in time"],
  ["refuses by itself", "answer = 'not allowed here';", "the result is not from the hook: not allowed here"],
] as const)("a client that %s is not verified, and connected", async (_, behaviour, text) => {
  if (behaviour !== null) client({ behaviour });
  const { status, out } = await connect(...(text.includes("in time") ? ["--verify-seconds", "2"] : []));
  expect(out).toContain("not verified in Claude Code itself");
  expect(out).toContain(text);
  expect(out).toContain("let it read /etc/hostname");
  expect(status).toBe(0);
});

test("--no-verify starts no client", async () => {
  client({ behaviour: "require('node:fs').writeFileSync('/nonexistent/x', '');" });
  const { out } = await connect("--no-verify");
  expect(out).toContain("not verified in Claude Code itself;");
  expect((await connect("--verify-seconds", "0")).status).toBe(2);
});

test("the client gets no variable, no home, no hook of others, no network and no writable file of the person", async () => {
  const others = '"env": { "ANTHROPIC_API_KEY": "of the person" }, "apiKeyHelper": "/bin/true"';
  const hook = '{ "hooks": [{ "type": "command", "command": "true" }] }';
  writeFileSync(settings(), `{ ${others}, "hooks": { "SessionStart": [${hook}] } }`);
  // It reports through the one thing that leaves the trial: its answer to the model.
  client({ behaviour: `answer = JSON.stringify(${FACTS});` });
  const { out } = await connect();
  const text = /the result is not from the hook: (.*)/.exec(out.replaceAll("\r", ""))?.[1] ?? "";
  for (const fact of ["token:absent", "write:EROFS", "networks:lo", "settings:hooks", "events:SessionStart=0"])
    expect(text).toContain(fact);
  expect(existsSync(seen)).toBe(false);
  // Nothing is left behind.
  expect(readdirSync(join(fixture.base, "tmp"))).toEqual([]);
});

test("in shadow mode the hook answers, and nothing is said to hold", async () => {
  client({});
  fixture.write("config/ambit/config.yml", "mode: shadow\nshadow:\n  coder: 2999-01-01T00:00:00Z\n");
  try {
    const { status, out } = await connect();
    expect(out).toContain("warning: the hook works but blocks nothing: the agent is in shadow mode");
    expect(out).not.toContain("every call is blocked");
    expect(out).not.toContain("itself ran");
    expect(status).toBe(0);
    const doctor = await fixture.ambitAtTerminal("doctor");
    expect(doctor.out).toContain("SHADOW MODE");
    expect(doctor.out).toContain("the hook works but blocks nothing");
  } finally {
    rmSync(join(fixture.config, "config.yml"));
  }
});

/** Facts in few characters: the report shows the start of a line. */
const FACTS = `[
  "token:" + (process.env.AMBIT_TEST_TOKEN ?? "absent"),
  "write:" + (() => { try { fs.writeFileSync(SEEN, ""); return "done"; } catch (error) { return error.code; } })(),
  "networks:" + Object.keys(require("node:os").networkInterfaces()),
  "settings:" + Object.keys(SETTINGS), "events:SessionStart=" + SETTINGS.hooks.SessionStart.length,
].join(" ")`;

const FAKE = `
const fs = require("node:fs");
const { spawnSync } = require("node:child_process");
if (process.argv.includes("--version")) { console.log("9.9.9 (a client)"); process.exit(0); }
const SETTINGS = JSON.parse(fs.readFileSync(".claude/settings.json", "utf8"));
const SEEN = "SEEN_PATH";
const send = async (messages) => {
  const body = JSON.stringify({ tools: [{ name: "Bash" }], messages });
  const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages?beta=true", { method: "POST", body });
  const events = (await response.text()).split("\\n").filter((line) => line.startsWith("data: "));
  return events.map((line) => JSON.parse(line.slice(6)));
};
(async () => {
  let answer = null;
  /* behaviour */
  const events = await send([]);
  const input = JSON.parse(events.find((one) => one.delta?.partial_json).delta.partial_json);
  const hooks = SETTINGS.disableAllHooks ? [] : SETTINGS.hooks.PreToolUse.flatMap((one) => one.hooks);
  for (const { command } of hooks) {
    const asked = { session_id: "s", cwd: process.cwd(), hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: input };
    const { status, stderr } = spawnSync("/bin/sh", ["-c", command], { input: JSON.stringify(asked), encoding: "utf8" });
    if (status === 2 && OBEYS) answer ??= stderr;
  }
  answer ??= spawnSync("/bin/sh", ["-c", input.command], { encoding: "utf8" }).stdout;
  await send([{ role: "user", content: [{ type: "tool_result", content: answer }] }]);
})();
`;
