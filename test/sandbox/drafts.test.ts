// Drafts of real sandboxes: a program's writes are in its draft and not in the root, masked names stay invisible whatever changes
// around them, and without a draft nothing runs.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DraftFolders } from "../../src/sandbox/drafts/draft-folders.ts";
import type { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import type { Plan } from "../../src/sandbox/plan/plan.ts";
import { pause } from "../house/pause.ts";
import {
  type CommandOutput,
  changedBy,
  draftsIn,
  OWNER,
  ownFolder,
  planFor,
  ranOf,
  removeFolder,
  sandboxesIn,
  segments,
  shell,
} from "./fixture.ts";
import { processesLeft, processesNaming } from "./leftovers.ts";

const isRoot = process.getuid?.() === 0;

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
  expect(left).toEqual([]);
});

function masking(...names: readonly string[]): Plan {
  return planFor(folder, { masked: names.map((name) => segments(join(folder, name))) });
}

function write(name: string, text: string): void {
  mkdirSync(join(folder, name, ".."), { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** Every name below, with its content. */
function contents(): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true }) as string[];
  return Object.fromEntries(
    names.sort().map((name) => {
      const found = lstatSync(join(folder, name));
      return [name, found.isFile() ? `${found.mode} ${readFileSync(join(folder, name), "utf8")}` : `${found.mode}`];
    }),
  );
}

describe("a program's writes are in its draft, and the root is unchanged", () => {
  test.each([
    ["a file that is run later", "echo evil > .bashrc; mkdir .vscode; echo evil > .vscode/tasks.json"],
    ["a folder of settings replaced by another", "rm -r .claude; mkdir .claude; echo evil > .claude/settings.json"],
    ["an empty folder removed and created again", "rmdir .idea; mkdir .idea; echo evil > .idea/workspace.xml"],
    ["the repository moved away", "mv .git x; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit"],
    ["a hook in the repository", "echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit"],
    ["a file replaced by rename", "echo evil > new; mv new .git/config"],
    ["a link in place of a folder", "rm -r .claude; ln -s / .claude"],
    ["a hard link to a file of the root", "ln .git/config linked; echo evil >> linked"],
    ["modes", "chmod 777 .git/config .git; chmod 000 .claude"],
    ["times", "touch -d 2001-01-01 .git/config"],
    ["everything deleted", "rm -rf .[a-z]* *"],
  ])("%s", async (_what, script) => {
    write(".git/config", "[core]\n");
    write(".git/hooks/sample", "");
    write(".claude/settings.json", "{}\n");
    mkdirSync(join(folder, ".idea"));
    const before = contents();
    const told = await shell(sandboxes, planFor(folder), `${script}; echo end`);
    expect([told.errors, told.output]).toEqual(["", "end\n"]);
    expect(contents()).toEqual(before);
    expect(readdirSync(changedBy(told, folder)).length).toBeGreaterThan(0);
  });

  test("also if its sandbox is killed or times out", async () => {
    write("file", "one\n");
    const killed = shell(sandboxes, planFor(folder), "echo two > file; echo begun; sleep 600", {
      sinks: { output: () => void sandboxes.end(null), errors: () => {} },
    });
    const told = await killed;
    expect(ranOf(told).ending).toEqual({ kind: "signalled", signal: 9 });
    expect(readFileSync(join(changedBy(told, folder), "file"), "utf8")).toBe("two\n");
    const plan = planFor(folder);
    const timed = { ...plan, limits: { ...plan.limits, wallMilliseconds: 2_000 } };
    const late = await shell(sandboxes, timed, "echo three > file; setsid sleep 600 & sleep 600");
    expect(ranOf(late).ending).toEqual({ kind: "ended", because: "time" });
    expect(readFileSync(join(changedBy(late, folder), "file"), "utf8")).toBe("three\n");
    expect(readFileSync(join(folder, "file"), "utf8")).toBe("one\n");
  });

  test("two concurrent ones do not see each other", async () => {
    write("file", "one\n");
    const script = (name: string): string =>
      `echo ${name} > file; mkdir -p .git; echo ${name} > .git/${name}; echo written; cat; cat file; ls .git`;
    // Each reads its input to the end, which comes once both have written.
    const heard = new Map<string, string>();
    const haveBothWritten = async function* (): AsyncIterable<Uint8Array> {
      await expect.poll(() => heard.size, { timeout: 60_000 }).toBe(2);
    };
    const run = (session: string): Promise<CommandOutput> => {
      const output = (bytes: Uint8Array): void =>
        void heard.set(session, (heard.get(session) ?? "") + Buffer.from(bytes).toString());
      return shell(sandboxes, planFor(folder), script(session), {
        owner: { ...OWNER, session },
        input: haveBothWritten(),
        sinks: { output, errors: () => {} },
      });
    };
    await Promise.all(["left", "right"].map(run));
    expect([heard.get("left"), heard.get("right")]).toEqual(["written\nleft\nleft\n", "written\nright\nright\n"]);
    expect(readdirSync(folder)).toEqual(["file"]);
  });
});

