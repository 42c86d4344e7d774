// What a program or script was when a person was asked about it: its content, where somebody could change it.
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { pathText } from "../authority/path.ts";
import type { Request } from "../authority/request.ts";
import { isSegments } from "../authority/scope.ts";

const wordsMax = 64;
const fileBytesMax = 16 * 1024 * 1024;

/** Of every word of a command that is a file below its root; null where there is none, or nothing is run. */
export async function pinOf(requests: readonly Request[]): Promise<string | null> {
  const whole = createHash("sha256");
  let count = 0;
  for (const { verb, values } of requests) {
    if (!verb.verb.startsWith("proc.")) continue;
    const root = values[verb.axes.findIndex(({ name }) => name === "root")];
    const argv = values[verb.axes.findIndex(({ name }) => name === "argv")];
    if (!isSegments(root) || !isSegments(argv)) continue;
    const folder = pathText(root.segments);
    for (const word of argv.segments.slice(0, wordsMax)) {
      const path = resolve(folder, word);
      const digest = path.startsWith(`${folder}/`) ? await fileDigest(path) : null;
      if (digest === null) continue;
      whole.update(`${path.length}:${path} ${digest}\n`);
      count++;
    }
  }
  return count === 0 ? null : whole.digest("hex");
}

/** Null for what is no file that can be read; one that is too large is named by its size and its time. */
async function fileDigest(path: string): Promise<string | null> {
  try {
    // An agent can leave a pipe here: opening one must not wait for somebody to write to it.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      const found = await file.stat();
      if (!found.isFile()) return null;
      if (found.size > fileBytesMax) return `${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
      return createHash("sha256")
        .update(await file.readFile())
        .digest("hex");
    } finally {
      await file.close();
    }
  } catch {
    return null;
  }
}
