// Why a root cannot be an overlay: the reason and, where there is one, a command that fixes it.
import { readFileSync, realpathSync, statfsSync } from "node:fs";
import { constants } from "node:os";
import type { RunRefusal } from "../../core/ports/process.ts";
import { unavailable } from "./refusal.ts";

const OTHER_STATE = "set XDG_STATE_HOME to a folder on a local disk (ext4, xfs, btrfs) and restart the daemon";

/** `statfs` types of file systems that the kernel rejects as the upper layer of an overlay. */
const REFUSED_TYPES: ReadonlyMap<number, string> = new Map([
  [0x794c7630, "overlayfs"],
  [0x6969, "NFS"],
  [0x65735546, "FUSE"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x01021997, "9P"],
  [0x4d44, "FAT"],
  [0x2011bab0, "exFAT"],
  [0xf15f, "eCryptfs"],
]);

/** The file system of a folder that cannot hold drafts; null where it can. */
export function unsuitableFileSystem(folder: string): string | null {
  try {
    return REFUSED_TYPES.get(statfsSync(folder).type) ?? null;
  } catch {
    return null;
  }
}

/** Checked before anything is started. `drafts`: the folder of drafts; null for a read-only root. */
export function overlayRefusal(root: string, drafts: string | null): RunRefusal | null {
  const mount = mountBelow(root);
  if (mount !== null)
    return unavailable(
      `${JSON.stringify(mount)} is a mount inside ${JSON.stringify(root)}, and an overlay cannot show it`,
      `grant a folder that has no mount inside, or unmount ${JSON.stringify(mount)}`,
    );
  if (drafts === null) return null;
  // The kernel mounts it nevertheless, and fails later at paths in between.
  if (`${realpathSync.native(drafts)}/`.startsWith(`${root}/`))
    return unavailable(
      `the state folder is inside ${JSON.stringify(root)}, and a draft cannot be inside its own root`,
      "grant a narrower folder, or set XDG_STATE_HOME to a folder outside it",
    );
  const type = unsuitableFileSystem(drafts);
  return type === null
    ? null
    : unavailable(`drafts cannot be stored in ${JSON.stringify(drafts)}: it is on ${type}`, OTHER_STATE);
}

/** The first mount strictly below a folder, from the kernel's mount list; null for none. */
export function mountBelow(folder: string, mountinfo = "/proc/self/mountinfo"): string | null {
  const prefix = `${folder}/`;
  for (const line of readFileSync(mountinfo, "utf8").split("\n")) {
    const point = line.split(" ", 5)[4];
    if (point !== undefined && plain(point).startsWith(prefix)) return plain(point);
  }
  return null;
}

/** The kernel escapes spaces, tabs, line breaks and backslashes as octal numbers. */
function plain(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

const { EPERM, EACCES, EINVAL, ELOOP, ENODEV, ENOSPC, EDQUOT, EROFS, EOPNOTSUPP, EOVERFLOW } = constants.errno;

/** The overlay error that pid 1 reports; null for another stage of the set-up. */
export function overlayFailure(stage: string, errno: number, root: string): RunRefusal | null {
  if (!stage.startsWith("overlay ") && stage !== "start moment") return null;
  const text = JSON.stringify(root);
  if (stage === "start moment")
    return unavailable("the system clock does not advance, so changes could not be distinguished", "try again");
  if (stage === "overlay attributes")
    switch (errno) {
      case EOPNOTSUPP:
        return unavailable("the state folder's file system has no user attributes, which a draft needs", OTHER_STATE);
      case ENOSPC:
      case EDQUOT:
        return unavailable("there is no space left for a draft in the state folder", "ambit changes list");
      case EROFS:
        return unavailable("the state folder is read-only, so there is no place for a draft", OTHER_STATE);
      default:
        break;
    }
  if (stage === "overlay mount")
    switch (errno) {
      case ENODEV:
        return unavailable("this kernel has no overlay file system", "sudo modprobe overlay");
      case EPERM:
        return unavailable("this kernel allows overlays only to the machine's root", "a kernel of 5.12 or later");
      case ELOOP:
        return unavailable(
          `the state folder and ${text} contain each other`,
          "set XDG_STATE_HOME to a folder outside it",
        );
      case EINVAL:
        return unavailable(
          `the kernel refuses an overlay over ${text}: there is a mount inside it, or its file system or that of the state folder cannot be a layer`,
          OTHER_STATE,
        );
      case EOVERFLOW:
      case EACCES:
        return unavailable(`the folder of the draft over ${text} is owned by another user or group`, OTHER_STATE);
      default:
        break;
    }
  const name = Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? `errno ${errno}`;
  return unavailable(`an overlay could not be created over ${text}: ${stage} (${name})`);
}
