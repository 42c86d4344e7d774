// Shadow mode: what a record denies passes and is recorded, for the agents that the user names, until its end; never what the
// user's ceilings deny.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { nativeProgram } from "../../src/platform/native-program.ts";
import { root } from "../e2e/ambit.ts";
import { Fixture } from "./fixture.ts";

const native = nativeProgram(root);
const LATER = new Date(Date.now() + 86_400_000).toISOString().replace(/\.\d+/, "");
const BEFORE = new Date(Date.now() - 1000).toISOString().replace(/\.\d+/, "");

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  for (const agent of ["coder", "other"])
    fixture.agent(agent, ["fs.read{paths=[src/**]}", "fs.write{paths=[docs/**],ask}"], "sandbox: .\n");
  mkdirSync(join(fixture.project, "src"));
  await fixture.begin();
});
afterAll(() => fixture?.remove());
beforeEach(() => rmSync(join(fixture.config, "config.yml"), { force: true }));

function configure(text: string): void {
  fixture.write("config/ambit/config.yml", text);
}

const shadow = (end: string, more = ""): void => configure(`mode: shadow\nshadow: { coder: "${end}" }\n${more}`);

/** `allow`, `none` for no opinion, or the code of the denial. */
async function verdict(tool: string, input: object, agent = "coder", ...more: readonly string[]): Promise<string> {
  const words = ["hook", fixture.folder, "20000", "claude", agent, ...more];
  const child = spawn(native, words, { cwd: fixture.project });
  let [out, err] = ["", ""];
  child.stdout.on("data", (part: Buffer) => {
    out += part;
  });
  child.stderr.on("data", (part: Buffer) => {
    err += part;
  });
  const about = { session_id: "s", cwd: fixture.project, hook_event_name: "PreToolUse" };
  child.stdin.end(JSON.stringify({ ...about, tool_name: tool, tool_input: input }));
  const [status] = (await once(child, "close")) as [number | null];
  if (status === 2) return /\(([a-z_]+)\)/.exec(err)?.[1] ?? err;
  return out === "" ? "none" : out.includes("updatedInput") ? "rewritten" : "allow";
}

const reads = (path: string, agent?: string): Promise<string> =>
  verdict("Read", { file_path: join(fixture.project, path) }, agent);

describe("an agent in shadow mode", () => {
  test("is not blocked, and each denial is recorded as one that would have been", async () => {
    expect(await reads("a")).toBe("scope_violation");
    shadow(LATER);
    expect([await reads("a"), await reads("src/a")]).toEqual(["none", "allow"]);
    expect(await verdict("Bash", { command: "rm -rf $(x)" })).toBe("none");
    expect(await verdict("Write", { file_path: join(fixture.project, "docs/a"), content: "" })).toBe("none");
    expect(await verdict("mcp__x__y", {})).toBe("none");
    const told = await fixture.ambit("log", "--would-deny", "--json");
    const codes = told.out
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { entry: { outcome: string; code: string } }).entry)
      .map(({ outcome, code }) => `${outcome} ${code}`);
    expect(codes.toSorted()).toEqual(
      ["approval_unavailable", "scope_violation", "scope_violation", "unsupported_command"].map(
        (code) => `would_deny ${code}`,
      ),
    );
  });

  test("is enforced in what ambit executes itself", async () => {
    shadow(LATER);
    expect((await fixture.ambit("call", "coder", "fs_read", '{"path": "a"}')).status).toBe(10);
  });

  test("never changes what no tool may change, and runs no command of ambit", async () => {
    shadow(LATER);
    const write = (path: string): Promise<string> => verdict("Write", { file_path: path, content: "x" });
    expect(await write(join(fixture.config, "config.yml"))).toBe("self_modification");
    symlinkSync(join(fixture.config, "config.yml"), join(fixture.project, "src", "mine"));
    expect(await write(join(fixture.project, "src", "mine"))).toBe("self_modification");
    expect(await write(join(fixture.project, ".ambit", "agents", "coder.md"))).toBe("self_modification");
    expect(await write(join(fixture.project, ".claude", "settings.json"))).toBe("self_modification");
    expect(await verdict("Bash", { command: "ambit thaw" })).toBe("self_modification");
    expect(await verdict("Bash", { command: `cat src/a > ${join(fixture.config, "config.yml")}` })).toBe(
      "self_modification",
    );
  });

  test.each<[string, string]>([
    ["a ceiling", "ceiling: [fs.read: { in: /, paths: [tmp/**/src/**] }]\n"],
    ["a root", "sandbox: /nowhere\n"],
  ])("is denied what %s of the user denies, and what cannot be read", async (_, more) => {
    shadow(LATER, more);
    expect(await reads("a")).not.toBe("none");
    expect(await verdict("Bash", { command: "ls $(x)" })).not.toBe("none");
  });

  test("is denied what the record of the session's user denies", async () => {
    fixture.user("ann", ["fs.read{in=/,paths=[**]}"]);
    shadow(LATER);
    const as = (tool: string, input: object): Promise<string> => verdict(tool, input, "coder", "--user", "ann");
    expect(await as("Read", { file_path: join(fixture.project, "a") })).toBe("none");
    expect(await as("Write", { file_path: join(fixture.project, "a"), content: "" })).not.toBe("none");
  });

  test("is frozen like all others", async () => {
    shadow(LATER);
    await fixture.control("freeze", {});
    const frozen = await reads("a");
    await fixture.control("thaw", { presence: null });
    expect(frozen).toBe("frozen");
  });
});

describe("shadow mode", () => {
  test.each<[string, string]>([
    ["has ended", `mode: shadow\nshadow: { coder: "${BEFORE}" }\n`],
    ["names no agent", "mode: shadow\n"],
    ["names another agent", `mode: shadow\nshadow: { other: "${LATER}" }\n`],
    ["is not switched on", `shadow: { coder: "${LATER}" }\n`],
    ["is switched off", `mode: enforce\nshadow: { coder: "${LATER}" }\n`],
    ["has no end", "mode: shadow\nshadow: { coder: true }\n"],
    ["is in a configuration with an error", `mode: shadow\nshadow: { coder: "${LATER}" }\ncontrol: maybe\n`],
  ])("that %s enforces", async (_, text) => {
    configure(text);
    expect(await reads("a")).not.toBe("none");
  });

  test("of a project is an error, and enforces", async () => {
    fixture.write("project/.ambit/config.yml", `mode: shadow\nshadow: { coder: "${LATER}" }\n`);
    expect(await reads("a")).not.toBe("none");
    rmSync(join(fixture.project, ".ambit", "config.yml"));
  });

  test("has a banner in status until it ends", async () => {
    shadow(LATER);
    expect((await fixture.ambit("status")).out).toContain(
      `SHADOW MODE: calls of clients for coder are recorded and not blocked until ${LATER}`,
    );
    shadow(BEFORE);
    expect((await fixture.ambit("status")).out).toContain("shadow mode of coder ended");
  });
});
