// What a script was when a person was asked about it; and whatever lies in its place, the answer comes.
import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parseArgv } from "../authority/argv.ts";
import { verbEntry } from "../authority/catalog.ts";
import { parsePath } from "../authority/path.ts";
import type { Request } from "../authority/request.ts";
import { pinOf } from "./daemon-pin.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "ambit-pin-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function running(...words: readonly string[]): Request {
  const verb = verbEntry("proc.exec");
  const root = parsePath(folder, { home: null, base: null, protectedPaths: [] });
  const argv = parseArgv([...words]);
  if (verb === null || !root.ok || !argv.ok) throw new Error("the request does not read");
  return {
    verb,
    values: verb.axes.map(({ name }) => (name === "argv" ? argv.value : name === "root" ? root.value : "ro")),
  };
}

test("a program without files of the root has no pin, and a script has the one of its content", async () => {
  expect(await pinOf([running("git", "status")])).toBeNull();
  writeFileSync(join(folder, "run.sh"), "one");
  const one = await pinOf([running("sh", "run.sh")]);
  expect(one).toMatch(/^[0-9a-f]{64}$/);
  expect(await pinOf([running("sh", "./run.sh")])).toBe(one);
  writeFileSync(join(folder, "run.sh"), "two");
  expect(await pinOf([running("sh", "run.sh")])).not.toBe(one);
});

test("pipes, folders and links to nowhere do not keep anybody waiting", async () => {
  const pipes = ["a", "b", "c", "d", "e", "f"];
  execFileSync(
    "mkfifo",
    pipes.map((name) => join(folder, name)),
  );
  symlinkSync(join(folder, "absent"), join(folder, "gone"));
  expect(await pinOf([running("cat", ...pipes, "gone", ".", "..")])).toBeNull();
  expect(await Promise.all(pipes.map((name) => pinOf([running("cat", name)])))).toEqual(pipes.map(() => null));
});
