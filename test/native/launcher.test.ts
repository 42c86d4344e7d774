// Pid 1 of a sandbox, the real program under the real bubblewrap: commands, how they end, and what is left of them.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pause } from "../house/pause.ts";
import { commandPayload, NODE, type Outcome, type Owner, PROJECT, type Run, startReady } from "./owner.ts";
import { variants } from "./program.ts";

const EBUSY = 16;
const [ENOENT, E2BIG, EACCES] = [2, 7, 13];
const exited = (value: number) => ({ how: 0, value, clean: 1 });
const sh = (line: string): readonly string[] => ["sh", "-c", line];
const nested = (count: number): string =>
  `cd /tmp; ${NODE} -e 'for (let at = 0; at < ${count}; at++) { fs.mkdirSync("d"); process.chdir("d"); }'`;

describe.each(variants)("%s", (_variant, program) => {
  let root: string;
  let owner: Owner;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), "ambit-native-"));
    owner = await startReady({ program, root });
  });

  afterEach(async () => {
    expect(await owner.end()).not.toBe(99);
    rmSync(root, { recursive: true, force: true });
  });

  const run = (line: string, more: object = {}): Promise<Outcome> => owner.run({ argv: sh(line), ...more });

  describe("a command", () => {
    test("returns its output, its errors and its status, separately", async () => {
      expect(await run("echo out; echo err >&2; exit 7")).toMatchObject({
        ...exited(7),
        output: "out\n",
        errors: "err\n",
        dropped: 0n,
        leftovers: 0,
      });
    });

    test("that ends by a signal is reported with its number", async () => {
      expect(await run("kill -USR1 $$")).toMatchObject({ how: 1, value: 10, clean: 1 });
    });

    test("gets exactly the arguments, environment and folder it was given", async () => {
      const argv = ["sh", "-c", 'for word in "$@"; do echo "[$word]"; done; env; pwd', "x", "a b", "", "$HOME", "*"];
      const { output } = await owner.run({ argv, environment: ["PATH=/usr/bin:/bin", "A=1 2"], directory: PROJECT });
      const lines = output.trim().split("\n");
      expect(lines.slice(0, 4)).toEqual(["[a b]", "[]", "[$HOME]", "[*]"]);
      expect(lines.at(-1)).toBe(PROJECT);
      expect(
        lines
          .slice(4, -1)
          .filter((line) => !/^(PWD|OLDPWD|_|SHLVL)=/.test(line))
          .sort(),
      ).toEqual(["A=1 2", "PATH=/usr/bin:/bin"]);
    });

    test("has three descriptors, no blocked or ignored signal, and its own session", async () => {
      const { output } = await run(
        // The shell itself blocks signals around every fork: only the process it executes into has them unchanged.
        "ls /proc/self/fd; cut -d' ' -f1,6 /proc/$$/stat; exec grep -E '^Sig(Blk|Ign)' /proc/self/status",
      );
      // The fourth is the listing's own.
      expect(output.split("\n").slice(0, 4)).toEqual(["0", "1", "2", "3"]);
      expect(output).toMatch(/\n(\d+) \1\nSigBlk:\s0{16}\nSigIgn:\s0{16}\n$/);
    });

    test("without input reads the end at once; with input it reads all of it", async () => {
      expect(await run("cat; echo end")).toMatchObject({ output: "end\n" });
      const input = "0123456789abcdef".repeat(200_000);
      expect((await owner.run({ argv: ["cat"], input })).output).toBe(input);
    });

    test("that does not read its input does not block", async () => {
      expect(await owner.run({ argv: sh("exit 4"), input: "x".repeat(3_000_000) })).toMatchObject(exited(4));
      expect(await run("echo next")).toMatchObject({ output: "next\n" });
    });

    test.each<[title: string, argv: string[], more: Partial<Run> & { file?: string }, errno: number]>([
      ["no such program", ["nonesuch"], {}, ENOENT],
      ["no such path", ["/usr/bin/nonesuch"], {}, ENOENT],
      ["an empty name", [""], {}, ENOENT],
      ["no such folder", ["true"], { directory: "/nonesuch" }, ENOENT],
      ["a file without execute permission", ["/etc-file"], { file: "etc-file" }, EACCES],
      ["an argument of 128 KiB", ["true", "x".repeat(131_072)], {}, E2BIG],
      ["4,097 words", ["true", ...Array(4_096).fill("x")], {}, E2BIG],
      ["257 variables", ["true"], { environment: Array(257).fill("A=1") }, E2BIG],
    ])("is not started: %s", async (_title, argv, { file, ...more }, errno) => {
      if (file !== undefined) writeFileSync(join(root, file), "text", { mode: 0o644 });
      const words = file === undefined ? argv : [join(PROJECT, file)];
      expect(await owner.run({ argv: words, ...more })).toMatchObject({ how: 5, value: errno, clean: 1 });
      expect(await run("echo still here")).toMatchObject({ output: "still here\n" });
    });

    test("is started one byte, one argument, one variable below those limits", async () => {
      expect(await owner.run({ argv: ["true", "x".repeat(131_071)] })).toMatchObject(exited(0));
      expect(await owner.run({ argv: ["true", ...Array(4_095).fill("x")] })).toMatchObject(exited(0));
      const environment = [...Array(255).fill("A=1"), "PATH=/usr/bin"];
      expect(await owner.run({ argv: ["true"], environment })).toMatchObject(exited(0));
    });

    test("is looked up on the given PATH, in order, and nowhere else", async () => {
      for (const name of ["one", "two"]) {
        mkdirSync(join(root, name));
        writeFileSync(join(root, name, "tool"), `#!/bin/sh\necho ${name}\n`, { mode: name === "one" ? 0o644 : 0o755 });
      }
      const path = `PATH=/nonesuch:${PROJECT}/one:${PROJECT}/two`;
      expect(await owner.run({ argv: ["tool"], environment: [path] })).toMatchObject({ output: "two\n" });
      expect(await owner.run({ argv: ["tool"], environment: [`PATH=${PROJECT}/one`] })).toMatchObject({
        how: 5,
        value: EACCES,
      });
      expect(await owner.run({ argv: ["tool"] })).toMatchObject({ how: 5, value: ENOENT });
      // An empty part is the current folder; without PATH a default is used.
      const here = { directory: join(PROJECT, "two"), environment: ["PATH=/nonesuch:"] };
      expect(await owner.run({ argv: ["tool"], ...here })).toMatchObject({ output: "two\n" });
      expect(await owner.run({ argv: ["true"], environment: [] })).toMatchObject(exited(0));
    });

    test("in a file of unknown format is not passed to a shell", async () => {
      writeFileSync(join(root, "plain"), "echo run by a shell\n", { mode: 0o755 });
      expect(await owner.run({ argv: [join(PROJECT, "plain")] })).toMatchObject({ how: 5, value: 8, output: "" });
    });
  });

  describe("the end of a command", () => {
    /** The shell counts by itself: other programs may or may not have started when the list is read. */
    const processCount = "set -- /proc/[0-9]*; echo $#";
    /** Pid 1 and the shell. */
    const alone = "2\n";

    test("by its time limit kills the whole tree, including separate sessions", async () => {
      const tree = "for i in 1 2 3; do setsid sh -c 'setsid sleep 1000 & sleep 1000' & done; sleep 1000";
      const ended = await run(tree, { milliseconds: 300 });
      expect(ended).toMatchObject({ how: 2, clean: 1 });
      expect(await run(processCount)).toMatchObject({ output: alone });
    });

    test("that leaves a daemon behind kills the daemon", async () => {
      const ended = await run("(setsid sh -c 'echo up; exec sleep 1000' &) ; exit 3");
      expect(ended).toMatchObject({ ...exited(3), leftovers: 1 });
      expect(await run(processCount)).toMatchObject({ output: alone, leftovers: 0 });
    });

    test("is not delayed by a daemon that keeps the output open", async () => {
      expect(await run("sleep 1000 & echo done")).toMatchObject({ ...exited(0), output: "done\n", leftovers: 1 });
    });

    test("by a cancel of the owner is immediate, also while input is unread", async () => {
      owner.begin({ argv: sh("echo up; exec sleep 1000"), input: "x".repeat(2_000_000) });
      expect(Buffer.from((await owner.expect("O")).rest()).toString()).toBe("up\n");
      owner.send("K");
      expect(await owner.done()).toMatchObject({ how: 4, clean: 1 });
    });

    test("is final: frames for a command that has ended are ignored", async () => {
      await run("true");
      owner.send("K");
      owner.send("I", Buffer.from("late"));
      owner.send("J");
      expect(await run("cat; echo fine")).toMatchObject({ ...exited(0), output: "fine\n" });
    });

    test("reports the usage of leftover and finished children as well", async () => {
      const busy = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
      const alone = await run(busy);
      const together = await run(
        `(${busy}; touch ${PROJECT}/done; sleep 1000) & while [ ! -e ${PROJECT}/done ]; do sleep 0.02; done`,
      );
      expect(alone.user + alone.system).toBeGreaterThan(0n);
      expect((together.user + together.system) * 2n).toBeGreaterThan(alone.user + alone.system);
      expect(together.memory).toBeGreaterThan(500n);
      expect(together.leftovers).toBeGreaterThanOrEqual(1);
    });
  });

  describe("output", () => {
    test("may be exactly as long as allowed", async () => {
      expect(await run("head -c 1000 /dev/zero", { outputBytes: 1_000 })).toMatchObject({ ...exited(0), dropped: 0n });
    });

    test("one byte more is over the limit, whichever process ends first", async () => {
      const ended = await run("head -c 1001 /dev/zero", { outputBytes: 1_000 });
      expect(ended).toMatchObject({ how: 3, dropped: 1n });
      expect(ended.output.length).toBe(1_000);
    });

    test("without end is stopped; both streams count", async () => {
      const ended = await run("yes & yes >&2", { outputBytes: 500_000 });
      expect(ended.how).toBe(3);
      expect(ended.output.length + ended.errors.length).toBe(500_000);
      expect(ended.dropped).toBeGreaterThan(0n);
    });

    test("that the owner does not read blocks the command, and nothing is lost", async () => {
      const line = "0123456789abcde\n";
      const bytes = 16 * 1024 * 1024;
      owner.control.pause();
      owner.begin({
        argv: sh(`yes 0123456789abcde | head -c ${bytes}; touch ${PROJECT}/finished`),
        outputBytes: bytes,
      });
      await pause(300, "a command that does not block finishes in less");
      // All buffers together hold less than a tenth of it.
      expect(readdirSync(root)).toEqual([]);
      owner.control.resume();
      const ended = await owner.done();
      expect(ended).toMatchObject({ ...exited(0), dropped: 0n });
      expect(ended.output === line.repeat(bytes / line.length)).toBe(true);
      expect(readdirSync(root)).toEqual(["finished"]);
    });

    test("that is not read does not stop the timeout", async () => {
      owner.control.pause();
      owner.begin({ argv: sh("yes"), milliseconds: 200 });
      await pause(400, "longer than the timeout of the command");
      owner.control.resume();
      expect(await owner.done()).toMatchObject({ how: 2, clean: 1 });
    });
  });

  describe("System V objects", () => {
    const look = "tail -qn +2 /proc/sysvipc/shm /proc/sysvipc/sem /proc/sysvipc/msg | wc -l";
    const make = (mode: string): string => `ipcmk -M 4096 -S 3 -Q -p ${mode} >/dev/null`;

    test.each([
      ["of each kind", make("0600"), 3],
      ["without any permission", make("0"), 3],
      ["many of them", "for at in $(seq 50); do ipcmk -M 4096 -S 3 -Q -p 0 >/dev/null; done", 150],
      ["after a gap", `${make("0600")}; ${make("0600")}; ipcrm -m 0 -s 0 -q 0`, 3],
    ])("%s are gone when the next command starts", async (_title, line, count) => {
      expect(await run(`${line}; ${look}`)).toMatchObject({ ...exited(0), output: `${count}\n`, errors: "" });
      expect(await run(look)).toMatchObject({ ...exited(0), output: "0\n" });
    });
  });

  describe("the private folder", () => {
    test("exists, belongs to the command, and is empty for the next one", async () => {
      const look = "ls -A /tmp /tmp/home; stat -c '%a' /tmp /tmp/home";
      const fresh = { output: "/tmp:\nhome\n\n/tmp/home:\n700\n700\n" };
      expect(await run(look)).toMatchObject(fresh);
      await run("touch /tmp/a /tmp/.b /tmp/home/c; mkdir -p /tmp/d/e/f; mkfifo /tmp/g; ln -s / /tmp/h");
      expect(await run(look)).toMatchObject(fresh);
    });

    test("is not emptied across a mount, and the owner is told", async () => {
      await owner.end();
      mkdirSync(join(root, "inside"));
      writeFileSync(join(root, "kept"), "kept");
      owner = await startReady({ program, root, more: ["--bind", root, "/tmp/mounted"] });
      expect(await run("true")).toMatchObject({ how: 0, clean: 0 });
      expect(readdirSync(root)).toEqual(["inside", "kept"]);
    });

    test("with folders nested too deep is not emptied, and the owner is told", async () => {
      expect(await run(nested(258))).toMatchObject({ how: 0, value: 0, clean: 0 });
    });

    test.each([
      [
        "folders without any permission",
        "mkdir -p /tmp/a/b/c; touch /tmp/a/b/c/d; chmod 000 /tmp/a/b/c /tmp/a/b /tmp/a /tmp",
      ],
      ["read-only folders", "mkdir -p /tmp/a/b; touch /tmp/a/b/c; chmod 555 /tmp/a/b /tmp/a /tmp"],
      ["names that are not text", "cd /tmp; touch -- '-rf' '*' \"$(printf 'a\\nb')\" \"$(printf '\\377\\376')\""],
      [
        "its inner folder replaced by a link",
        "rmdir /tmp/home; ln -s ROOT /tmp/home; ln ROOT/kept /tmp/hard 2>/dev/null; true",
      ],
      ["its inner folder replaced by a file", "rmdir /tmp/home; touch /tmp/home"],
      ["links to everything", "ln -s ROOT /tmp/a; ln -s / /tmp/b; ln -s .. /tmp/c; ln -s /proc/self/fd /tmp/d"],
      ["257 folders in each other", nested(257)],
      ["many of everything", "cd /tmp; for i in $(seq 200); do mkdir $i; (cd $i; touch $(seq 100)); done"],
    ])("is emptied of %s", async (_title, line) => {
      writeFileSync(join(root, "kept"), "kept");
      expect(await run(line.replaceAll("ROOT", PROJECT))).toMatchObject(exited(0));
      expect(await run("ls -A /tmp; ls -A /tmp/home; stat -c '%a' /tmp /tmp/home")).toMatchObject({
        output: "home\n700\n700\n",
      });
      expect(readFileSync(join(root, "kept"), "utf8")).toBe("kept");
    });
  });

  describe("pid 1", () => {
    test("is not killed, stopped or disturbed from inside", async () => {
      const signals = ["KILL", "STOP", "TERM", "INT", "HUP", "CHLD", "SEGV", "USR1", "PIPE"];
      await run(signals.map((name) => `kill -${name} 1`).join("; "));
      expect(await run("sleep 1000 & kill -KILL -1; echo told")).toMatchObject({ ...exited(0), output: "told\n" });
      expect(await run("echo alive")).toMatchObject({ ...exited(0), output: "alive\n" });
    });

    test("reveals nothing of itself: memory, descriptors, environment, maps", async () => {
      const { output, value } = await run(
        "for name in mem environ maps fd/3 root cwd exe; do if head -c 1 /proc/1/$name >/dev/null 2>&1; then echo open $name; fi; done;" +
          "readlink /proc/1/fd/* /proc/1/exe /proc/1/root; if (: >>/proc/1/mem) 2>/dev/null; then echo writable; fi; exit 0",
      );
      expect([value, output]).toEqual([0, ""]);
    });

    test("refuses a command while one runs, and exits", async () => {
      owner.begin({ argv: ["sleep", "1000"] });
      owner.send("X", commandPayload({ argv: ["true"] }));
      expect((await owner.failure()).errno).toBe(EBUSY);
      expect(await owner.exit()).toBe(125);
    });

    test("exits when its owner's socket closes, whatever runs and whatever is unread", async () => {
      owner.control.pause();
      owner.begin({ argv: sh("setsid yes & exec yes"), milliseconds: 0, outputBytes: 1e12 });
      await pause(200, "its output fills every buffer meanwhile");
      expect(await owner.end()).toBe(0);
    });
  });
});
