// `bin/ambit` and the code cache it writes: used for the owner alone, never code of another user, never a reason to fail.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
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
import { ORDINARY } from "../house/ordinary-user.ts";
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

function start(
  folder: string,
  more: { readonly uid?: number; readonly word?: string; readonly home?: string } = {},
): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, "bin", "ambit"), ...(more.word ?? "can").split(" ")],
    {
      encoding: "utf8",
      timeout: 20_000,
      env: { PATH: process.env["PATH"], ...(more.home === undefined ? {} : { HOME: more.home }) },
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

/** As a user with a home of their own, in a mount namespace whose password file has them: only root makes one. */
function startAs(folder: string, home: string): string {
  const passwd = join(home, "passwd");
  writeFileSync(passwd, `ann:x:${ORDINARY}:${ORDINARY}::${home}:/bin/sh\n`);
  const line = 'mount --bind "$0" /etc/passwd && exec setpriv "$@"';
  const user = [`--reuid=${ORDINARY}`, `--regid=${ORDINARY}`, "--clear-groups"];
  const program = [process.execPath, join(folder, "bin", "ambit"), "can"];
  const { status, stdout, stderr } = spawnSync("unshare", ["--mount", "sh", "-c", line, passwd, ...user, ...program], {
    ...{ encoding: "utf8", timeout: 20_000, env: { PATH: process.env["PATH"] } },
  });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

/** An installation of root, and the home of a user with the state folder that the daemon made. */
function rootsInstall(): { readonly folder: string; readonly home: string; readonly code: string } {
  const folder = install("honest");
  const home = mkdtempSync(join(tmpdir(), "ambit-home-"));
  folders.push(home);
  const state = join(home, ".local", "state", "ambit");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  for (const one of [home, join(home, ".local"), join(home, ".local", "state"), state]) {
    chmodSync(one, 0o700);
    chownSync(one, ORDINARY, ORDINARY);
  }
  return { folder, home, code: join(state, "code") };
}

if (isRoot) {
  describe("a program of root, as it is installed for every user", () => {
    test("keeps an ordinary user's cache in their state folder, and uses it", () => {
      const { folder, home, code } = rootsInstall();
      expect(startAs(folder, home)).toBe("honest");
      expect([compiledOf(folder), readdirSync(code)]).toEqual([[], [compiled]]);
      // Another program of the same length that V8 accepts shows that this cache is the one that runs.
      writeFileSync(join(code, compiled), poisoned("honest", "poison"));
      expect(startAs(folder, home)).toBe("poison");
      chmodSync(join(code, compiled), 0o666);
      expect(startAs(folder, home)).toBe("honest");
      expect(startAs(folder, home)).toBe("honest");
    });

    test.each([
      ["its own", ORDINARY, [compiled]],
      ["another user's", 0, []],
    ])("keeps the cache of a user id without a name in $HOME where that is %s", (_, owner, kept) => {
      const { folder, home, code } = rootsInstall();
      chownSync(home, owner, owner);
      chmodSync(home, 0o755);
      expect(start(folder, { uid: ORDINARY, home })).toBe("honest");
      expect(existsSync(code) ? readdirSync(code) : []).toEqual(kept);
    });

    test.each<[string, (state: string, code: string) => void]>([
      ["a state folder that others write", (state) => chmodSync(state, 0o777)],
      ["a state folder of another user", (state) => chownSync(state, otherUser, otherUser)],
      ["no state folder", (state) => rmSync(state, { recursive: true })],
      ["a folder for code that is a link", (_, code) => symlinkSync(tmpdir(), code)],
    ])("leaves no cache in %s, and starts", (_, change) => {
      const { folder, home, code } = rootsInstall();
      const state = join(code, "..");
      change(state, code);
      expect(startAs(folder, home)).toBe("honest");
      expect(compiledOf(folder)).toEqual([]);
      expect(existsSync(join(code, compiled))).toBe(false);
    });
  });
}

test("a checkout without a build says how to build it", () => {
  const folder = install("honest");
  rmSync(join(folder, "dist"), { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, [join(folder, "bin", "ambit"), "can"], { encoding: "utf8" });
  expect(stderr).toMatch(/not built yet.*setup\.mjs/);
  expect(status).toBe(1);
});
