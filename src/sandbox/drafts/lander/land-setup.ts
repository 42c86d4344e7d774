// The kernel restrictions of the lander as set-up frames: its root and the drafts, no network, few resources.

import { folderFrame } from "../../plan/drafts/land-request.ts";
import { instructionBytes } from "../../plan/kernel/bpf.ts";
import { landSeccompProgram } from "../../plan/kernel/files-syscalls.ts";
import { handledAll } from "../../plan/kernel/landlock.ts";
import { frameOf } from "../../plan/start/frame.ts";
import { landlockFrames, limitFrames } from "../../plan/start/setup.ts";
import type { Architecture } from "../../plan/start/system.ts";

export interface LandFolders {
  /** Real absolute path of the root: a link in it is refused. */
  readonly root: string;
  /** Real absolute path of the folder of drafts. */
  readonly drafts: string;
}

export interface LandRestrictions {
  /** The Landlock version of this kernel; 0 for none. */
  readonly landlock: number;
  /** Null where no seccomp filter exists for it. */
  readonly architecture: Architecture | null;
}

/**
 * Write, read, list, remove and create files, folders and links, move them between folders, truncate. No devices,
 * sockets or pipes.
 */
const RIGHTS =
  (1n << 1n) |
  (1n << 2n) |
  (1n << 3n) |
  (1n << 4n) |
  (1n << 5n) |
  (1n << 7n) |
  (1n << 8n) |
  (1n << 12n) |
  (1n << 13n) |
  (1n << 14n);
/** Landlock version 1 forbids every rename between folders, which a landing needs. */
export const landlockVersionMin = 2;
/** Two folders for each level of a scan, and a reserve. */
const openFilesMax = 1024;
const memoryBytesMax = 1_073_741_824;

export function landSetUpFrames({ root, drafts }: LandFolders, restrictions: LandRestrictions): Buffer {
  const frames: Uint8Array[] = [folderFrame("root", Buffer.from(root)), folderFrame("drafts", Buffer.from(drafts))];
  const handled = restrictions.landlock < landlockVersionMin ? null : handledAll(restrictions.landlock);
  if (handled !== null) {
    const rules = [root, drafts].map((path) => ({ rights: RIGHTS & handled.files, path: path.split("/").slice(1) }));
    frames.push(...landlockFrames({ handled, rules }, (text) => Buffer.from(text)));
  }
  const { architecture } = restrictions;
  if (architecture !== null) frames.push(frameOf("S", instructionBytes(landSeccompProgram(architecture))));
  frames.push(
    ...limitFrames([
      ["processes", 0],
      ["core", 0],
      ["openFiles", openFilesMax],
      ["memory", memoryBytesMax],
    ]),
    frameOf("G", new Uint8Array(0)),
  );
  return Buffer.concat(frames);
}