describe("the draft", () => {
  test("is flushed when it is landed or kept, not by the program and not at its end", async () => {
    const { output } = await shell(sandboxes, planFor(folder), `grep " ${folder} overlay " /proc/self/mounts`);
    expect(output).toMatch(/[,=]volatile[, ]/);
  });

  test("names its root, its start and its masked names", async () => {
    const told = await shell(sandboxes, masking("secret"), "echo x > file");
    const { draft } = ranOf(told);
    const found = lstatSync(folder, { bigint: true });
    expect(draft).toMatchObject({
      root: segments(folder),
      masked: [segments(join(folder, "secret"))],
      rootIdentity: { device: found.dev, inode: found.ino },
      isSealed: true,
    });
    const start = Number((draft?.startNanoseconds ?? 0n) / 1_000_000n);
    expect(Math.abs(Date.now() - start)).toBeLessThan(60_000);
  });

  test("starts before any change of the person during the command, however soon", async () => {
    write("file", "one\n");
    const told = await shell(sandboxes, planFor(folder), "echo x > new; echo begun; sleep 0.2", {
      sinks: { output: () => write("file", "two\n"), errors: () => {} },
    });
    const changed = lstatSync(join(folder, "file"), { bigint: true }).ctimeNs;
    expect(changed > (ranOf(told).draft?.startNanoseconds ?? changed)).toBe(true);
  });

  test("is not sealed before the last process has exited, also if bubblewrap is killed", async () => {
    const plan = planFor(folder);
    const timed = { ...plan, limits: { ...plan.limits, wallMilliseconds: 1_000 } };
    const told = await shell(sandboxes, timed, "echo one > file; echo begun; setsid sleep 600 & sleep 600", {
      sinks: {
        output: () => {
          for (const one of processesNaming(folder))
            if (/^\d+ \S*bwrap /.test(one)) process.kill(Number.parseInt(one, 10), "SIGKILL");
        },
        errors: () => {},
      },
    });
    expect(processesNaming(folder).filter((one) => one.includes("sleep"))).toEqual([]);
    expect(readdirSync(changedBy(told, folder))).toEqual(["file"]);
  });

  test("can be removed whatever a program left in it", async () => {
    const steps = "[(os.mkdir('0123456789'), os.chdir('0123456789')) for _ in range(600)]";
    const deep = `/usr/bin/python3 -c "import os; ${steps}"`;
    const odd =
      "mkdir -p a/b && touch a/b/c && chmod 000 a/b a; mkfifo pipe; touch \"$(printf '\\377\\001')\"; ln -s / out";
    write("gone", "");
    const told = await shell(sandboxes, planFor(folder), `rm gone; ${odd}; ${deep}; echo end`);
    expect([told.errors, told.output]).toEqual(["", "end\n"]);
    const { draft } = ranOf(told);
    await sandboxes.end(null);
    await draftsIn(folder).remove(draft?.id ?? "");
    expect(draftsIn(folder).list()).toEqual([]);
    expect(existsSync("/bin/sh")).toBe(true);
  });

  test.each(["../outside", "d-1-0000000000000000/..", "", "d-x"])("no other folder is ever removed: %j", async (id) => {
    await expect(draftsIn(folder).remove(id)).rejects.toThrow("not the id of a draft");
  });
});

