// Any deviation from the protocol ends the program: a failure frame, status 125, and nothing done.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { frameOf, PayloadWriter } from "../../src/sandbox/plan/start/frame.ts";
import { bytes, commandPayload, Owner, PROJECT, start } from "./owner.ts";
import { built, variants } from "./program.ts";

const [EPERM, E2BIG, EEXIST, EINVAL, EPROTO] = [1, 7, 17, 22, 71];

const writer = (): PayloadWriter => new PayloadWriter();
const text = (value: string): Uint8Array => writer().text(bytes(value)).done();
const pin = (path: string, action = 1): Uint8Array => writer().u8(action).text(bytes(path)).done();
const overlay = (path: string, mode = 2): Uint8Array => frameOf("V", writer().u8(mode).text(bytes(path)).done());
const masked = (path: string): Uint8Array => Buffer.concat([overlay(PROJECT), frameOf("M", text(path))]);
const limit = (resource: number): Uint8Array => writer().u32(resource).u64(1n).done();
const raw = (length: number, kind: string, payload: Uint8Array): Uint8Array => {
  const header = writer().u32(length).u8(kind.charCodeAt(0));
  return header.bytes(payload).done();
};
const loopback = (count: number): Uint8Array => {
  const payload = writer().u8(0).u16(0).u16(count);
  for (let port = 1; port <= count; port++) payload.u16(port);
  return payload.done();
};
const times = (count: number, frame: Uint8Array): Uint8Array => Buffer.concat(Array(count).fill(frame));
const base = frameOf("T", text(PROJECT));
const go = frameOf("G", new Uint8Array(0));
const pinned = (payload: Uint8Array): Uint8Array => Buffer.concat([base, frameOf("P", payload)]);
const handled = writer().u64(1n).u64(0n).u64(0n).done();
const rule = (path: string): Uint8Array => writer().u64(1n).text(bytes(path)).done();

