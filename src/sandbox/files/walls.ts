// What the kernel holds the worker to, as the frames that ask for it: its trees, nothing of the network, few resources.
import { instructionBytes } from "../plan/kernel/bpf.ts";
import { filesSeccompProgram } from "../plan/kernel/files-syscalls.ts";
import { handledAll, type LandlockRule } from "../plan/kernel/landlock.ts";
import { frameOf, PayloadWriter } from "../plan/start/frame.ts";
import { landlockFrames, limitFrames } from "../plan/start/setup.ts";
import type { Architecture } from "../plan/start/system.ts";
import type { Place } from "./places.ts";

export interface Walls {
  /** The version of Landlock this kernel has; 0 is none. */
  readonly landlock: number;
  /** Null where no filter of system calls is written for it. */
  readonly architecture: Architecture | null;
}

const READ_FILE = 1n << 2n;
const READ = READ_FILE | (1n << 3n);
/** Write and make plain files, make folders, remove both, and shorten files. Nothing else is ever made. */
const WRITE = (1n << 1n) | (1n << 4n) | (1n << 5n) | (1n << 7n) | (1n << 8n) | (1n << 14n);

const openFilesMax = 160;
const memoryBytesMax = 268_435_456;

/** Everything the worker is told before its first request. No file is made longer than `fileBytesMax`. */
export function setUpFrames(places: readonly Place[], walls: Walls, fileBytesMax: number): Buffer {
  const frames: Uint8Array[] = places.map(({ base, writable }) =>
    frameOf(
      "T",
      new PayloadWriter()
        .u8(writable ? 3 : 1)
        .text(pathBytes(base))
        .done(),
    ),
  );
  const handled = handledAll(walls.landlock);
  if (handled !== null) {
    const rules = places.flatMap((place) => ruleFor(place, handled.files));
    frames.push(...landlockFrames({ handled, rules }, (text) => Buffer.from(text)));
  }
  const { architecture } = walls;
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
 * One file that is only read is all that its rule opens; one that is replaced needs its folder. Where more than the
 * last name is missing there is no rule: what is not there needs none, and a folder far above it must not be opened.
 */
function ruleFor({ base, inside, writable }: Place, handled: bigint): readonly LandlockRule[] {
  if (inside.length === 0) return [{ rights: (writable ? READ | WRITE : READ) & handled, path: base }];
  if (!writable) return [{ rights: READ_FILE & handled, path: [...base, ...inside] }];
  return inside.length > 1 ? [] : [{ rights: (READ | WRITE) & handled, path: base }];
}

function pathBytes(path: readonly string[]): Uint8Array {
  return Buffer.from(`/${path.join("/")}`);
}
