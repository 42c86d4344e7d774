// `bin/ambit` and the code cache it writes: used for the owner alone, never code of another user, never a reason to fail.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { removeState } from "../house/remove-state.ts";
import { root } from "./ambit.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) removeState(folder);
});

/** An installation in a path with spaces and an umlaut, with programs of one line. */
function install(says: string): string {
  const folder = join(mkdtempSync(join(tmpdir(), "ambit start ü-")), "a b");
  folders.push(join(folder, ".."));
  mkdirSync(join(folder, "bin"), { recursive: true });
  mkdirSync(join(folder, "dist"));
  for (const name of ["ambit", "package.json"]) copyFileSync(join(root, "bin", name), join(folder, "bin", name));
  for (const each of [join(folder, ".."), folder]) chmodSync(each, 0o755);
  writeFileSync(join(folder, "dist", "ambit.cjs"), bundle(program(says)));
  writeFileSync(join(folder, "dist", "mcp.cjs"), bundle(program("mcp")));
  return folder;
}

function program(says: string): string {
  return `(function(exports,require){exports.start=()=>{require("node:fs").writeSync(1,${JSON.stringify(says)});};})`;
}

function bundle(text: string): string {
  return `/*${digestOf(text)}*/${text}\n`;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function start(folder: string, more: { readonly uid?: number; readonly word?: string } = {}): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, "bin", "ambit"), ...(more.word ?? "can").split(" ")],
    {
      encoding: "utf8",
      timeout: 20_000,
      env: { PATH: process.env["PATH"] },
      ...(more.uid === undefined ? {} : { uid: more.uid, gid: more.uid }),
    },
  );
  expect(status, stderr).toBe(0);
  expect(stderr).toBe("");
  return stdout;
}

function compiledOf(folder: string): readonly string[] {
  return readdirSync(join(folder, "dist")).filter((name) => name.endsWith(".compiled"));
}

const compiled = `ambit-${process.version}-${process.arch}.compiled`;
const isRoot = process.getuid?.() === 0;
const otherUser = 65_534;

/** A cache that V8 accepts for the honest program, since the lengths are equal, and that prints something else. */
function poisoned(honest: string, evil: string): Buffer {
  const folder = install(evil);
  expect(start(folder)).toBe(evil);
  const whole = readFileSync(join(folder, "dist", compiled));
  const mark = Buffer.from(digestOf(program(honest)), "latin1");
  return Buffer.concat([mark, whole.subarray(64, -64), mark]);
}

describe("the first words select the program", () => {
  test.each([
    ["can", "whole", "ambit-"],
    ["mcp serve", "mcp", "mcp-"],
    ["mcp list", "whole", "ambit-"],
    ["mcps", "whole", "ambit-"],
  ])("%s", (word, says, cache) => {
    const folder = install("whole");
    expect(start(folder, { word })).toBe(says);
    expect(compiledOf(folder)).toEqual([compiled.replace("ambit-", cache)]);
  });
});

test("it is started through a link, from anywhere", () => {
  const folder = install("whole");
  symlinkSync(join(folder, "bin", "ambit"), join(folder, "..", "link"));
  for (const [word, says] of [
    ["mcp serve", "mcp"],
    ["can", "whole"],
  ] as const) {
    const { stdout } = spawnSync(process.execPath, [join(folder, "..", "link"), ...word.split(" ")], {
      encoding: "utf8",
      cwd: "/",
    });
    expect(stdout).toBe(says);
  }
});

describe("the compiled program", () => {
  test("is stored under one name per version of Node", () => {
    const folder = install("honest");
    expect(start(folder)).toBe("honest");
    expect(compiledOf(folder)).toEqual([compiled]);
    const before = readFileSync(join(folder, "dist", compiled));
    expect(start(folder)).toBe("honest");
    expect(readFileSync(join(folder, "dist", compiled)).equals(before)).toBe(true);
  });

  test("of another bundle of the same length is not used, and is replaced", () => {
    const folder = install("honest");
    start(folder);
    writeFileSync(join(folder, "dist", "ambit.cjs"), bundle(program("change")));
    expect(start(folder)).toBe("change");
    expect(start(folder)).toBe("change");
    const mark = readFileSync(join(folder, "dist", compiled)).toString("latin1", 0, 64);
    expect(mark).toBe(digestOf(program("change")));
  });

  const broken: readonly (readonly [string, (whole: Buffer) => Uint8Array])[] = [
    ["empty", () => Buffer.alloc(0)],
    ["cut off", (whole) => whole.subarray(0, -100)],
    ["only begun", (whole) => whole.subarray(0, 64)],
    ["zeros after a valid beginning", (whole) => Buffer.concat([whole.subarray(0, 200), Buffer.alloc(whole.length)])],
    ["of other bytes between valid ends", (whole) => Buffer.from(whole).fill("x", 64, whole.length - 64)],
  ];
  for (const [title, breaks] of broken) {
    test(`that is ${title} is not used, and is repaired`, () => {
      const folder = install("honest");
      start(folder);
      const whole = readFileSync(join(folder, "dist", compiled));
      writeFileSync(join(folder, "dist", compiled), breaks(whole));
      expect(start(folder)).toBe("honest");
      expect(readFileSync(join(folder, "dist", compiled)).length).toBeGreaterThan(200);
      expect(start(folder)).toBe("honest");
    });
  }
});

describe("a cache is used only if the owner alone can write it", () => {
  const place = (folder: string): string => join(folder, "dist", compiled);
  const rows: readonly (readonly [string, string, (folder: string) => void])[] = [
    ["as the owner left it, it is run: the others are stopped by the check", "poison", () => {}],
    ["writable by the group", "honest", (folder) => chmodSync(place(folder), 0o664)],
    ["writable by every user", "honest", (folder) => chmodSync(place(folder), 0o646)],
    [
      "a link",
      "honest",
      (folder) => {
        renameSync(place(folder), join(folder, "elsewhere"));
        symlinkSync(join(folder, "elsewhere"), place(folder));
      },
    ],
    ...(isRoot
      ? [["of another user", "honest", (folder: string) => chownSync(place(folder), otherUser, otherUser)] as const]
      : []),
  ];
  for (const [title, says, change] of rows) {
    test(title, () => {
      const folder = install("honest");
      writeFileSync(place(folder), poisoned("honest", "poison"), { mode: 0o644 });
      change(folder);
      expect(start(folder)).toBe(says);
    });
  }

  test("a user who does not own the program leaves no cache, and can still start it", () => {
    const folder = install("honest");
    if (isRoot) chmodSync(join(folder, "dist"), 0o777);
    else chmodSync(join(folder, "dist"), 0o555);
    expect(start(folder, isRoot ? { uid: otherUser } : {})).toBe("honest");
    expect(compiledOf(folder)).toEqual([]);
    chmodSync(join(folder, "dist"), 0o755);
  });
});

test("a checkout without a build says how to build it", () => {
  const folder = install("honest");
  rmSync(join(folder, "dist"), { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, [join(folder, "bin", "ambit"), "can"], { encoding: "utf8" });
  expect(stderr).toMatch(/not built yet.*setup\.mjs/);
  expect(status).toBe(1);
});
