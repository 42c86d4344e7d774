// Pins: what stands below a writable root and cannot be changed, moved away, or seen. As root and as an ordinary user.
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
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
import { PayloadWriter } from "../../src/sandbox/frame.ts";
import { bytes, type Owner, PROJECT, start } from "./owner.ts";
import { users, variants } from "./program.ts";

const [READ_ONLY, HELD, MASKED] = [1, 2, 3];
const [LEAVE, FOLDER, FILE] = [0, 1, 2];
const [ABSENT, IS_HELD, MADE, LINK] = [0, 1, 2, 3];

type Pin = readonly [action: number, absent: number, path: string];

const callers = variants.flatMap(([variant, program]) =>
  users.map((user) => [variant, user ?? "self", program] as const),
);

describe.each(callers)("%s, as %s", (_variant, caller, program) => {
  const user = caller === "self" ? null : caller;
  let root: string;
  let outside: string;
  let owner: Owner | undefined;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "ambit-pins-"));
    outside = mkdtempSync(join(tmpdir(), "ambit-pins-outside-"));
    for (const folder of [".git/hooks", "sub/deep", "empty"]) mkdirSync(join(root, folder), { recursive: true });
    for (const file of [".git/config", ".git/HEAD", ".git/hooks/pre-commit", ".env", "sub/deep/file", "plain"])
      writeFileSync(join(root, file), `of ${file}\n`);
    if (user !== null) for (const folder of [root, outside]) own(folder, user);
  });

  afterEach(async () => {
    expect(await owner?.end()).not.toBe(99);
    owner = undefined;
    for (const folder of [root, outside]) rmSync(folder, { recursive: true, force: true });
  });

  async function hold(...pins: readonly Pin[]): Promise<readonly number[]> {
    return holdBelow([PROJECT, pins]);
  }

  async function holdBelow(...bases: readonly (readonly [string, readonly Pin[]])[]): Promise<readonly number[]> {
    owner = await begin(...bases);
    return (await owner.ready()).pins;
  }

  async function begin(...bases: readonly (readonly [string, readonly Pin[]])[]): Promise<Owner> {
    const { owner: started } = await start({ program, root, user });
    owner = started;
    for (const [base, pins] of bases) {
      started.send("T", new PayloadWriter().text(bytes(base)).done());
      for (const [action, absent, path] of pins)
        started.send("P", new PayloadWriter().u8(action).u8(absent).text(bytes(path)).done());
    }
    started.send("G");
    return started;
  }

  /** The script's lines that succeeded, by number. */
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
    expect(await attempts("echo x > .git/config", "rm -r .git", "mv sub other")).toEqual([0, 1, 2]);
  });

  test("read-only: a file can be read and nothing else", async () => {
    expect(await hold([READ_ONLY, LEAVE, ".git/config"])).toEqual([IS_HELD]);
    const tried = ["grep -q of .git/config", "echo x > .git/config", "echo x >> .git/config", "rm -f .git/config"];
    expect(
      await attempts(...tried, "mv .git/config x", "mv plain .git/config", "chmod 777 .git/config", "touch .git/new"),
    ).toEqual([0, 7]);
    expect(readFileSync(join(root, ".git/config"), "utf8")).toBe("of .git/config\n");
  });

  test("read-only: a folder and all it holds, at any depth", async () => {
    expect(await hold([READ_ONLY, LEAVE, ".git/hooks"], [READ_ONLY, LEAVE, "sub"])).toEqual([IS_HELD, IS_HELD]);
    const tried = [
      "cat .git/hooks/pre-commit",
      "echo x > .git/hooks/pre-commit",
      "touch .git/hooks/new",
      "mv .git/hooks h",
    ];
    expect(await attempts(...tried, "rm -rf .git/hooks", "touch sub/deep/x", "ln plain sub/x", "touch .git/x")).toEqual(
      [0, 7],
    );
  });

  test("a pinned name's folder can be moved away, unless it is held itself", async () => {
    await hold([READ_ONLY, LEAVE, ".git/hooks"]);
    expect(await attempts("mv .git elsewhere && mkdir -p .git/hooks && touch .git/hooks/pre-push")).toEqual([0]);
  });

  test("held: can be changed inside, but neither moved nor removed nor replaced", async () => {
    expect(await hold([READ_ONLY, LEAVE, ".git/hooks"], [HELD, LEAVE, ".git"])).toEqual([IS_HELD, IS_HELD]);
    const tried = ["echo x > .git/HEAD", "touch .git/index", "mv .git elsewhere", "rm -rf .git", "mv -T empty .git"];
    expect(await attempts(...tried, "touch .git/hooks/x", "mv .git/hooks .git/h", "test -d .git")).toEqual([0, 1, 7]);
    expect(existsSync(join(root, ".git/hooks/pre-commit"))).toBe(true);
  });

  test("masked: a file is empty and a folder has nothing in it, and neither takes anything", async () => {
    expect(await hold([MASKED, LEAVE, ".env"], [MASKED, LEAVE, "sub"])).toEqual([IS_HELD, IS_HELD]);
    const tried = ["test -e .env", "test -s .env", "grep -q . .env", "ls sub", 'test -n "$(ls -A sub)"', "touch sub/x"];
    expect(await attempts(...tried, "mv .env e", "rm .env", "cat sub/deep/file", "rmdir sub")).toEqual([0, 3]);
    expect(readFileSync(join(root, ".env"), "utf8")).toBe("of .env\n");
  });

  test("a deeper pin lies on top of a higher one, in whatever order they are sent", async () => {
    const pins: readonly Pin[] = [
      [MASKED, LEAVE, "sub/deep/file"],
      [HELD, LEAVE, "sub/deep"],
      [READ_ONLY, LEAVE, "sub"],
    ];
    expect(await hold(...pins)).toEqual([IS_HELD, IS_HELD, IS_HELD]);
    // What is held inside something read-only is read-only too: a pin never gives more than the one above it.
    expect(await attempts("touch sub/x", "touch sub/deep/x", "test -s sub/deep/file", "ls sub/deep")).toEqual([3]);
  });

  test("two bases, one within the other and within a pin of the first", async () => {
    const outcomes = await holdBelow(
      [
        `${PROJECT}/sub`,
        [
          [READ_ONLY, FILE, "deep/file"],
          [MASKED, FOLDER, ".ambit"],
        ],
      ],
      [PROJECT, [[HELD, LEAVE, "sub"]]],
    );
    expect(outcomes).toEqual([IS_HELD, MADE, IS_HELD]);
    expect(await attempts("mv sub x", "echo x > sub/deep/file", "touch sub/.ambit/x", "touch sub/deep/y")).toEqual([3]);
  });

  test("absent: left so, or made and then held", async () => {
    const outcomes = await hold(
      [READ_ONLY, LEAVE, ".vscode"],
      [READ_ONLY, FOLDER, ".ambit/agents"],
      [READ_ONLY, FOLDER, ".ambit"],
      [READ_ONLY, FILE, ".bashrc"],
      [READ_ONLY, FILE, "nowhere/at/all"],
      [READ_ONLY, LEAVE, "plain/below"],
    );
    // Parents come first, so what lies below them can be made; nothing is made only to be a parent.
    expect(outcomes).toEqual([ABSENT, MADE, MADE, MADE, ABSENT, ABSENT]);
    expect(
      await attempts("mkdir .vscode", "touch .ambit/x", "echo x > .bashrc", "rmdir .ambit", "rm -f .bashrc"),
    ).toEqual([0]);
    expect(readdirSync(join(root, ".ambit"))).toEqual(["agents"]);
    expect(lstatSync(join(root, ".bashrc")).size).toBe(0);
    if (user !== null) expect(lstatSync(join(root, ".ambit")).uid).toBe(user);
  });

  test("what exists in another form is held as it is", async () => {
    expect(await hold([READ_ONLY, FILE, "sub"], [READ_ONLY, FOLDER, "plain"])).toEqual([IS_HELD, IS_HELD]);
    expect(await attempts("touch sub/x", "echo x > plain")).toEqual([]);
  });

  test.each([
    ["the name itself", "linked", "linked"],
    ["a folder on the way", "linked", "linked/inner"],
    ["a dangling name", "dangling", "dangling"],
    ["bubblewrap's old root", "oldroot", "oldroot/pwned"],
    ["a way through /proc", "magic", "magic/etc"],
  ])("a link is never followed: %s", async (_title, name, path) => {
    const targets = {
      linked: outside,
      dangling: join(outside, "new"),
      oldroot: `/oldroot${outside}`,
      magic: "/proc/1/root",
    };
    symlinkSync(targets[name as keyof typeof targets], join(root, name));
    mkdirSync(join(outside, "inner"));
    for (const absent of [LEAVE, FOLDER, FILE])
      for (const action of [READ_ONLY, HELD, MASKED]) {
        expect(await hold([action, absent, path])).toEqual([LINK]);
        await owner?.end();
      }
    expect(readdirSync(outside)).toEqual(["inner"]);
    expect(lstatSync(join(root, name)).isSymbolicLink()).toBe(true);
  });

  test.skipIf(process.getuid?.() !== 0)(
    "a folder of somebody else's that nobody here writes to stays as it is",
    async () => {
      // Its mode is not ours to change, so no command makes the name there, either.
      const stranger = 54_321;
      chownSync(join(root, "sub"), stranger, stranger);
      expect(await hold([READ_ONLY, FOLDER, "sub/.vscode"], [READ_ONLY, FILE, "sub/config"])).toEqual([ABSENT, ABSENT]);
      expect(await attempts("mkdir sub/.vscode", "chmod 777 sub", "touch sub/x", "ls sub")).toEqual([3]);
    },
  );

  // Root is started with the right to write anywhere here.
  test.skipIf(user === null && process.getuid?.() === 0)(
    "a folder of our own that is closed for now is a failure: a command could open it",
    async () => {
      chmodSync(join(root, "sub"), 0o555);
      const failing = await begin([PROJECT, [[READ_ONLY, FOLDER, "sub/.vscode"]]]);
      expect(await failing.failure()).toMatchObject({ stage: "pin 0" });
      await failing.exit();
      chmodSync(join(root, "sub"), 0o755);
    },
  );

  test("a base that is missing, no folder, or reached through a link is a failure of the whole", async () => {
    symlinkSync("sub", join(root, "linked"));
    for (const base of ["/nonesuch", `${PROJECT}/plain`, `${PROJECT}/linked`]) {
      const failing = await begin([base, [[READ_ONLY, LEAVE, "deep"]]]);
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
