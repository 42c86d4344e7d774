// Scripts that try to do more than was granted, to block, or to leave something behind.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/base/json.ts";
import { processesWith } from "../house/processes.ts";
import { until } from "../house/until.ts";
import { NEVER, type ProgramsFixture, programsFixture, type Said, shellIn } from "./programs-fixture.ts";

const LOOKING = 'proc.exec{patterns=["echo **","cat **","head **","ls **","find **","git log **","yes **","sleep **"]}';
let fixture: ProgramsFixture;
beforeEach(() => {
  fixture = programsFixture(
    ({ programs, files }) => [shellIn({ programs, files: files.calls })],
    LOOKING,
    "fs.read",
    "fs.write",
  );
  const { folder, outside } = fixture;
  writeFileSync(join(folder, "a"), "a\n");
  writeFileSync(join(outside, "loot"), "loot\n");
  mkdirSync(join(folder, "closed"));
});
afterEach(() => fixture.close());

const run = (script: string, more: JsonObject = {}, signal: AbortSignal = NEVER): Promise<Said> =>
  fixture.call("shell", { script, ...more }, signal);

interface Result {
  readonly ending: { readonly kind: string; readonly because?: string; readonly status?: number };
  readonly stdout: string;
  readonly stderr: string;
  readonly dropped: number;
  readonly denials: readonly { readonly code: string; readonly request: string }[];
  readonly commands: readonly { readonly argv: readonly string[]; readonly ending: { readonly kind: string } }[];
}

function resultOf(said: Said): Result {
  if (!("value" in said)) throw new Error(JSON.stringify(said));
  return said.value as unknown as Result;
}

describe("no command of a script runs", () => {
  const marked = "echo x > mark";
  test.each<[string, string, string]>([
    ["one program of a list is not granted", `${marked}; touch b`, "scope_violation"],
    ["one program of a pipeline is not granted", `${marked}; echo a | tee b`, "scope_violation"],
    ["one program behind || is not granted", `${marked} || rm a`, "scope_violation"],
    ["an option runs another program", `${marked}; find . -exec rm a ';'`, "scope_violation"],
    ["an option writes elsewhere", `${marked}; git log --output=b`, "scope_violation"],
    ["a redirection leaves the folder", `${marked}; echo a > ../b`, "scope_violation"],
    ["a redirection reads outside", `${marked}; cat < ../loot`, "scope_violation"],
    ["a redirection goes to a protected path", `${marked}; echo a > closed/b`, "scope_violation"],
    ["a redirection writes an agent record", `${marked}; echo a > .ambit/agents/me.md`, "self_modification"],
    ["a redirection makes git run something", `${marked}; echo a > .git/hooks/pre-commit`, "self_modification"],
    ["a pattern matches outside", `echo ../*; ${marked}`, "scope_violation"],
    ["a command substitution", `${marked}; echo $(touch b)`, "unsupported_command"],
    ["a command in backticks", `${marked}; echo "\`touch b\`"`, "unsupported_command"],
    ["two lines make one substitution", `${marked}; echo $\\\n(touch b)`, "unsupported_command"],
    ["a command in the background", `${marked}; sleep 100 &`, "unsupported_command"],
    ["a variable is the program", `${marked}; $SHELL -c 'touch b'`, "unsupported_command"],
    ["an unknown variable", `${marked}; cat $IFS`, "unsupported_command"],
    ["a private folder is a target", `${marked}; echo a > $TMPDIR/b`, "unsupported_command"],
    ["a pattern after a command that may change its matches", `${marked}; echo *`, "unsupported_command"],
    ["a builtin that evaluates text", `${marked}; eval 'touch b'`, "unsupported_command"],
    ["an assignment", `${marked}; PATH=. ls`, "unsupported_command"],
    ["a comment hides the rest", `${marked}; echo a # ; touch b`, "unsupported_command"],
    ["a thousand commands", `${marked}${"; echo a".repeat(1000)}`, "invalid_input"],
    ["an endless pipeline", `${marked}; echo a${" | cat".repeat(17)}`, "invalid_input"],
    ["an unclosed quote", `${marked}; echo "a`, "invalid_input"],
    ["values that grow", `${marked}; echo ${"$PWD".repeat(12_000)}`, "invalid_input"],
    ["a character that is not text", `${marked}; echo a\u0000`, "invalid_input"],
  ])("when %s", async (_, script, code) => {
    expect(await run(script)).toMatchObject({ denied: code });
    expect(existsSync(join(fixture.folder, "mark"))).toBe(false);
    expect(existsSync(join(fixture.folder, "b"))).toBe(false);
  });

  test("one character away it runs", async () => {
    expect(resultOf(await run("echo x > mark; echo a | cat > b"))).toMatchObject({ ending: { status: 0 } });
    expect(readFileSync(join(fixture.folder, "b"), "utf8")).toBe("a\n");
  });

  test.each<[JsonObject, RegExp]>([
    [{}, /either `script` or `argv`/],
    [{ script: "echo a", argv: ["echo"] }, /either `script` or `argv`/],
    [{ script: "" }, /./],
    [{ script: 1 }, /./],
    [{ argv: [] }, /program/],
    [{ argv: [""] }, /program/],
    [{ script: "echo a", root: "all" }, /root/],
    [{ script: "echo a", in: "" }, /in/],
    [{ script: "echo a", seconds: 0 }, /seconds/],
    [{ script: "echo a", seconds: 1e9 }, /seconds/],
    [{ script: "echo a", more: 1 }, /more/],
    [{ script: "echo a".padEnd(70_000, "a") }, /./],
  ])("with the input %j", async (input, reason) => {
    expect(await fixture.call("shell", input)).toMatchObject({
      denied: "invalid_input",
      reason: expect.stringMatching(reason),
    });
  });
});

