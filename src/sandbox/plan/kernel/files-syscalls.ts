// The system calls of the file worker and of the lander: open below a descriptor, read, write, rename, remove, talk to
// the owner.

import type { Architecture } from "../start/system.ts";
import { Assembler, type Instruction } from "./bpf.ts";
import { ALLOW, argument, EPERM, KILL, knownArchitecture } from "./seccomp.ts";
import { numberOf, numbersOf } from "./syscalls.ts";

/** x86-64, arm64; null where the architecture has only the newer call. */
const ALLOWED: Readonly<Record<string, readonly [number | null, number | null]>> = {
  // Its owner.
  recvfrom: [45, 207],
  sendto: [44, 206],
  poll: [7, null],
  ppoll: [271, 73],
  restart_syscall: [219, 128],
  // Names, always below an open folder.
  openat2: [437, 437],
  newfstatat: [262, 79],
  fstat: [5, 80],
  lstat: [6, null],
  statx: [332, 291],
  readlink: [89, null],
  readlinkat: [267, 78],
  faccessat: [269, 48],
  faccessat2: [439, 439],
  getdents64: [217, 61],
  renameat: [264, 38],
  renameat2: [316, 276],
  unlinkat: [263, 35],
  mkdirat: [258, 34],
  umask: [95, 166],
  // Open files.
  read: [0, 63],
  pread64: [17, 67],
  write: [1, 64],
  lseek: [8, 62],
  ftruncate: [77, 46],
  fchmod: [91, 52],
  fchown: [93, 55],
  fcntl: [72, 25],
  close: [3, 57],
  // Itself.
  brk: [12, 214],
  munmap: [11, 215],
  mremap: [25, 216],
  madvise: [28, 233],
  futex: [202, 98],
  getrandom: [318, 278],
  clock_gettime: [228, 113],
  rt_sigaction: [13, 134],
  rt_sigprocmask: [14, 135],
  rt_sigreturn: [15, 139],
  exit: [60, 93],
  exit_group: [231, 94],
};

/** Further calls of the lander: flush, read and remove attributes, create links, copy. */
const LAND_ALLOWED: Readonly<Record<string, readonly [number | null, number | null]>> = {
  fsync: [74, 82],
  fdatasync: [75, 83],
  sync_file_range: [277, 84],
  syncfs: [306, 267],
  flistxattr: [196, 13],
  fgetxattr: [193, 10],
  fremovexattr: [199, 16],
  symlinkat: [266, 36],
  fchmodat: [268, 53],
  fchownat: [260, 54],
  utimensat: [280, 88],
  copy_file_range: [326, 285],
  geteuid: [107, 175],
  getegid: [108, 177],
};

const MMAP = [9, 222] as const;
const OPENAT = [257, 56] as const;
const PROT_EXEC = 4;
/** O_PATH only: links are found by it, content is read through `openat2` alone. */
const O_PATH = 0x200000;

/** Memory is never executable: no call could make it so later. */
export function filesSeccompProgram(architecture: Architecture): readonly Instruction[] {
  return allowing(numbersOf(ALLOWED, architecture), architecture);
}

export function landSeccompProgram(architecture: Architecture): readonly Instruction[] {
  return allowing([...numbersOf(ALLOWED, architecture), ...numbersOf(LAND_ALLOWED, architecture)], architecture);
}

function allowing(numbers: readonly number[], architecture: Architecture): readonly Instruction[] {
  const program = knownArchitecture(new Assembler(), architecture);
  for (const number of numbers) program.whenEqual(number, "allowed");
  return program
    .whenEqual(numberOf(MMAP, architecture) as number, "mmap")
    .unlessEqual(numberOf(OPENAT, architecture) as number, "refused")
    .load(argument(2))
    .whenAnySet(O_PATH, "allowed")
    .answer(EPERM)
    .mark("mmap")
    .load(argument(2))
    .whenAnySet(PROT_EXEC, "refused")
    .mark("allowed")
    .answer(ALLOW)
    .mark("refused")
    .answer(EPERM)
    .mark("killed")
    .answer(KILL)
    .done();
}
