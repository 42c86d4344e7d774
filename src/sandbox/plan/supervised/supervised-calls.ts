// System calls that a sandbox without namespaces refuses or hands over beside those of `syscalls.ts`: what namespaces would
// have kept apart, and what Landlock does not hold.
import type { Numbers } from "../kernel/syscalls.ts";

/** Objects of the whole machine that have ids instead of names: another program's could be used by guessing. */
export const SHARED_OBJECTS: Readonly<Record<string, Numbers>> = {
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  semget: [64, 190],
  semop: [65, 193],
  semctl: [66, 191],
  semtimedop: [220, 192],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  mq_unlink: [241, 181],
};

/** Refused with EPERM, like those of every sandbox. */
export const OTHERS_REFUSED: Readonly<Record<string, Numbers>> = {
  process_mrelease: [448, 448],
  statmount: [457, 457],
  listmount: [458, 458],
  file_setattr: [469, 469],
};

/**
 * Attributes of files: Landlock does not hold them, and few programs need them. Reading is refused by name alone: a descriptor
 * was opened for reading, which Landlock holds.
 */
export const ATTRIBUTES: Readonly<Record<string, Numbers>> = {
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
  getxattr: [191, 8],
  lgetxattr: [192, 9],
  listxattr: [194, 11],
  llistxattr: [195, 12],
  setxattrat: [463, 463],
  getxattrat: [464, 464],
  listxattrat: [465, 465],
  removexattrat: [466, 466],
};

/** Older forms of calls that are handed over in their newest form; C libraries do not use them. */
export const OUTDATED: Readonly<Record<string, Numbers>> = {
  utime: [132, null],
  utimes: [235, null],
  futimesat: [261, null],
};

/** Servers would listen on the machine's own network; a watch on a folder would tell names that Landlock hides. */
export const NO_ACCESS: Readonly<Record<string, Numbers>> = {
  bind: [49, 200],
  listen: [50, 201],
  inotify_add_watch: [254, 27],
};

/** Executed by the supervisor (`native/metadata.c`), in the trees that may be written. */
export const METADATA: Readonly<Record<string, Numbers>> = {
  chmod: [90, null],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  chown: [92, null],
  fchown: [93, 55],
  lchown: [94, null],
  fchownat: [260, 54],
  utimensat: [280, 88],
};

/** Decided by their arguments. */
export const SENDING: Readonly<Record<"sendto" | "sendmsg" | "sendmmsg" | "setsockopt", Numbers>> = {
  sendto: [44, 206],
  sendmsg: [46, 211],
  sendmmsg: [307, 269],
  setsockopt: [54, 208],
};
