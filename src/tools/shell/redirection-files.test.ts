// A file that a command writes to: backpressure for a writer faster than the file, every byte in order.
import { expect, test } from "vitest";
import type { FilePath } from "../../core/ports/files.ts";
import { BufferBudget } from "./buffer-budget.ts";
import { pipeBytesMax, pipeBytesUsual } from "./language/limits.ts";
import { FileSink, type RedirectionFiles } from "./redirection-files.ts";

const path = ["f"] as unknown as FilePath;

/** Appends when the test allows it. */
function slowFile(): { files: RedirectionFiles; written: Uint8Array[]; allow(): void } {
  const waiting: (() => void)[] = [];
  const written: Uint8Array[] = [];
  const files: RedirectionFiles = {
    read: async () => ({ ok: true, value: new Uint8Array(0) }),
    empty: async () => ({ ok: true, value: null }),
    append: async (_, bytes) => {
      if (bytes.length > 0) await new Promise<void>((done) => waiting.push(done));
      written.push(bytes);
      return { ok: true, value: null };
    },
  };
  return { files, written, allow: () => waiting.shift()?.() };
}

test("a writer waits when enough is buffered for the file, and everything is written in order", async () => {
  const { files, written, allow } = slowFile();
  const room = new BufferBudget();
  const opened = await FileSink.open(files, path, false, room, () => expect.unreachable());
  if (!opened.ok) throw new Error(opened.reason);
  const sink = opened.value;
  expect(sink.write(Uint8Array.of(1))).toBeUndefined();
  expect(sink.write(new Uint8Array(pipeBytesUsual - 1).fill(2))).toBeUndefined();
  const ready = sink.write(Uint8Array.of(3));
  expect(ready).toBeInstanceOf(Promise);
  let isReady = false;
  void Promise.resolve(ready).then(() => {
    isReady = true;
  });
  for (let turns = 0; turns < 10; turns++) {
    if (turns < 5) expect(isReady).toBe(false);
    else allow();
    await new Promise((done) => setImmediate(done));
  }
  expect(isReady).toBe(true);
  await sink.end();
  const all = Buffer.concat(written);
  expect([all.length, all[0], all[1], all.at(-1), room.bytes]).toEqual([pipeBytesUsual + 1, 1, 2, 3, 0]);
});

test("a writer that does not wait is stopped at the limit", async () => {
  const { files } = slowFile();
  const failed: string[] = [];
  const opened = await FileSink.open(files, path, true, new BufferBudget(), ({ reason }) => failed.push(reason));
  if (!opened.ok) throw new Error(opened.reason);
  void opened.value.write(Uint8Array.of(1));
  void opened.value.write(new Uint8Array(pipeBytesMax));
  void opened.value.write(new Uint8Array(1));
  expect(failed).toHaveLength(1);
});