describe("a masked name", () => {
  test("does not exist, in a draft and in a read-only root", async () => {
    write("token", "secret\n");
    write("keys/a", "secret\n");
    for (const mode of ["draft", "ro"] as const) {
      const plan = { ...masking("token", "keys"), root: { path: segments(folder), mode } };
      const told = await shell(sandboxes, plan, "cat token keys/a; ls -A");
      expect(told.output).toBe("");
    }
  });

  test("that a person replaces while the program runs stays invisible", async () => {
    write("sub/token", "secret\n");
    const replace = (): void => {
      write("fresh", "secret\n");
      renameSync(join(folder, "fresh"), join(folder, "sub/token"));
      write("later", "secret\n");
    };
    let output = "";
    const isReplaced = async function* (): AsyncIterable<Uint8Array> {
      await expect.poll(() => output, { timeout: 60_000 }).toBe("begun\n");
    };
    await shell(sandboxes, masking("sub/token", "later"), "echo begun; cat; cat sub/token later; ls -A . sub", {
      input: isReplaced(),
      sinks: {
        output: (bytes) => {
          if (output === "") replace();
          output += Buffer.from(bytes).toString();
        },
        errors: () => {},
      },
    });
    expect(output).toBe("begun\n.:\nsub\n\nsub:\n");
  });

  test("cannot be revealed by renaming, linking or recreating its parent folders", async () => {
    write("sub/deep/token", "secret\n");
    const script = [
      "mv sub other; cat other/deep/token",
      "mkdir -p sub/deep; cat sub/deep/token",
      "rm -rf sub; mkdir -p sub/deep; cat sub/deep/token",
      "ln -s other again; cat again/deep/token",
      "echo end",
    ].join("; ");
    expect((await shell(sandboxes, masking("sub/deep/token"), script)).output).toBe("end\n");
    expect(readFileSync(join(folder, "sub/deep/token"), "utf8")).toBe("secret\n");
  });

  test("does not hide its siblings", async () => {
    write("sub/token", "secret\n");
    write("sub/tokens", "plain\n");
    expect((await shell(sandboxes, masking("sub/token"), "cat sub/tokens")).output).toBe("plain\n");
  });

  test("cannot be enforced in a folder that is written directly: refused", async () => {
    const root = { path: segments(folder), mode: "direct" } as const;
    const { result } = await shell(sandboxes, { ...masking("token"), root }, "touch ran");
    expect(result).toMatchObject({ ok: false, refused: { code: "sandbox_unavailable" } });
    expect(readdirSync(folder)).toEqual([]);
    const direct = await shell(sandboxes, { ...masking(), root }, "touch ran");
    expect([ranOf(direct).draft, readdirSync(folder)]).toEqual([null, ["ran"]]);
  });
});

