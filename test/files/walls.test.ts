// What confines the worker when its owner is wrong: how it opens files, Landlock, seccomp, and a strict protocol.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { instructionBytes } from "../../src/sandbox/plan/kernel/bpf.ts";
import { filesSeccompProgram } from "../../src/sandbox/plan/kernel/files-syscalls.ts";
import { handledAll, type LandlockRules } from "../../src/sandbox/plan/kernel/landlock.ts";
import { PayloadReader, PayloadWriter } from "../../src/sandbox/plan/start/frame.ts";
import { landlockFrames } from "../../src/sandbox/plan/start/setup.ts";
import { filesIn, newFolder, path, text } from "./fixture.ts";
import { nativeMissing, nativeWalls } from "./native.ts";
import { readRest, Speaker } from "./speaker.ts";

const { EACCES, EMFILE, ENOENT, EPROTO } = constants.errno;
const missing = nativeMissing();

function ground(): { readonly root: string; readonly open: string; readonly closed: string } {
  const root = newFolder();
  const [open, closed] = [join(root, "open"), join(root, "closed")];
  mkdirSync(open);
  mkdirSync(closed);
  writeFileSync(join(open, "file"), "inside");
  writeFileSync(join(closed, "file"), "OUTSIDE");
  symlinkSync(join(closed, "file"), join(open, "link"));
  return { root, open, closed };
}

describe.skipIf(missing !== null)("a running worker", () => {
  test("has no_new_privs, a seccomp filter, few capabilities, and no open descriptors but its trees and its owner's socket", async () => {
    const { open } = ground();
    const files = filesIn({ granted: [["read", open]] });
    expect(await text(files, join(open, "file"))).toBe("inside");
    expect(files.enforcement).toEqual({ landlock: nativeWalls().landlock > 0, seccomp: true });
    const status = readFileSync(`/proc/${files.processId}/status`, "utf8");
    const field = (name: string): string | undefined => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(status)?.[1];
    expect(field("NoNewPrivs")).toBe("1");
    expect(field("Seccomp")).toBe("2");
    expect(field("Threads")).toBe("1");
    // CHOWN, DAC_OVERRIDE and FOWNER, where the owner had them.
    const kept = 0b1011n;
    for (const name of ["CapEff", "CapPrm"]) expect(BigInt(`0x${field(name)}`) & ~kept).toBe(0n);
    for (const name of ["CapInh", "CapAmb"]) expect(field(name)).toBe("0000000000000000");
    if (process.getuid?.() === 0) expect(field("CapBnd")).toBe("0000000000000000");
    const words = readFileSync(`/proc/${files.processId}/cmdline`, "utf8").split("\0");
    expect(words.slice(1)).toEqual(["files", "3", ""]);
  });

  test("exits when its owner disconnects", async () => {
    const speaker = new Speaker();
    speaker.tree(ground().open, 1).say("G");
    expect((await speaker.hear())?.kind).toBe("R");
    expect(await speaker.hangUp()).toBe(0);
  });
});

