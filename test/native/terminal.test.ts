// A command on its own terminal, the real program under the real bubblewrap: a devpts instance of the sandbox, sizes, signals
// from the keyboard, job control, and no access to the machine's own terminals.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PayloadWriter } from "../../src/sandbox/plan/start/frame.ts";
import { bytes, type Outcome, type Owner, sendTemporary, start } from "./owner.ts";
import { users, variants } from "./program.ts";

const EPROTO = 71;
const EEXIST = 17;
const terminals = (count: number): Uint8Array => new PayloadWriter().u32(count).done();
const size = (columns: number, rows: number): Uint8Array => new PayloadWriter().u16(columns).u16(rows).done();
const devices = ["--dir", "/dev/pts", "--symlink", "pts/ptmx", "/dev/ptmx", "--dev-bind", "/dev/tty", "/dev/tty"];

describe.each(variants)("%s", (_variant, program) => {
  describe.each(users)("as user %s", (user) => {
    let owner: Owner;

    beforeEach(async () => {
      ({ owner } = await start({ program, user, more: devices }));
    });

    afterEach(async () => {
      expect(await owner.end()).not.toBe(99);
    });

    async function ready(): Promise<void> {
      sendTemporary(owner);
      owner.send("Y", terminals(4));
      owner.send("G");
      await owner.ready();
    }

    const begin = (line: string, argv: readonly string[] = ["sh", "-c", line]): void =>
      owner.begin({ argv, terminal: [80, 24] });

    /** Output until it contains these words. */
    async function until(words: string): Promise<string> {
      let seen = "";
      while (!seen.includes(words)) {
        const frame = await owner.next();
        if (frame?.kind !== "O") throw new Error(`${frame?.kind ?? "the end"} before ${words}: ${seen}`);
        seen += Buffer.from(frame.payload).toString("latin1");
      }
      return seen;
    }

    async function run(line: string): Promise<Outcome> {
      begin(line);
      return owner.done();
    }

    test("has a terminal on all three descriptors and as its controlling terminal", async () => {
      await ready();
      const { output, errors, how, value } = await run(
        "for one in 0 1 2; do test -t $one || exit 9; done; tty; stty size; echo written > /dev/tty; exit 3",
      );
      expect({ how, value, errors }).toEqual({ how: 0, value: 3, errors: "" });
      expect(output).toBe("/dev/pts/0\r\n24 80\r\nwritten\r\n");
    });

    test("sees no terminal but its own", async () => {
      await ready();
      const { output } = await run("ls /dev/pts");
      expect(output.trim().split(/\s+/)).toEqual(["0", "ptmx"]);
    });

    test("creates as many terminals as allowed, and no more", async () => {
      await ready();
      const line =
        "exec 3<>/dev/ptmx 4<>/dev/ptmx 5<>/dev/ptmx && echo three; exec 6<>/dev/ptmx && echo four; echo after";
      const { output } = await run(`sh -c '${line}'`);
      expect(output).toContain("three");
      expect(output).not.toContain("four");
    });

    test("gets a new size", async () => {
      await ready();
      begin("trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.05; done");
      await until("ready");
      owner.send("W", size(20, 10));
      const { output, value } = await owner.done();
      expect(output).toContain("10 20");
      expect(value).toBe(0);
    });

    test("gets what is typed, echoed by its terminal", async () => {
      await ready();
      begin('read -r line; echo "got $line"');
      owner.send("I", bytes("hello\r"));
      const { output } = await owner.done();
      expect(output).toBe("hello\r\ngot hello\r\n");
    });

    test("is interrupted from the keyboard", async () => {
      await ready();
      begin("echo ready; exec sleep 100");
      await until("ready");
      owner.send("I", bytes("\u0003"));
      expect(await owner.done()).toMatchObject({ how: 1, value: 2, clean: 1 });
    });

    test("that stops itself from the keyboard is reported, and continues when its owner says so", async () => {
      await ready();
      // No other program is started here: a shell that stops between vfork and exec waits forever.
      begin("echo ready; read -r line; echo on $line");
      await until("ready");
      owner.send("I", bytes("\u001a"));
      let frame = await owner.next();
      while (frame?.kind === "O") frame = await owner.next();
      expect(frame?.kind).toBe("Z");
      owner.send("C");
      owner.send("I", bytes("again\r"));
      const { output, how } = await owner.done();
      expect(how).toBe(0);
      expect(output).toContain("on again");
    });

    test("that is stopped still ends when its owner ends it", async () => {
      await ready();
      begin("echo ready; kill -STOP $$");
      await until("ready");
      while ((await owner.next())?.kind !== "Z");
      owner.send("K");
      expect(await owner.done()).toMatchObject({ how: 4, clean: 1 });
    });

    test("runs a shell whose jobs stop and continue", async () => {
      await ready();
      begin("", ["sh", "-i"]);
      owner.send("I", bytes("PS1='> '; sh -c 'echo $((40 + 2)); exec sleep 100'\r"));
      await until("42");
      owner.send("I", bytes("\u001a"));
      await until("topped");
      owner.send("I", bytes("exit 5\rexit 5\r"));
      expect(await owner.done()).toMatchObject({ how: 0, value: 5 });
    });

    test("leaves nothing to the next command, which has another terminal or none", async () => {
      await ready();
      await run("sleep 1000 & echo left");
      const second = await run("tty; ls /dev/pts");
      expect(second.output.trim().split(/\s+/)).toEqual(["/dev/pts/0", "0", "ptmx"]);
      const third = await owner.run({ argv: ["sh", "-c", "tty; cat /dev/tty"] });
      expect(third.output).toContain("not a tty");
      expect(third.errors).toMatch(/No such device or address/);
    });

    test("returns all of a long output, to its last byte", async () => {
      await ready();
      const { output } = await run("seq 1 20000");
      expect(output.split("\r\n").slice(-2)).toEqual(["20000", ""]);
      expect(output.split("\r\n").length).toBe(20_001);
    });

    test("is not started without a devpts of the sandbox", async () => {
      sendTemporary(owner);
      owner.send("G");
      await owner.ready();
      expect(await run("echo no")).toMatchObject({ how: 5, output: "" });
    });

    test.each([
      ["no terminals at all", [terminals(0)], EPROTO],
      ["a payload that is too long", [size(1, 1).subarray(0, 3)], EPROTO],
      ["terminals requested twice", [terminals(1), terminals(1)], EEXIST],
    ])("a setup with %s fails", async (_title, frames, errno) => {
      for (const frame of frames) owner.send("Y", frame);
      expect(await owner.failure()).toEqual({ errno, stage: "terminals" });
    });

    test("a size that does not parse ends the program", async () => {
      await ready();
      begin("sleep 100");
      owner.send("W", size(1, 1).subarray(0, 3));
      let frame = await owner.next();
      while (frame?.kind === "O") frame = await owner.next();
      expect(frame?.kind).toBe("F");
    });
  });
});
