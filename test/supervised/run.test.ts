// Programs in a sandbox without namespaces: what works, what is refused, and that everything ends.
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import type { Plan } from "../../src/sandbox/plan/plan.ts";
import { OWNER, ownFolder, ranOf, removeFolder, segments, shell, stateFolder } from "../sandbox/fixture.ts";
import { directPlan, supervisedIn } from "./fixture.ts";

let folder: string;
let outside: string;
let sandboxes: LinuxSandboxes;
let plan: Plan;

beforeEach(() => {
  folder = ownFolder();
  outside = ownFolder();
  writeFileSync(join(outside, "secret"), "secret\n", { mode: 0o600 });
  sandboxes = supervisedIn(folder);
  plan = directPlan(folder);
});

afterEach(async () => {
  await sandboxes.end(null);
  expect(readdirSync(join(stateFolder(folder), "private"))).toEqual([]);
  removeFolder(folder);
  removeFolder(outside);
});

describe("a program without namespaces", () => {
  test("runs, writes its folder and reports how it ended", async () => {
    const told = await shell(sandboxes, plan, "pwd; echo text > file; echo wrong >&2; exit 3");
    expect([told.output, told.errors]).toEqual([`${folder}\n`, "wrong\n"]);
    expect(ranOf(told).ending).toEqual({ kind: "exited", status: 3 });
    expect(readFileSync(join(folder, "file"), "utf8")).toBe("text\n");
  });

  test("renames and links between folders of its own, as npm's cache does, and not out of them", async () => {
    const calls = [
      'print rename("a/x", "b/y") ? "renamed\\n" : "$!\\n"',
      'print link("b/y", "a/z") ? "linked\\n" : "$!\\n"',
      `print rename("a/z", "${outside}/z") ? "out\\n" : "kept\\n"`,
      `print link("${outside}/secret", "a/s") ? "in\\n" : "kept\\n"`,
    ];
    const told = await shell(sandboxes, plan, `mkdir a b; echo x > a/x; perl -e '${calls.join("; ")}'`);
    expect(told.output).toBe("renamed\nlinked\nkept\nkept\n");
    expect(readdirSync(outside)).toEqual(["secret"]);
  });

  test("reports what is weaker on each axis", async () => {
    const { enforcement } = ranOf(await shell(sandboxes, plan, "true"));
    expect(enforcement.map(({ axis, strength }) => `${axis} ${strength}`)).toEqual([
      ...["root kernel", "mode kernel", "argv checked", "host kernel", "port kernel", "raw kernel"],
    ]);
    for (const { axis, note } of enforcement.filter((one) => ["root", "mode", "argv"].includes(one.axis)))
      expect([axis, note]).toEqual([axis, expect.stringContaining("without namespaces")]);
  });

  test("has a home and a temporary folder of its own, which are empty for the next command", async () => {
    const environment = [
      ["PATH", "/usr/bin:/bin"],
      ["HOME", "/run/ambit/tmp/home"],
      ["TMPDIR", "/run/ambit/tmp"],
    ] as const;
    const own = { ...plan, environment };
    const first = await shell(sandboxes, own, "echo 1 > $TMPDIR/a && echo 2 > $HOME/b && ls -A $TMPDIR $HOME; pwd -P");
    expect(first.output).toContain("a\nhome\n");
    const second = await shell(sandboxes, own, "ls -A $TMPDIR $HOME; echo $TMPDIR");
    expect(second.output).toMatch(
      new RegExp(`home\\n\\n.*home:\\n${stateFolder(folder)}/private/[0-9a-f]+/tmp\\n$`, "s"),
    );
    expect(sandboxes.count).toBe(1);
  });

  test("runs compilers, interpreters and git", async () => {
    const environment = [...plan.environment, ["TMPDIR", "/run/ambit/tmp"] as const];
    const told = await shell(
      sandboxes,
      { ...plan, environment },
      [
        "set -e",
        "printf 'int main(void) { return 7; }' > main.c; cc main.c -o main; ./main || echo built $?",
        "node -e 'console.log(process.version.length > 3)'",
        "python3 -c 'import ssl, subprocess; print(subprocess.run([\"true\"]).returncode)'",
        "git init -q .; git add main.c; git commit -qm first; git log --format=%s; git fsck",
        "bash -c 'cat <(echo substituted)'",
        "mkdir deep; cp -p main.c deep; tar cf all.tar deep main; rm -r deep; tar xf all.tar; ls deep",
      ].join("\n"),
    );
    expect(told.output).toBe("built 7\ntrue\n0\nfirst\nsubstituted\nmain.c\n");
  });
});

