// `ambit exec ... | slow reader` with more output than any buffer holds: every byte arrives, the program is slowed down, the
// daemon's memory is bounded, and control answers meanwhile.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isLong } from "../house/long.ts";
import { pause } from "../house/pause.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

const bigBytes = 15 * 1024 * 1024;
const pieceBytes = 256 * 1024;
/** Measured by `npm run test:long` only: elsewhere other tests run at the same time. */
const controlMillisecondsMax = 1_000;
/** Above the daemon's memory before: without backpressure all of the output is queued in it. */
const memoryKibibytesMax = 40 * 1024;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("reader", ["fs.read", "proc.exec"], "sandbox: .\n");
  writeFileSync(
    join(fixture.project, "big"),
    Buffer.from(Array.from({ length: bigBytes }, (_, at) => (at * 31) % 251)),
  );
  await fixture.begin();
});
afterAll(() => fixture?.remove());

const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

function memoryOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

test("15 MiB through a slow reader", async () => {
  // A first run, so that what the daemon loads once is not counted.
  expect((await fixture.ambit("exec", "reader", "--", "head", "-c", "10", "big")).status).toBe(0);
  const { pid } = await fixture.status();
  const before = memoryOf(pid);
  const [program = "", ...words] = fixture.words("exec", "reader", "--", "dd", "if=big", "bs=64K");
  const child = spawn(program, words, { cwd: fixture.project, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (data) => {
    said += String(data);
  });
  const closed = once(child, "close");
  const pieces: Buffer[] = [];
  let [length, memory, control] = [0, before, 0];
  for await (const piece of child.stdout.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    pieces.push(piece);
    length += piece.length;
    // Once for each 256 KiB, however the pipe splits them.
    if (Math.floor(length / pieceBytes) === Math.floor((length - piece.length) / pieceBytes)) continue;
    const asked = performance.now();
    expectValue(await fixture.control("approvals.list", { states: ["pending"], count: 10 }));
    control = Math.max(control, performance.now() - asked);
    memory = Math.max(memory, memoryOf(pid));
    await pause(50, "the reader is slow");
  }
  expect(await closed).toEqual([0, null]);
  expect(length).toBe(bigBytes);
  expect(digest(Buffer.concat(pieces))).toBe(digest(readFileSync(join(fixture.project, "big"))));
  // The program itself prints how long it was writing: as long as the reader took, but for what buffers hold.
  expect(Number(/copied, ([\d.e-]+) s/.exec(said)?.[1])).toBeGreaterThan(1);
  expect(memory - before).toBeLessThan(memoryKibibytesMax);
  if (isLong) expect(control).toBeLessThan(controlMillisecondsMax);
});

test("a reader that exits ends the program", async () => {
  const [program = "", ...words] = fixture.words("exec", "reader", "--", "yes");
  const child = spawn(program, words, { cwd: fixture.project, stdio: ["ignore", "pipe", "ignore"] });
  const closed = once(child, "close");
  child.stdout.once("data", () => child.stdout.destroy());
  await closed;
});