describe("a refusal names", () => {
  test("the construct and its position", async () => {
    expect(await run("echo a\necho b $(id)")).toEqual({
      denied: "unsupported_command",
      reason:
        'line 2, column 8, "$(": command substitution cannot be checked before it runs; run that command in an earlier call and write its output here',
      need: null,
    });
  });
});

describe("arguments are literal", () => {
  test("no word is split, joined or parsed a second time", async () => {
    writeFileSync(join(fixture.folder, "; touch b"), "");
    const { stdout } = resultOf(await run(`ls '; touch b'; echo "a b" 'c;d' e\\|f '$(g)' "*" '>' '&&' -n`));
    expect(stdout).toBe("; touch b\na b c;d e|f $(g) * > && -n\n");
    expect(resultOf(await fixture.call("shell", { argv: ["echo", "*", "$HOME", "; touch b"] })).stdout).toBe(
      "* $HOME ; touch b\n",
    );
    expect(existsSync(join(fixture.folder, "b"))).toBe(false);
  });

  test("a match of a pattern never becomes an option", async () => {
    writeFileSync(join(fixture.folder, "-delete"), "");
    expect(await run("find *")).toMatchObject({ denied: "unsupported_command" });
    expect(resultOf(await run("echo ./*"))).toMatchObject({ stdout: "./-delete ./a\n" });
    expect(existsSync(join(fixture.folder, "a"))).toBe(true);
  });

  test("a pattern matches only readable names", async () => {
    writeFileSync(join(fixture.folder, "closed", "secret"), "");
    expect(await run("echo closed/*")).toMatchObject({ denied: "scope_violation" });
    const { stdout } = resultOf(await run("echo */*"));
    expect(stdout).not.toContain("secret");
  });

  test("a folder is decided like every other path", async () => {
    expect(await run("echo a", { in: ".." })).toMatchObject({ denied: "scope_violation" });
    expect(await run("echo a", { in: "closed" })).toMatchObject({ denied: "scope_violation" });
  });
});

describe("redirections", () => {
  test.each(["read", "write", "append"] as const)("a link that leads outside is not followed: %s", async (kind) => {
    symlinkSync("../loot", join(fixture.folder, "way-out"));
    const script = { read: "cat < way-out", write: "echo x > way-out", append: "echo x >> way-out" }[kind];
    const result = resultOf(await run(`${script}; echo on`));
    expect(result).toMatchObject({ ending: { kind: "unstarted" }, stdout: "", denials: [{ code: "scope_violation" }] });
    expect(result.commands).toHaveLength(1);
    expect(readFileSync(join(fixture.outside, "loot"), "utf8")).toBe("loot\n");
  });

  test("a link to an agent record is not followed either", async () => {
    mkdirSync(join(fixture.folder, ".ambit"));
    symlinkSync(".ambit/config.yml", join(fixture.folder, "plain"));
    const result = resultOf(await run("echo x > plain; echo on"));
    expect(result).toMatchObject({ ending: { kind: "unstarted" }, stdout: "" });
    expect(existsSync(join(fixture.folder, ".ambit", "config.yml"))).toBe(false);
  });

  test("a missing file fails its command alone, as in a shell", async () => {
    expect(resultOf(await run("cat < gone || echo other; echo on"))).toMatchObject({
      ending: { status: 0 },
      stdout: "other\non\n",
      stderr: expect.stringMatching(/gone: no such file or folder/),
      denials: [],
    });
  });

  test("output longer than the response is complete in the file", async () => {
    writeFileSync(join(fixture.folder, "big"), "0123456789abcdef".repeat(196_608));
    expect(resultOf(await run("cat < big > copy"))).toMatchObject({ ending: { status: 0 }, stdout: "", dropped: 0 });
    expect(readFileSync(join(fixture.folder, "copy")).equals(readFileSync(join(fixture.folder, "big")))).toBe(true);
  });
});