const SETUP: readonly (readonly [title: string, frames: Uint8Array, errno: number])[] = [
  ["an unknown kind", frameOf("?", new Uint8Array(0)), EPROTO],
  ["a command before the setup is complete", frameOf("X", commandPayload({ argv: ["true"] })), EPROTO],
  ["a length over the limit", raw(1_048_577, "T", new Uint8Array(0)), EPROTO],
  ["the largest possible length", raw(0xffffffff, "T", new Uint8Array(0)), EPROTO],
  ["a text without its terminator", frameOf("T", bytes(PROJECT)), EPROTO],
  ["a byte after a text", frameOf("T", writer().text(bytes(PROJECT)).u8(1).done()), EPROTO],
  ["no payload at all", frameOf("T", new Uint8Array(0)), EPROTO],
  ["a base that is not absolute", frameOf("T", text("project")), EPROTO],
  ["a base with `..`", frameOf("T", text("/project/../etc")), EPROTO],
  ["a base with a double slash", frameOf("T", text("/project//x")), EPROTO],
  ["a pin without a base", frameOf("P", pin("x")), EPROTO],
  ["a pin of action 0", pinned(pin("x", 0)), EPROTO],
  ["a pin of action 3", pinned(pin("x", 3)), EPROTO],
  ["an absolute pin", pinned(pin("/etc")), EPROTO],
  ["an empty pin", pinned(pin("")), EPROTO],
  ["a pin with `..`", pinned(pin("a/../../b")), EPROTO],
  ["a pin of `.`", pinned(pin("./a")), EPROTO],
  ["a pin that ends in a slash", pinned(pin("a/")), EPROTO],
  ["a pin longer than a path", pinned(pin("a".repeat(4_096))), EPROTO],
  ["65 pins", Buffer.concat([base, times(65, frameOf("P", pin("x")))]), E2BIG],
  ["5 bases", times(5, base), E2BIG],
  ["an overlay of mode 0", overlay(PROJECT, 0), EPROTO],
  ["an overlay of mode 3", overlay(PROJECT, 3), EPROTO],
  ["an overlay over everything", overlay("/"), EPROTO],
  ["an overlay that is not absolute", overlay("project"), EPROTO],
  ["an overlay with `..`", overlay("/project/../etc"), EPROTO],
  ["two overlays", times(2, overlay(PROJECT)), EEXIST],
  ["a mask without an overlay", frameOf("M", text("x")), EPROTO],
  ["an absolute mask", masked("/etc"), EPROTO],
  ["an empty mask", masked(""), EPROTO],
  ["a mask with `..`", masked("a/../../b"), EPROTO],
  ["a mask longer than a path", masked("a".repeat(4_096)), EPROTO],
  ["4,097 masks", Buffer.concat([overlay(PROJECT), times(4_097, frameOf("M", text("x")))]), E2BIG],
  ["Landlock twice", times(2, frameOf("H", handled)), EEXIST],
  ["truncated Landlock rules", frameOf("H", handled.subarray(1)), EPROTO],
  ["a rule whose path is not absolute", frameOf("L", rule("usr")), EPROTO],
  ["513 rules", times(513, frameOf("L", rule("/usr"))), E2BIG],
  ["rules without handled rights", Buffer.concat([frameOf("L", rule("/usr")), go]), EINVAL],
  [
    "a right no kernel knows",
    Buffer.concat([
      frameOf(
        "H",
        writer()
          .u64(1n << 60n)
          .u64(0n)
          .u64(0n)
          .done(),
      ),
      go,
    ]),
    EINVAL,
  ],
  ["half an instruction", frameOf("S", new Uint8Array(12)), EPROTO],
  ["no instruction", frameOf("S", new Uint8Array(0)), EPROTO],
  ["4,097 instructions", frameOf("S", new Uint8Array(8 * 4_097)), E2BIG],
  ["a second program", times(2, frameOf("S", new Uint8Array(8))), EEXIST],
  ["a program the kernel refuses", Buffer.concat([frameOf("S", new Uint8Array(8).fill(255)), go]), EINVAL],
  ["an unknown resource", Buffer.concat([frameOf("U", limit(99)), go]), EINVAL],
  ["17 limits", times(17, frameOf("U", limit(4))), E2BIG],
  ["`/` as a folder to empty", frameOf("D", writer().u32(0).text(bytes("/")).done()), EPROTO],
  ["five folders to empty", times(5, frameOf("D", writer().u32(0).text(bytes("/tmp")).done())), E2BIG],
  ["fewer ports than announced", frameOf("N", writer().u8(0).u16(2).u16(0).u16(80).done()), EPROTO],
  ["more ports than announced", frameOf("N", writer().u8(0).u16(0).u16(0).u16(80).done()), EPROTO],
  ["port 0", frameOf("N", writer().u8(0).u16(1).u16(0).u16(0).done()), EPROTO],
  ["loopback port 0", frameOf("N", writer().u8(0).u16(0).u16(1).u16(0).done()), EPROTO],
  ["65 loopback ports", frameOf("N", loopback(65)), E2BIG],
  ["an unknown kind of network", frameOf("N", writer().u8(2).u16(0).u16(0).done()), EPROTO],
  ["two networks", times(2, frameOf("N", writer().u8(0).u16(0).u16(0).done())), EEXIST],
  ["a start frame with a payload", frameOf("G", new Uint8Array(1)), EPROTO],
];

const command = commandPayload({ argv: ["true"] });
const COMMANDS: readonly (readonly [title: string, frames: Uint8Array])[] = [
  ["a setup frame", frameOf("U", limit(4))],
  ["an unknown kind", frameOf("\0", new Uint8Array(0))],
  ["a length over the limit", raw(1_048_577, "X", new Uint8Array(0))],
  ["a truncated command", frameOf("X", command.subarray(0, -1))],
  ["a command with a byte after it", frameOf("X", Buffer.concat([command, new Uint8Array(1)]))],
  ["an empty command", frameOf("X", new Uint8Array(0))],
  ["a command without arguments", frameOf("X", commandPayload({ argv: [] }))],
  ["a command whose folder is not absolute", frameOf("X", commandPayload({ argv: ["true"], directory: "tmp" }))],
  [
    "more arguments than present",
    frameOf("X", writer().u32(0).u64(0n).u8(0).text(bytes("/")).u32(0xffffffff).text(bytes("a")).done()),
  ],
  [
    "an unknown kind of input",
    frameOf("X", writer().u32(0).u64(0n).u8(2).text(bytes("/")).u32(1).text(bytes("a")).u32(0).done()),
  ],
  ["an end with a payload", frameOf("K", new Uint8Array(1))],
  ["an end of input with a payload", frameOf("J", new Uint8Array(1))],
];