describe("what describes processes", () => {
  test("a command reads the map of its own memory, in every command of a sandbox, and no other file about itself", async () => {
    for (const _ of [1, 2]) {
      const told = await shell(
        sandboxes,
        plan,
        "read -r line < /proc/self/maps && echo own; read -r line < /proc/$$/maps && echo by number; (read -r line < /proc/$$/maps) && echo of its parent; for one in environ status stat cmdline mem mountinfo net/tcp fd; do cat /proc/$$/$one > /dev/null 2>&1 && echo $one; done; echo x > /proc/$$/maps || echo kept",
      );
      expect(told.output).toBe("own\nby number\nof its parent\nkept\n");
    }
    expect(sandboxes.count).toBe(1);
  });

  test("processes that it starts have none, and the maps of processes outside stay closed", async () => {
    const told = await shell(sandboxes, plan, `cat /proc/self/maps; cat /proc/${process.pid}/maps /proc/1/maps; true`);
    expect(told.output).toBe("");
    expect(told.errors.match(/denied/g)).toHaveLength(3);
  });
});

describe("files outside", () => {
  test.each([
    ["reading", "cat OUTSIDE/secret"],
    ["reading through a link", "ln -s OUTSIDE/secret link; cat link"],
    ["reading through a hard link", "ln OUTSIDE/secret hard && cat hard"],
    ["reading by its descriptor's name", "cat /proc/self/root/OUTSIDE/secret"],
    ["listing", "ls OUTSIDE"],
    ["writing", "echo x > OUTSIDE/secret"],
    ["appending", "echo x >> OUTSIDE/secret"],
    ["truncating", "truncate -s 0 OUTSIDE/secret"],
    ["making a file", "touch OUTSIDE/new"],
    ["making a folder", "mkdir OUTSIDE/new"],
    ["removing", "rm -f OUTSIDE/secret"],
    ["moving in", "mv OUTSIDE/secret here"],
    ["moving out", "touch here; mv here OUTSIDE/here"],
    ["changing its mode", "chmod 666 OUTSIDE/secret"],
    ["changing its mode through a link", "ln -s OUTSIDE/secret link; chmod 666 link"],
    ["changing the mode of its folder", "chmod 777 OUTSIDE"],
    ["changing its owner", "chown $(id -u) OUTSIDE/secret"],
    ["changing its times", "touch -m -d 2001-01-01 OUTSIDE/secret"],
    ["changing the times of its folder", "touch -m -d 2001-01-01 OUTSIDE"],
    [
      "changing its attributes",
      'setfattr -n user.x -v y OUTSIDE/secret || python3 -c \'import os; os.setxattr("OUTSIDE/secret", "user.x", b"y")\'',
    ],
    ["running it", "OUTSIDE/secret"],
    ["reading keys of the machine", "cat /etc/shadow || cat /etc/ssl/private/*"],
    ["reading another process", "cat /proc/1/environ || cat /proc/1/cmdline || ls /proc"],
    ["reading the table of connections", "cat /proc/net/tcp"],
    ["reading where the supervisor is", "cat /proc/$PPID/status || cat /proc/$PPID/cmdline"],
  ])("are refused: %s", async (_, script) => {
    const before = statSync(join(outside, "secret"), { bigint: true });
    const told = await shell(sandboxes, plan, script.replaceAll("OUTSIDE", outside));
    expect(told.output).toBe("");
    expect(told.errors).toMatch(/denied|not permitted|not supported|cross-device|cannot/i);
    expect(ranOf(told).ending).not.toEqual({ kind: "exited", status: 0 });
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("secret\n");
    expect(readdirSync(outside)).toEqual(["secret"]);
    expect(statSync(join(outside, "secret"), { bigint: true }).ctimeNs).toBe(before.ctimeNs);
  });

  test("are seen by name and size, as the report says", async () => {
    const told = await shell(sandboxes, plan, `stat -c %s ${outside}/secret`);
    expect(told.output).toBe("7\n");
  });

  test("a read-only root is not written, and modes in it do not change", async () => {
    writeFileSync(join(folder, "file"), "text");
    chmodSync(join(folder, "file"), 0o644);
    const ro: Plan = { ...plan, root: { path: segments(folder), mode: "ro" } };
    const told = await shell(sandboxes, ro, "cat file; echo x > file; chmod 600 file; touch file new; rm file");
    expect(told.output).toBe("text");
    expect(readFileSync(join(folder, "file"), "utf8")).toBe("text");
    expect(statSync(join(folder, "file")).mode & 0o777).toBe(0o644);
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  test.each([
    ["a folder that is written without a copy", { root: "draft" }, "programs write to a copy"],
    ["hidden names without a copy", { root: "ro", masked: true }, "names are hidden by a copy"],
  ] as const)("%s is refused", async (_, wish, message) => {
    const masked = "masked" in wish ? [segments(join(folder, "hidden"))] : [];
    const other: Plan = { ...plan, masked, root: { path: segments(folder), mode: wish.root } };
    const { result } = await shell(sandboxes, other, "true");
    expect(result).toMatchObject({ ok: false, refused: { code: "sandbox_unavailable" } });
    expect(result.ok ? "" : result.refused.message).toContain(message);
    // Nothing was started: the folder of private folders is made by the next one.
    await shell(sandboxes, plan, "true");
  });
});

describe("files of its own", () => {
  test("modes, owners and times are changed by every form of the calls", async () => {
    mkdirSync(join(folder, "d"));
    const script = `
import ctypes, os, stat
open("a", "w").close(); os.symlink("a", "l"); os.symlink("missing", "dangling")
def mode(): return oct(os.stat("a").st_mode & 0o7777)
def seen(*words): print(*words)
os.chmod("a", 0o600); seen(mode())
os.chmod("l", 0o640); seen(mode())
fd = os.open("a", os.O_RDONLY)
os.fchmod(fd, 0o644); seen(mode())
os.chmod(f"/proc/self/fd/{fd}", 0o604); seen(mode())
d = os.open("d", os.O_RDONLY)
os.chmod("../a", 0o606, dir_fd=d); seen(mode())
os.utime("a", (1, 2)); seen(int(os.stat("a").st_mtime))
os.utime(fd, (1, 3)); seen(int(os.stat("a").st_mtime))
os.utime("l", (1, 4), follow_symlinks=False); seen(int(os.lstat("l").st_mtime), int(os.stat("a").st_mtime))
os.utime("a"); seen(os.stat("a").st_mtime > 1000)
os.chown("a", os.getuid(), os.getgid()); os.lchown("dangling", -1, -1); os.fchown(fd, -1, -1); seen("owned")
for wrong in (lambda: os.chmod("missing", 0o600), lambda: os.chmod("dangling", 0o600), lambda: os.fchmod(999, 0o600),
              lambda: os.chmod("a" * 5000, 0o600), lambda: os.chmod("x/" * 3000, 0o600)):
    try: wrong(); seen("changed")
    except OSError as error: seen(error.errno)
libc = ctypes.CDLL(None, use_errno=True)
for address in (0, 8, 2**63 - 1, 2**64 - 1):
    libc.chmod(ctypes.c_void_p(address), 0o600); seen(ctypes.get_errno())
`;
    const told = await shell(sandboxes, plan, `python3 - <<'END'\n${script}\nEND`);
    expect(told.errors).toBe("");
    expect(told.output.split("\n")).toEqual([
      ...["0o600", "0o640", "0o644", "0o604", "0o606", "2", "3", "4 3", "True", "owned"],
      ...["2", "2", "9", "36", "36", "14", "14", "14", "14", ""],
    ]);
  });
});

describe("processes", () => {
  test("no signal leaves the sandbox, and the supervisor cannot be reached", async () => {
    const told = await shell(
      sandboxes,
      plan,
      `for pid in 1 $PPID ${process.pid}; do kill -0 $pid && echo reached; kill -9 $pid && echo killed; kill -STOP $pid && echo stopped; done; kill -9 -1; echo alive`,
    );
    expect(told.output).not.toMatch(/reached|killed|stopped/);
    expect((await shell(sandboxes, plan, "echo again")).output).toBe("again\n");
  });

  test.each([
    ["a daemon", "(setsid sh -c 'sleep 100 & sleep 100' &) ; echo started"],
    ["a process that ignores signals", "sh -c 'trap \"\" TERM HUP INT; sleep 100' & echo started"],
    ["a chain of processes that each fork and end", FORKS()],
  ])("%s ends with its command", async (_, script) => {
    const told = await shell(sandboxes, plan, script);
    expect(told.output).toBe("started\n");
    expect(ranOf(told).ending).toEqual({ kind: "exited", status: 0 });
    const after = await shell(sandboxes, plan, "echo again");
    expect(after.output).toBe("again\n");
    expect(sandboxes.count).toBe(1);
  });

  test("time and output have limits, and a stop ends everything", async () => {
    const limits = { ...plan.limits, wallMilliseconds: 300, outputBytes: 10 };
    const late = await shell(sandboxes, { ...plan, limits }, "(setsid sleep 100 &); sleep 100");
    expect(ranOf(late).ending).toEqual({ kind: "ended", because: "time" });
    const loud = await shell(sandboxes, { ...plan, limits: { ...limits, wallMilliseconds: 60_000 } }, "yes");
    expect(ranOf(loud).ending).toEqual({ kind: "ended", because: "output" });
    const stop = new AbortController();
    const sinks = { output: () => stop.abort(), errors: () => {} };
    const stopped = await shell(sandboxes, plan, "echo started; sleep 100", { signal: stop.signal, sinks });
    expect(ranOf(stopped).ending).toEqual({ kind: "ended", because: "stopped" });
  });

  test("another owner gets another sandbox", async () => {
    await shell(sandboxes, plan, "true");
    await shell(sandboxes, plan, "true", { owner: { ...OWNER, agent: "other" } });
    expect(sandboxes.count).toBe(2);
  });
});

/** Processes that leave their session and are always another one: each forks and ends, 20,000 times at most. */
function FORKS(): string {
  return `python3 - <<'END' > /dev/null 2>&1 &
import os
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        for _ in range(20000):
            if os.fork() != 0: os._exit(0)
END
sleep 0.2; echo started`;
}
