// The `shell` tool in real sandboxes: what scripts do, and what never runs.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/base/json.ts";
import { type ProgramsFixture, programsFixture, type Said, shellIn } from "./programs-fixture.ts";

const userName = (): string => "tester";
let fixture: ProgramsFixture;
beforeAll(() => {
  fixture = programsFixture(
    ({ programs, files }) => [shellIn({ programs, files: files.calls }, userName)],
    "proc.exec",
    "fs.read",
    "fs.write",
  );
  const { folder, outside } = fixture;
  writeFileSync(join(folder, "three"), "one\ntwo\nthree\n");
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src", "a.ts"), "a\n");
  writeFileSync(join(folder, "src", "b.ts"), "b\n");
  writeFileSync(join(folder, "src", ".hidden.ts"), "h\n");
  writeFileSync(join(outside, "loot"), "loot\n");
  symlinkSync("../loot", join(folder, "way-out"));
  mkdirSync(join(folder, "closed"));
});
afterAll(() => fixture.close());

async function run(script: string, more: JsonObject = {}): Promise<Said> {
  return fixture.call("shell", { script, ...more });
}

async function wrote(script: string, more: JsonObject = {}): Promise<unknown> {
  const said = await run(script, more);
  if (!("value" in said)) return said;
  const { ending, stdout, stderr } = said.value as { ending: { status?: number }; stdout: string; stderr: string };
  return [ending.status ?? ending, stdout, stderr];
}

describe("a script", () => {
  test.each<[string, number, string]>([
    ["echo hi", 0, "hi\n"],
    ["echo a; echo b", 0, "a\nb\n"],
    ["true && echo yes || echo no", 0, "yes\n"],
    ["false && echo yes || echo no", 0, "no\n"],
    ["false; echo on", 0, "on\n"],
    ["true || echo never; false", 1, ""],
    ["cat three | grep o | wc -l", 0, "2\n"],
    ["sort -r < three | head -n 1", 0, "two\n"],
    ["seq 3 | tac | tr '\\n' ,", 0, "3,2,1,"],
    ["echo '$HOME' \"a  b\" c\\ d", 0, "$HOME a  b c d\n"],
    ['echo $USER ${USER}x "$USER"', 0, "tester testerx tester\n"],
    ["echo src/*.ts", 0, "src/a.ts src/b.ts\n"],
    ["echo */a.ts s?c/[b]*", 0, "src/a.ts src/b.ts\n"],
    ["echo nothing*here 's'*'c'/", 0, "nothing*here src/\n"],
    ["echo src/.h*", 0, "src/.hidden.ts\n"],
    ["ls missing 2>&1 >ignored | wc -l", 0, "1\n"],
    ["exit-is-no-program || echo gone", 0, "gone\n"],
  ])("%j exits with %i and prints %j", async (script, status, output) => {
    const [got, stdout] = (await wrote(script)) as [number, string];
    expect([got, stdout]).toEqual([status, output]);
  });

  test("matches patterns before it begins, and refuses them where a command could have changed the matches", async () => {
    expect(await wrote("true; echo src/*.ts > names; cat < names")).toEqual([0, "src/a.ts src/b.ts\n", ""]);
    expect(await wrote("echo s*c; true", { root: "rw" })).toEqual([0, "src\n", ""]);
    expect(await run("true; echo s*c", { root: "rw" })).toMatchObject({ denied: "unsupported_command" });
  });

  test("has its folder in PWD, and a home of its own", async () => {
    const [, stdout] = (await wrote("echo $PWD; pwd; echo $HOME; printenv HOME")) as [number, string];
    const [first, second, third, fourth] = stdout.split("\n");
    expect([first, third]).toEqual([second, fourth]);
    expect(first).toBe(fixture.folder);
  });

  test("writes and reads files by redirections, without a grant to change its folder", async () => {
    expect(await wrote("echo one > out; echo two >> out; cat < out; ls gone 2> err")).toMatchObject([
      2,
      "one\ntwo\n",
      "",
    ]);
    expect(readFileSync(join(fixture.folder, "out"), "utf8")).toBe("one\ntwo\n");
    expect(readFileSync(join(fixture.folder, "err"), "utf8")).toMatch(/gone/);
    expect(await wrote("ls gone three >both 2>&1")).toMatchObject([2, "", ""]);
    // Both streams are in it; the order of their lines is not defined.
    expect(readFileSync(join(fixture.folder, "both"), "utf8").split("\n").sort()).toEqual([
      "",
      expect.stringMatching(/gone/),
      "three",
    ]);
    expect(await wrote("touch made")).toMatchObject([1, "", expect.stringMatching(/Read-only/)]);
    expect(await wrote("touch made", { root: "rw" })).toEqual([0, "", ""]);
  });
});