describe.skipIf(missing !== null)("an owner that is wrong", () => {
  test("is told the device and inode of each tree, in order", async () => {
    const { open, closed } = ground();
    const speaker = new Speaker();
    speaker.tree(open, 1).tree(closed, 3).say("G");
    const ready = await speaker.hear();
    const reader = new PayloadReader(ready?.payload ?? new Uint8Array(0));
    expect([reader.u8(), reader.u8(), reader.u32()]).toEqual([0, 0, 2]);
    for (const folder of [open, closed]) {
      const [device, inode] = execFileSync("stat", ["-c", "%d %i", folder], { encoding: "utf8" }).trim().split(" ");
      expect([String(reader.u64()), String(reader.u64())]).toEqual([device, inode]);
    }
    await speaker.hangUp();
  });

  test.each([
    ["a parent path", "../closed/file"],
    ["an absolute path", "/etc/passwd"],
    ["a dot", "./file"],
    ["two dots in the middle", "a/../file"],
    ["two slashes", "a//b"],
    ["a slash at the end", "a/"],
    ["a path that is too long", "x".repeat(5_000)],
  ])("cannot request %s: the worker exits", async (_, asked) => {
    const speaker = new Speaker();
    speaker.tree(ground().open, 3).say("G");
    await speaker.hear();
    speaker.ask("r", 1, 0, asked, readRest());
    const failed = await speaker.hear();
    expect(failed?.kind).toBe("F");
    expect(new PayloadReader(failed?.payload ?? new Uint8Array(0)).i32()).toBe(EPROTO);
    expect(await speaker.ended()).toBe(125);
  });

  test.skipIf(missing === null && nativeWalls().landlock === 0)(
    "opens nothing outside its Landlock rules, whatever tree it names",
    async () => {
      const { open, closed } = ground();
      const handled = handledAll(nativeWalls().landlock);
      if (handled === null) throw new Error("there is no Landlock");
      const rules: LandlockRules = { handled, rules: [{ rights: 0b1100n, path: path(open) }] };
      const speaker = new Speaker();
      speaker.tree(open, 3).tree(closed, 3);
      for (const frame of landlockFrames(rules, (one) => Buffer.from(one))) speaker.raw(frame);
      speaker.say("G");
      expect((await speaker.hear())?.kind).toBe("R");
      speaker.ask("r", 1, 0, "file", readRest()).ask("r", 2, 1, "file", readRest());
      speaker.ask("w", 3, 0, "file", new PayloadWriter().u32(0o600).bytes(Buffer.from("x")).done());
      speaker.ask("a", 4, 1, "file", new PayloadWriter().u32(0o600).bytes(Buffer.from("x")).done());
      speaker.ask("d", 5, 0, "file").ask("l", 6, 1, "", new PayloadWriter().u32(9).done());
      expect(await speaker.answer()).toEqual([1, 0]);
      for (const number of [2, 3, 4, 5, 6]) expect(await speaker.answer()).toEqual([number, 1, EACCES]);
      expect(readFileSync(join(closed, "file"), "utf8")).toBe("OUTSIDE");
      await speaker.hangUp();
    },
  );

  test("that forgets Landlock is still confined by how the worker opens files", async () => {
    const { open } = ground();
    const speaker = new Speaker();
    speaker
      .tree(open, 3)
      .say("S", instructionBytes(filesSeccompProgram(nativeWalls().architecture ?? "x86-64")))
      .say("G");
    expect((await speaker.hear())?.kind).toBe("R");
    speaker.ask("r", 1, 0, "link", readRest()).ask("r", 2, 0, "none", readRest()).ask("r", 3, 0, "file", readRest());
    expect(await speaker.answer()).toEqual([1, 2]);
    expect(await speaker.answer()).toEqual([2, 1, ENOENT]);
    expect(await speaker.answer()).toEqual([3, 0]);
    await speaker.hangUp();
  });

  test("that leaves too few descriptors gets an error, and the worker keeps running", async () => {
    const { open } = ground();
    const speaker = new Speaker();
    // Descriptors 0 to 3 and the tree are open; no more can be opened.
    const limit = new PayloadWriter().u32(7).u64(5n).done();
    speaker.tree(open, 3).say("U", limit).say("G");
    expect((await speaker.hear())?.kind).toBe("R");
    const content = new PayloadWriter().u32(0o600).bytes(Buffer.from("x")).done();
    speaker.ask("r", 1, 0, "file", readRest()).ask("w", 2, 0, "file", content).ask("l", 3, 0, "", Buffer.alloc(4, 1));
    speaker.ask("r", 4, 0, "link", readRest()).ask("d", 5, 0, "file");
    for (const number of [1, 2, 3]) expect(await speaker.answer()).toEqual([number, 1, EMFILE]);
    expect(await speaker.answer()).toEqual([4, 1, EMFILE]);
    expect(await speaker.answer()).toEqual([5, 1, EMFILE]);
    expect(readdirSync(open).sort()).toEqual(["file", "link"]);
    await speaker.hangUp();
  });

  test.each<[string, (speaker: Speaker, open: string) => void]>([
    ["a tree that is a link", (speaker, open) => speaker.tree(join(open, "link"), 1)],
    ["a tree that is a file", (speaker, open) => speaker.tree(join(open, "file"), 1)],
    ["a tree that does not exist", (speaker, open) => speaker.tree(join(open, "none"), 1)],
    ["a tree with an unknown mode", (speaker, open) => speaker.tree(open, 2)],
    ["a relative tree", (speaker) => speaker.tree("etc", 1)],
    [
      "rules for no tree",
      (speaker) => speaker.say("L", new PayloadWriter().u64(1n).text(Buffer.from("/")).done()).say("G"),
    ],
    ["an unknown frame", (speaker) => speaker.say("?")],
    ["a start frame with a payload", (speaker) => speaker.say("G", Buffer.from("x"))],
    ["a frame that is too long", (speaker) => speaker.raw(Buffer.from([1, 0, 16, 0, 0x54]))],
    ["a request before the setup", (speaker) => speaker.ask("r", 1, 0, "file", readRest())],
  ])("fails with %s", async (_, wrong) => {
    const speaker = new Speaker();
    wrong(speaker, ground().open);
    expect((await speaker.hear())?.kind).toBe("F");
    expect(await speaker.ended()).toBe(125);
  });

  test("ends the worker, and never more than that, with random bytes", async () => {
    const { open } = ground();
    const kinds = fc.constantFrom("r", "w", "a", "d", "l", "s", "k", "f", "T", "x");
    const rest = fc.uint8Array({ maxLength: 24 });
    const name = fc.constantFrom("", "file", "link", "none", "..", "file/x", "/");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(kinds, fc.nat(1), name, rest), { maxLength: 4 }), async (requests) => {
        const speaker = new Speaker();
        speaker.tree(open, 1).say("G");
        expect((await speaker.hear())?.kind).toBe("R");
        for (const [kind, tree, asked, more] of requests) speaker.ask(kind, 7, tree, asked, more);
        for (let at = 0; at < requests.length; at++) {
          const frame = await speaker.hear();
          if (frame === null) break;
          expect(["A", "F"]).toContain(frame.kind);
          expect(Buffer.from(frame.payload).includes("OUTSIDE")).toBe(false);
          if (frame.kind === "F") break;
        }
        expect([0, 125]).toContain(await speaker.hangUp());
      }),
      { numRuns: 60 },
    );
  });
});