describe.each(variants)("%s", (_variant, program) => {
  let root: string;
  let owner: Owner;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), "ambit-frames-"));
    ({ owner } = await start({ program, root }));
  });

  afterEach(async () => {
    await owner.end();
    rmSync(root, { recursive: true, force: true });
  });

  test.each(SETUP)("the setup fails: %s", async (_title, frames, errno) => {
    owner.control.write(frames);
    expect((await owner.failure()).errno).toBe(errno);
    expect(await owner.exit()).toBe(125);
    expect(owner.errors).toBe("");
    expect(readdirSync(root)).toEqual([]);
  });

  test.each(COMMANDS)("a sandbox that is ready fails: %s", async (_title, frames) => {
    owner.send("G");
    await owner.ready();
    owner.control.write(frames);
    expect((await owner.failure()).errno).toBe(EPROTO);
    expect(await owner.exit()).toBe(125);
    expect(owner.errors).toBe("");
  });

  test("the maximum is accepted", async () => {
    const most = [base, times(64, frameOf("P", pin("absent"))), times(3, base), times(16, frameOf("U", limit(4)))];
    owner.control.write(Buffer.concat([...most, go]));
    expect((await owner.ready()).pins).toEqual(Array(64).fill(0));
    expect(await owner.run({ argv: ["true"] })).toMatchObject({ how: 0, value: 0 });
  });

  test("frames may arrive a byte at a time", async () => {
    const frames = Buffer.concat([base, frameOf("P", pin("absent", 2)), go, frameOf("X", command)]);
    for (const byte of frames) owner.control.write(Uint8Array.of(byte));
    expect((await owner.ready()).pins).toEqual([0]);
    expect(await owner.done()).toMatchObject({ how: 0, value: 0 });
  });

  test("an owner that disconnects before the start frame is not a failure", async () => {
    expect(await owner.end()).toBe(0);
    expect(await owner.next()).toBeNull();
  });
});

describe("the command line", () => {
  const program = built("program");

  test.each([
    ["nothing", []],
    ["an unknown argument", ["other"]],
    ["no descriptor", ["sandbox"]],
    ["a descriptor that is the program's own input", ["sandbox", "0", "-"]],
    ["a descriptor that is not a number", ["sandbox", "3x", "-"]],
    ["a sign", ["sandbox", "+3", "-"]],
    ["the same descriptor twice", ["sandbox", "3", "3"]],
    ["an argument too many", ["sandbox", "3", "-", "more"]],
  ])("is refused: %s", (_title, words) => {
    expect(spawnSync(program, words).status).toBe(125);
  });

  test("outside its own pid namespace it does nothing: ending a command would end everything", async () => {
    const owner = new Owner(spawn(program, ["sandbox", "3", "-"], { stdio: ["ignore", "ignore", "pipe", "pipe"] }));
    expect(await owner.failure()).toEqual({ errno: EPERM, stage: "not pid 1" });
    expect(await owner.exit()).toBe(125);
  });

  test("facts are one line of JSON", () => {
    const facts = JSON.parse(execFileSync(program, ["facts"], { encoding: "utf8" }));
    expect(Object.keys(facts)).toEqual([
      ...["protocol", "arch", "landlockAbi", "seccomp", "openTree", "mountSetattr", "memfdNoexec", "tproxy"],
      ...["userNamespaces", "overlay", "supervised"],
    ]);
    expect(facts).toMatchObject({ protocol: 1, seccomp: true, openTree: true, mountSetattr: true, overlay: true });
  });
});
