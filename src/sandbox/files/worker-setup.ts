// The kernel restrictions of the worker as set-up frames: its trees, no network, few resources.
import { instructionBytes } from "../plan/kernel/bpf.ts";
import { filesSeccompProgram } from "../plan/kernel/files-syscalls.ts";
import { handledAll, type LandlockRule } from "../plan/kernel/landlock.ts";
import { frameOf, PayloadWriter } from "../plan/start/frame.ts";
import { landlockFrames, limitFrames } from "../plan/start/setup.ts";
import type { Architecture } from "../plan/start/system.ts";
import type { OpenTree } from "./open-trees.ts";

export interface WorkerRestrictions {
  /** The Landlock version of this kernel; 0 for none. */
  readonly landlock: number;
  /** Null where no seccomp filter exists for it. */
  readonly architecture: Architecture | null;
}

const READ_FILE = 1n << 2n;
const READ = READ_FILE | (1n << 3n);
/** Write and create plain files, create folders, remove both, truncate. No other kind of file is created. */
const WRITE = (1n << 1n) | (1n << 4n) | (1n << 5n) | (1n << 7n) | (1n << 8n) | (1n << 14n);

const openFilesMax = 160;
const memoryBytesMax = 268_435_456;

/** All frames before the worker's first request. No file grows beyond `fileBytesMax`. */
export function setUpFrames(
  trees: readonly OpenTree[],
  restrictions: WorkerRestrictions,
  fileBytesMax: number,
): Buffer {
  const frames: Uint8Array[] = trees.map(({ base, writable }) =>
    frameOf(
      "T",
      new PayloadWriter()
        .u8(writable ? 3 : 1)
        .text(pathBytes(base))
        .done(),
    ),
  );
  const handled = handledAll(restrictions.landlock);
  if (handled !== null) {
    const rules = trees.flatMap((tree) => ruleFor(tree, handled.files));
    frames.push(...landlockFrames({ handled, rules }, (text) => Buffer.from(text)));
  }
  const { architecture } = restrictions;
  if (architecture !== null) frames.push(frameOf("S", instructionBytes(filesSeccompProgram(architecture))));
  frames.push(
    ...limitFrames([
      ["processes", 0],
      ["fileSize", fileBytesMax],
      ["core", 0],
      ["openFiles", openFilesMax],
      ["memory", memoryBytesMax],
    ]),
    frameOf("G", new Uint8Array(0)),
  );
  return Buffer.concat(frames);
}

/**
 * The rule of a file that is only read covers that file; replacing one needs its folder. Where more than the last name
 * is missing there is no rule: a missing file needs none, and a folder far above it must not be opened.
 */
function ruleFor({ base, inside, writable }: OpenTree, handled: bigint): readonly LandlockRule[] {
  if (inside.length === 0) return [{ rights: (writable ? READ | WRITE : READ) & handled, path: base }];
  if (!writable) return [{ rights: READ_FILE & handled, path: [...base, ...inside] }];
  return inside.length > 1 ? [] : [{ rights: (READ | WRITE) & handled, path: base }];
}

function pathBytes(path: readonly string[]): Uint8Array {
  return Buffer.from(`/${path.join("/")}`);
}
