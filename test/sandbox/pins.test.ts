// Pinned names in a real sandbox: held by the kernel, looked after from outside, and put aside when they appear.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LinuxSandboxes } from "../../src/node/sandbox/linux-sandboxes.ts";
import type { Pin, Plan } from "../../src/sandbox/plan.ts";
import { ownFolder, planFor, ranOf, removeFolder, sandboxesIn, segments, shell, type Told } from "./ground.ts";
import { processesLeft } from "./leftovers.ts";

let folder = "";
let sandboxes: LinuxSandboxes;
beforeEach(() => {
  folder = ownFolder();
  sandboxes = sandboxesIn(folder);
});
afterEach(async () => {
  await sandboxes.end(null);
  const left = await processesLeft(folder);
  removeFolder(folder);
  removeFolder(`${folder}-aside`);
  expect(left).toEqual([]);
});

function pinned(...pins: readonly Pin[]): Plan {
  return planFor(folder, { pinned: [{ base: segments(folder), pins }] });
}

function denied(told: Told): readonly string[] {
  return ranOf(told).denials.map(({ code, request, times }) => `${code} ${request} ${times}`);
}

const CHANGED = { kind: "ended", because: "pin_changed" };
const watched = (...path: readonly string[]): Pin => ({ path, action: "readonly", absent: "leave" });

describe("a name that is not there", () => {
  test("may be left alone: one letter beside it is nobody's business", async () => {
    const told = await shell(sandboxes, pinned(watched(".bashrc")), "echo x > .bashrcs");
    expect([ranOf(told).ending, denied(told)]).toEqual([{ kind: "exited", status: 0 }, []]);
    expect(existsSync(join(folder, ".bashrcs"))).toBe(true);
  });

  test("and appears is put aside, told, and the sandbox ends", async () => {
    const told = await shell(sandboxes, pinned(watched(".bashrc")), "echo evil > .bashrc; setsid sleep 600 &");
    expect(ranOf(told).ending).toEqual(CHANGED);
    expect(denied(told)).toEqual([`pin_changed fs.write ${folder}/.bashrc 1`]);
    expect(existsSync(join(folder, ".bashrc"))).toBe(false);
    expect(readFileSync(join(`${folder}-aside`, "aside-.bashrc.1"), "utf8")).toBe("evil\n");
    expect(await processesLeft(folder)).toEqual([]);
    // Nothing is written over what lies there already.
    await shell(sandboxes, pinned(watched(".bashrc")), "echo again > .bashrc");
    expect(readdirSync(`${folder}-aside`).sort()).toEqual(["aside-.bashrc.1", "aside-.bashrc.2"]);
  });

  test("and appears in a new folder: the folder stays, the name does not", async () => {
    const told = await shell(sandboxes, pinned(watched(".config", "fish")), "mkdir -p .config/fish .config/other");
    expect(ranOf(told).ending).toEqual(CHANGED);
    expect(readdirSync(join(folder, ".config"))).toEqual(["other"]);
  });

  test("the folder it would lie in may appear", async () => {
    const plan = pinned({ path: [".config"], action: "held", absent: "leave" }, watched(".config", "fish"));
    const told = await shell(sandboxes, plan, "mkdir -p .config/other");
    expect(ranOf(told).ending).toEqual({ kind: "exited", status: 0 });
  });

  test("and a link on the way to it: the link goes, what it leads to is not touched", async () => {
    mkdirSync(join(folder, "elsewhere", "fish"), { recursive: true });
    const told = await shell(sandboxes, pinned(watched(".config", "fish")), "ln -s elsewhere .config");
    expect(ranOf(told).ending).toEqual(CHANGED);
    expect(existsSync(join(folder, "elsewhere", "fish"))).toBe(true);
    expect(readdirSync(folder)).toEqual(["elsewhere"]);
  });

  test("may be made, and is then held: told as nothing, writable for nobody", async () => {
    const plan = pinned({ path: [".ambit"], action: "readonly", absent: "folder" });
    const told = await shell(sandboxes, plan, "touch .ambit/x; mv .ambit y; rmdir .ambit");
    expect(ranOf(told).ending.kind).toBe("exited");
    expect(denied(told)).toEqual([]);
    expect(readdirSync(join(folder, ".ambit"))).toEqual([]);
    expect(ranOf(await shell(sandboxes, plan, "exit 0")).ending).toEqual({ kind: "exited", status: 0 });
  });
});

