// The pin of a script at the time of an approval request; any kind of file at its path gives a result.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parseArgv } from "../../core/authority/axes/argv.ts";
import { parsePath } from "../../core/authority/axes/path.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import type { CallPin } from "../parts.ts";
import { pinOf } from "./pin.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "ambit-pin-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function request(name: string, folderOf: string, ...words: readonly string[]): Request {
  const verb = verbEntry(name);
  const root = parsePath(folderOf, { home: null, base: null, protectedPaths: [] });
  const argv = parseArgv(words.length === 0 ? ["none"] : [...words]);
  if (verb === null || !root.ok || !argv.ok) throw new Error("the request does not parse");
  const value = (axis: string) =>
    axis === "argv" ? argv.value : ["root", "in", "path"].includes(axis) ? root.value : "ro";
  return { verb, values: verb.axes.map(({ name: axis }) => value(axis)) };
}

const running = (...words: readonly string[]): Request => request("proc.exec", folder, ...words);

function pinned(requests: readonly Request[], input: JsonObject = {}, source: string | null = null): Promise<CallPin> {
  return pinOf({ workspace: folder, tool: "some_tool", input, requests }, async () => source);
}

const digestOf = async (...requests: readonly Request[]): Promise<string | null> => (await pinned(requests)).digest;

test("a program without files has no digest, and a script has the one of its content", async () => {
  expect(await digestOf(running("git", "status"))).toBeNull();
  writeFileSync(join(folder, "run.sh"), "one");
  const one = await digestOf(running("sh", "run.sh"));
  expect(one).toMatch(/^[0-9a-f]{64}$/);
  expect(await digestOf(running("sh", "./run.sh"))).toBe(one);
  writeFileSync(join(folder, "run.sh"), "two");
  expect(await digestOf(running("sh", "run.sh"))).not.toBe(one);
});

const SUB = join(folder, "sub");
mkdirSync(SUB);
const MANY = Array.from({ length: 4000 }, (_, at) => `w${at}`);

describe("an answer is bound to the script", { timeout: 60_000 }, () => {
  const script = join(folder, "bound.sh");
  const invoke = verbEntry("tool.invoke");
  if (invoke === null) throw new Error("the catalog has no tool.invoke");
  test.each<[string, readonly Request[], JsonObject?]>([
    ["above the folder it runs in", [request("proc.exec", SUB, "sh", "../bound.sh")]],
    ["by its absolute path", [request("proc.exec", SUB, "sh", script)]],
    ["after thousands of arguments", [running("sh", "-e", ...MANY, "bound.sh")]],
    ["as the value of a long option", [running("node", "--require=./bound.sh")]],
    ["as the value of a short option", [running("make", "-fbound.sh")]],
    ["as a response file", [running("cc", "@bound.sh")]],
    ["on a line of its own", [running("sh", "-c", "true && ./bound.sh>out")]],
    ["in a shell command line", [request("proc.eval", folder)], { line: "x=1; ./bound.sh", in: folder, root: "ro" }],
    ["if only the tool needs approval", [{ verb: invoke, values: [] }, running("sh", "bound.sh")]],
    ["as the input of a program", [running("sh"), request("fs.read", script)]],
  ])("%s", async (_title, requests, input = {}) => {
    writeFileSync(script, "one");
    const before = await pinned(requests, input);
    expect(before.binding?.bound).toContain(script);
    expect((await pinned(requests, input)).digest).toBe(before.digest);
    writeFileSync(script, "two");
    expect((await pinned(requests, input)).digest).not.toBe(before.digest);
    rmSync(script);
    expect((await pinned(requests, input)).digest).not.toBe(before.digest);
  });

  test("and to the code of a project's tool, whatever it needs", async () => {
    const one = await pinned([], {}, "source 1");
    expect(one.binding).toEqual({ bound: ["the code of the tool some_tool"], unbound: [] });
    expect((await pinned([], {}, "source 2")).digest).not.toBe(one.digest);
    expect(await pinned([], {}, null)).toEqual({ digest: null, binding: null });
  });
});

describe("the approval request says what is not bound", () => {
  test("files that the program may read are always listed as unbound", async () => {
    expect((await pinned([running("make")])).binding).toEqual({
      bound: [],
      unbound: ["other files that the program reads"],
    });
  });

  test("a script behind a name that differs for each process, and a folder", async () => {
    const { binding } = await pinned([running("sh", "/proc/self/cwd/run.sh", "sub")]);
    expect(binding?.unbound).toEqual(["/proc/self/cwd/run.sh", SUB, "other files that the program reads"]);
  });

  test("arguments beyond the limit", async () => {
    const line = Array.from({ length: 9000 }, (_, at) => `w${at}`).join(" ");
    const { binding } = await pinned([request("proc.eval", folder)], { line });
    expect(binding?.unbound).toContain("files named after the first 8192 words");
  });
});

test("a file too large to be read is another one once it changes", async () => {
  const large = join(folder, "large");
  writeFileSync(large, "");
  truncateSync(large, 17 * 1024 * 1024);
  const one = await digestOf(running("cat", "large"));
  expect(await digestOf(running("cat", "large"))).toBe(one);
  writeFileSync(large, "x", { flag: "r+" });
  expect(await digestOf(running("cat", "large"))).not.toBe(one);
});

test("pipes, folders and dangling links do not block the daemon", async () => {
  const pipes = ["a", "b", "c", "d", "e", "f"];
  execFileSync(
    "mkfifo",
    pipes.map((name) => join(folder, name)),
  );
  symlinkSync(join(folder, "absent"), join(folder, "gone"));
  expect(await digestOf(running("cat", ...pipes, "gone", ".", ".."))).toBeNull();
  expect(await Promise.all(pipes.map((name) => digestOf(running("cat", name))))).toEqual(pipes.map(() => null));
});
