// Pins: names below a tree that cannot be changed, or seen. As root and as an ordinary user.
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PayloadWriter } from "../../src/sandbox/plan/start/frame.ts";
import { bytes, type Owner, PROJECT, start } from "./owner.ts";
import { users, variants } from "./program.ts";

const [READ_ONLY, MASKED] = [1, 2];
const [ABSENT, IS_HELD] = [0, 1];

type Pin = readonly [action: number, path: string];

const callers = variants.flatMap(([variant, program]) =>
  users.map((user) => [variant, user ?? "self", program] as const),
);

describe.each(callers)("%s, as %s", (_variant, caller, program) => {
  const user = caller === "self" ? null : caller;
  let root: string;
  let owner: Owner | undefined;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "ambit-pins-"));
    mkdirSync(join(root, "sub", "deep"), { recursive: true });
    for (const file of ["sub/deep/file", "plain", "other"]) writeFileSync(join(root, file), `of ${file}\n`);
    if (user !== null) own(root, user);
  });

  afterEach(async () => {
    expect(await owner?.end()).not.toBe(99);
    owner = undefined;
    rmSync(root, { recursive: true, force: true });
  });

  async function begin(base: string, pins: readonly Pin[]): Promise<Owner> {
    const { owner: started } = await start({ program, root, user });
    owner = started;
    started.send("T", new PayloadWriter().text(bytes(base)).done());
    for (const [action, path] of pins) started.send("P", new PayloadWriter().u8(action).text(bytes(path)).done());
    started.send("G");
    return started;
  }

  async function hold(...pins: readonly Pin[]): Promise<readonly number[]> {
    return (await (await begin(PROJECT, pins)).ready()).pins;
  }

  /** The numbers of the script's lines that succeeded. */
  async function attempts(...lines: readonly string[]): Promise<readonly number[]> {
    const script = lines.map((line, at) => `(${line}) >/dev/null 2>&1 && echo ${at}`).join("\n");
    const { output } = await (owner as Owner).run({ argv: ["sh", "-c", `${script}\nexit 0`], directory: PROJECT });
    return output
      .split("\n")
      .filter((line) => line !== "")
      .map(Number);
  }

  test("without a pin everything below the root may be changed", async () => {
    await hold();
    expect(await attempts("echo x > plain", "rm -r sub")).toEqual([0, 1]);
  });

  test("read-only: a file or a folder can be read and nothing else", async () => {
    expect(await hold([READ_ONLY, "plain"], [READ_ONLY, "sub"])).toEqual([IS_HELD, IS_HELD]);
    const tried = ["grep -q of plain", "echo x > plain", "echo x >> plain", "rm -f plain", "mv other plain"];
    expect(await attempts(...tried, "cat sub/deep/file", "touch sub/deep/x", "mv sub x", "touch new")).toEqual([
      0, 5, 8,
    ]);
    expect(readFileSync(join(root, "plain"), "utf8")).toBe("of plain\n");
  });

  test("masked: a file is empty and a folder has nothing in it, and neither can be written", async () => {
    expect(await hold([MASKED, "plain"], [MASKED, "sub"])).toEqual([IS_HELD, IS_HELD]);
    const tried = ["test -e plain", "test -s plain", "ls sub", 'test -n "$(ls -A sub)"', "touch sub/x", "rm plain"];
    expect(await attempts(...tried, "cat sub/deep/file", "rmdir sub")).toEqual([0, 2]);
    expect(readFileSync(join(root, "plain"), "utf8")).toBe("of plain\n");
  });

  test("a missing name stays missing: nothing is created", async () => {
    expect(await hold([READ_ONLY, "none"], [MASKED, "nowhere/at/all"], [READ_ONLY, "plain/below"])).toEqual([
      ABSENT,
      ABSENT,
      ABSENT,
    ]);
    expect(readdirSync(root).sort()).toEqual(["other", "plain", "sub"]);
  });

  test.each(["linked", "linked/inner", "magic/etc"])("a link fails the setup: %s", async (path) => {
    symlinkSync("sub", join(root, "linked"));
    symlinkSync("/proc/1/root", join(root, "magic"));
    for (const action of [READ_ONLY, MASKED]) {
      const failing = await begin(PROJECT, [[action, path]]);
      expect((await failing.failure()).stage).toBe("pin 0");
      expect(await failing.exit()).toBe(125);
    }
  });

  test("a base that is missing, not a folder, or behind a link fails the setup", async () => {
    symlinkSync("sub", join(root, "linked"));
    for (const base of ["/nonesuch", `${PROJECT}/plain`, `${PROJECT}/linked`]) {
      const failing = await begin(base, [[READ_ONLY, "deep"]]);
      expect((await failing.failure()).stage).toBe("pin 0");
      expect(await failing.exit()).toBe(125);
    }
  });
});

function own(folder: string, user: number): void {
  chownSync(folder, user, user);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) own(path, user);
    else chownSync(path, user, user);
  }
}
