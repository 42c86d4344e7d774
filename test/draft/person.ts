// A person editing the root while a draft lands: a thread that edits, replaces, creates, moves and deletes files at random. At
// the end it reports what it left at each name.
import { closeSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";

interface Orders {
  readonly root: string;
  readonly names: readonly string[];
  readonly seed: number;
  readonly edits: number;
  /** Before the first edit. */
  readonly delayMilliseconds: number;
}

/** Null: deleted. A missing name was left alone. */
export type PersonResult = Readonly<Record<string, string | null>>;

export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function edit(path: string, text: string, way: number): string | null {
  if (way === 0) {
    writeFileSync(path, text);
    return text;
  }
  if (way === 1) {
    // As editors save: a new file replaces the name.
    writeFileSync(`${path}.person`, text);
    renameSync(`${path}.person`, path);
    return text;
  }
  if (way === 2) {
    const file = openSync(path, "r+");
    writeSync(file, text, 0);
    closeSync(file);
    // A longer previous text remains after it: only its beginning is known.
    return `${text}*`;
  }
  rmSync(path);
  return null;
}

function work({ root, names, seed, edits, delayMilliseconds }: Orders): PersonResult {
  const random = randomOf(seed);
  const begin = performance.now() + delayMilliseconds;
  while (performance.now() < begin);
  const left: Record<string, string | null> = {};
  for (let at = 0; at < edits; at++) {
    const name = names[Math.floor(random() * names.length)] as string;
    const until = performance.now() + random() * 10;
    while (performance.now() < until);
    try {
      left[name] = edit(join(root, name), `person ${seed} ${at}\n`, Math.floor(random() * 4));
    } catch {
      // The name or its folder does not exist at this moment.
    }
  }
  return left;
}

if (parentPort !== null) {
  const port = parentPort;
  port.once("message", () => port.postMessage(work(workerData as Orders)));
  port.postMessage("ready");
}