describe("a name that is there", () => {
  test("cannot be changed, moved, or taken away with its folder", async () => {
    mkdirSync(join(folder, ".git", "hooks"), { recursive: true });
    const before = statSync(join(folder, ".git", "hooks")).ino;
    const plan = pinned({ path: [".git"], action: "held", absent: "leave" }, watched(".git", "hooks"));
    const told = await shell(
      sandboxes,
      plan,
      "echo x > .git/hooks/pre-commit; mv .git/hooks h; mv .git g; rm -rf .git/hooks; echo ok > .git/free",
    );
    expect(ranOf(told).ending).toEqual({ kind: "exited", status: 0 });
    // `mv` makes copies of what it cannot move.
    expect(statSync(join(folder, ".git", "hooks")).ino).toBe(before);
    expect(readdirSync(join(folder, ".git")).sort()).toEqual(["free", "hooks"]);
    expect(readdirSync(join(folder, ".git", "hooks"))).toEqual([]);
  });

  test("and is replaced from outside while a command runs ends the sandbox", async () => {
    writeFileSync(join(folder, "kept"), "one");
    const replace = (): void => {
      writeFileSync(join(folder, "new"), "two");
      renameSync(join(folder, "new"), join(folder, "kept"));
    };
    const told = await shell(sandboxes, pinned(watched("kept")), "echo begun; sleep 0.3", {
      sinks: { output: replace, errors: () => {} },
    });
    expect(ranOf(told).ending).toEqual(CHANGED);
    // It is somebody's file: told, not put aside.
    expect(readFileSync(join(folder, "kept"), "utf8")).toBe("two");
    expect(existsSync(`${folder}-aside`)).toBe(false);
  });

  test("masked is not to be seen", async () => {
    mkdirSync(join(folder, "secret"));
    writeFileSync(join(folder, "secret", "key"), "key");
    writeFileSync(join(folder, "token"), "key");
    const plan = pinned(
      { path: ["secret"], action: "masked", absent: "leave" },
      { path: ["token"], action: "masked", absent: "leave" },
    );
    const told = await shell(sandboxes, plan, "cat secret/key token; ls -A secret");
    expect(told.output).toBe("");
  });

  test("that is a link is told as not held", async () => {
    mkdirSync(join(folder, "hooks"));
    symlinkSync("hooks", join(folder, "linked"));
    const told = await shell(sandboxes, pinned(watched("linked")), "exit 0");
    expect(ranOf(told).enforcement.find(({ axis }) => axis === "root")?.note).toContain("linked");
    expect(denied(told)).toEqual([]);
  });

  test.each([
    ["by another link", "rm linked; ln -s / linked", ["aside-linked.1"]],
    ["by a folder", "rm linked; mkdir linked; echo evil > linked/pre-commit", ["aside-linked.1"]],
    ["by nothing", "rm linked", null],
  ])("that is a link and is replaced %s: it is put back, and what was there is put aside", async (_, line, aside) => {
    mkdirSync(join(folder, "hooks"));
    symlinkSync("hooks", join(folder, "linked"));
    const told = await shell(sandboxes, pinned(watched("linked"), watched("linked", "pre-commit")), line);
    expect(ranOf(told).ending).toEqual(CHANGED);
    expect(denied(told)).toContain(`pin_changed fs.write ${folder}/linked 1`);
    expect(readlinkSync(join(folder, "linked"))).toBe("hooks");
    expect(existsSync(`${folder}-aside`) ? readdirSync(`${folder}-aside`) : null).toEqual(aside ?? []);
  });

  test("that is a link and says the same as before is the same", async () => {
    symlinkSync("hooks", join(folder, "linked"));
    const told = await shell(sandboxes, pinned(watched("linked")), "rm linked; ln -s hooks linked");
    expect(ranOf(told).ending).toEqual({ kind: "exited", status: 0 });
  });
});