describe("a pipeline", () => {
  test("whose reader exits early ends its writer", async () => {
    const result = resultOf(await run("yes | head -n 1; echo on"));
    expect(result).toMatchObject({ ending: { status: 0 }, stdout: "y\non\n" });
    expect(result.commands.map(({ argv }) => argv[0])).toEqual(["yes", "head", "echo"]);
    expect(result.commands[0]?.ending.kind).not.toBe("exited");
  });

  test("whose reader never reads ends with it", async () => {
    const result = resultOf(await run("yes | sleep 1"));
    expect(result.commands[0]?.ending.kind).not.toBe("exited");
    expect(result.commands[1]).toMatchObject({ ending: { kind: "exited" } });
  });

  test("in which one program cannot be started continues without it", async () => {
    fixture.grants = [...fixture.grants, "proc.exec{cmds=[no-such-program]}"];
    expect(resultOf(await run("no-such-program | cat; echo on"))).toMatchObject({ stdout: "on\n" });
    expect(resultOf(await run("yes | no-such-program || echo on"))).toMatchObject({ stdout: "on\n" });
  });

  test("whose writer exceeded the limit is not shown as complete", async () => {
    const result = resultOf(await run("yes | cat > copied", { seconds: 60 }));
    expect(result.ending.kind).not.toBe("exited");
  });

  test("passes bytes unchanged", async () => {
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7919) % 256));
    writeFileSync(join(fixture.folder, "bytes"), bytes);
    resultOf(await run("cat bytes | cat | cat > copied"));
    expect(readFileSync(join(fixture.folder, "copied")).equals(bytes)).toBe(true);
  });
});

describe("everything ends", () => {
  /** Seconds that no other process sleeps. */
  const MARK = String(8_000_000 + process.pid);
  const asleep = (): Promise<void> => until(() => processesWith(MARK).length > 0, "the command runs");
  const wake = (): void => {
    for (const pid of processesWith(MARK)) process.kill(pid);
  };

  test("when its time limit is over", async () => {
    const result = resultOf(await run("echo a; sleep 100 | sleep 100; echo b", { seconds: 1 }));
    expect(result).toMatchObject({ ending: { kind: "ended", because: "time" }, stdout: "a\n" });
  });

  test("when its grants are revoked: no command of it starts after that", async () => {
    const before = fixture.grants;
    const running = run(`sleep ${MARK}; echo late`);
    await asleep();
    fixture.grants = ["tool.invoke"];
    wake();
    const result = resultOf(await running);
    fixture.grants = before;
    const ending = { kind: "unstarted", reason: expect.stringContaining("was revoked") };
    expect(result).toMatchObject({
      ending,
      stdout: "",
      commands: [{ argv: ["sleep", MARK] }, { argv: ["echo", "late"] }],
    });
  });

  test.each(["ask", "ask=presence"])(
    "when its grants need approval (%s): no command of it starts after that",
    async (ask) => {
      const before = fixture.grants;
      const running = run(`sleep ${MARK}; echo late`);
      await asleep();
      fixture.grants = [LOOKING.replace(/\}$/, `,${ask}}`)];
      wake();
      const result = resultOf(await running);
      fixture.grants = before;
      expect(result).toMatchObject({
        ending: { kind: "unstarted", reason: expect.stringContaining("needs an approval") },
        stdout: "",
        commands: [{ argv: ["sleep", MARK] }, { argv: ["echo", "late"] }],
      });
    },
  );

  test("when the call is cancelled", async () => {
    const cancel = new AbortController();
    const running = run(`sleep ${MARK} | sleep ${MARK}; echo b`, {}, cancel.signal);
    await asleep();
    cancel.abort();
    expect(resultOf(await running)).toMatchObject({ ending: { kind: "ended", because: "stopped" }, stdout: "" });
  });

  test("when the session is closed, and nothing is started any more", async () => {
    const running = run(`sleep ${MARK}; echo b`);
    await asleep();
    fixture.session.close();
    expect(resultOf(await running)).toMatchObject({ ending: { kind: "ended", because: "stopped" }, stdout: "" });
  });

  test("when a command is killed from inside, and the others continue as in a shell", async () => {
    fixture.grants = [...fixture.grants, "proc.exec{cmds=[kill,sh]}"];
    const result = resultOf(await run("sh -c 'kill -9 $$' | cat; echo on"));
    expect(result).toMatchObject({ stdout: "on\n", commands: [{ ending: { kind: "signalled", signal: 9 } }, {}, {}] });
  });

  test("and output over the limit is truncated and counted", async () => {
    const result = resultOf(await run("yes '\u0001\u0001\u0001\u0001'"));
    expect(result.ending).toEqual({ kind: "ended", because: "output" });
    expect(result.dropped).toBeGreaterThan(1_000_000);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(1_000_000);
  });
});