describe("programs inside a draft", () => {
  beforeEach(() => {
    write("dir/sub/file", "one\n");
    symlinkSync("sub/file", join(folder, "dir", "link"));
  });

  test("move folders of the root, by copying where the kernel cannot rename", async () => {
    const told = await shell(sandboxes, planFor(folder), "mv dir moved && cat moved/link && ls -A");
    expect([told.errors, told.output]).toEqual(["", "one\nmoved\n"]);
  });

  test("use git in it: commit, switch branches, move files", async () => {
    const git = "git -c user.name=a -c user.email=a@b -c init.defaultBranch=main";
    const script = [
      `${git} init -q && git add . && ${git} commit -qm one`,
      // A folder of the root cannot be renamed, and git does not copy: the only operation that takes two steps.
      "git mv dir moved 2>/dev/null || mv dir moved && git add -A",
      "git mv moved/sub/file moved/sub/other",
      `${git} commit -qm two && git switch -qc other && git status --porcelain && git ls-files`,
    ].join(" && ");
    const environment: Plan["environment"] = [
      ["PATH", "/usr/bin:/bin"],
      ["HOME", "/run/ambit/tmp"],
    ];
    const told = await shell(sandboxes, { ...planFor(folder), environment }, script);
    expect(told.output + told.errors).toBe("moved/link\nmoved/sub/other\n");
    expect(existsSync(join(folder, ".git"))).toBe(false);
  });

  test("find the index of a repository up to date: nothing is read again", async () => {
    execFileSync("git", ["init", "-q", folder]);
    execFileSync("git", ["-C", folder, "add", "."]);
    // An index as recent as its files is never trusted.
    await pause(1_100, "times in git's index have a resolution of one second");
    execFileSync("git", ["-C", folder, "update-index", "--refresh"]);
    const told = await shell(sandboxes, planFor(folder), "git -c safe.directory='*' diff-files --name-only; echo end");
    expect(told.output).toBe("end\n");
  });

  test.skipIf(!isRoot)("cannot change a file of a group that is not mapped, and get an error", async () => {
    chownSync(join(folder, "dir/sub/file"), 0, 54_321);
    const told = await shell(sandboxes, planFor(folder), "cat dir/sub/file; echo two >> dir/sub/file; echo end");
    expect(told.output).toBe("one\nend\n");
    expect(told.errors).toMatch(/Value too large|Permission denied|Invalid argument/);
  });
});

describe("where no draft is possible nothing runs, and the reason is reported", () => {
  async function refused(parts: LinuxSandboxes, plan: Plan): Promise<string> {
    const { result } = await shell(parts, plan, "touch ran");
    await parts.end(null);
    if (result.ok) throw new Error("it ran");
    expect(result.refused.code).toBe("sandbox_unavailable");
    expect(result.refused.fix).not.toBeNull();
    return result.refused.message;
  }

  test("the state folder is inside the root, by its name or through a link", async () => {
    mkdirSync(join(folder, "state"));
    symlinkSync(join(folder, "state"), `${folder}-state`);
    for (const state of [join(folder, "state"), `${folder}-state`])
      expect(await refused(sandboxesIn(folder, { drafts: new DraftFolders(state) }), planFor(folder))).toContain(
        "state folder is inside",
      );
    expect(readdirSync(join(folder, "state", "drafts"))).toEqual([]);
  });

  test.skipIf(!isRoot)("a mount is inside the root: it is named", async () => {
    const point = join(folder, "a mount");
    mkdirSync(point);
    execFileSync("/usr/bin/mount", ["-t", "tmpfs", "none", point]);
    try {
      expect(await refused(sandboxesIn(folder), planFor(folder))).toContain(JSON.stringify(point));
    } finally {
      execFileSync("/usr/bin/umount", [point]);
      rmdirSync(point);
    }
  });

  test.skipIf(!isRoot)("the state folder is on an overlay", async () => {
    const [lower, upper, work, state] = ["lower", "upper", "work", "merged"].map((name) =>
      join(`${folder}-over`, name),
    );
    for (const one of [lower, upper, work, state]) mkdirSync(one as string, { recursive: true });
    const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
    execFileSync("/usr/bin/mount", ["-t", "overlay", "overlay", "-o", options, state as string]);
    try {
      const own = sandboxesIn(folder, { drafts: new DraftFolders(state as string) });
      expect(await refused(own, planFor(folder))).toContain("overlayfs");
    } finally {
      execFileSync("/usr/bin/umount", [state as string]);
      removeFolder(`${folder}-over`);
    }
  });

  test.skipIf(isRoot)("the state folder is not writable", async () => {
    mkdirSync(`${folder}-state`, { mode: 0o500 });
    const { result } = await shell(sandboxes, planFor(folder), "touch ran");
    expect(result).toMatchObject({ ok: false, refused: { code: "sandbox_unavailable" } });
    chmodSync(`${folder}-state`, 0o700);
  });
});
