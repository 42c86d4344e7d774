// System call numbers by name, on the two supported architectures. From 424 on they are the same everywhere.
import type { Architecture } from "../start/system.ts";

/** Null: the architecture never had it. */
export type Numbers = readonly [x86: number | null, arm: number | null];

function same(number: number): Numbers {
  return [number, number];
}

/** Calls that programs in a sandbox are refused, each group for one reason. */
export const REFUSED: Readonly<Record<string, Numbers>> = {
  // A second interface to every other call, which no filter sees.
  io_uring_setup: same(425),
  io_uring_enter: same(426),
  io_uring_register: same(427),
  // Other processes: their memory, descriptors and secrets.
  ptrace: [101, 117],
  process_vm_writev: [311, 271],
  process_madvise: same(440),
  kcmp: [312, 272],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  // Mounts and other namespaces.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: same(428),
  move_mount: same(429),
  fsopen: same(430),
  fsconfig: same(431),
  fsmount: same(432),
  fspick: same(433),
  mount_setattr: same(442),
  open_tree_attr: same(467),
  unshare: [272, 97],
  setns: [308, 268],
  // Files by handle instead of by name, which bypasses mounts.
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  // Message queues that outlive their process and that pid 1 cannot list.
  mq_open: [240, 180],
  // Kernel subsystems with a history of vulnerabilities that ordinary programs do not use.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  memfd_secret: same(447),
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: same(450),
  remap_file_pages: [216, 234],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  uselib: [134, null],
  sysfs: [139, null],
  modify_ldt: [154, null],
  _sysctl: [156, null],
  // The machine: its clock, kernel, disks, name and log.
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  create_module: [174, null],
  get_kernel_syms: [177, null],
  query_module: [178, null],
  iopl: [172, null],
  ioperm: [173, null],
  quotactl: [179, 60],
  quotactl_fd: same(443),
  acct: [163, 89],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  syslog: [103, 116],
  vhangup: [153, 58],
  sethostname: [170, 161],
  setdomainname: [171, 162],
};

/**
 * Refused to programs like those above, but not to pid 1 where it connects their sockets: it takes a copy of the socket
 * and of the address.
 */
export const REFUSED_TO_COMMANDS: Readonly<Record<string, Numbers>> = {
  process_vm_readv: [310, 270],
  pidfd_getfd: same(438),
};

export const CONNECT: Numbers = [42, 203];

/** Calls that are decided by their arguments. */
export const CONDITIONAL: Readonly<Record<ConditionalCall, Numbers>> = {
  clone: [56, 220],
  clone3: [435, 435],
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
  personality: [135, 92],
  setrlimit: [160, 164],
  prlimit64: [302, 261],
  setpriority: [141, 140],
  ioprio_set: [251, 30],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
};

export type ConditionalCall =
  | "clone"
  | "clone3"
  | "ioctl"
  | "socket"
  | "socketpair"
  | "personality"
  | "setrlimit"
  | "prlimit64"
  | "setpriority"
  | "ioprio_set"
  | "sched_setparam"
  | "sched_setscheduler"
  | "sched_setaffinity"
  | "sched_setattr";

/** The last reviewed call. Newer calls fail with ENOSYS, and programs have fallbacks for that. */
export const LAST_KNOWN = 469;

export function numberOf(numbers: Numbers, architecture: Architecture): number | null {
  return numbers[architecture === "x86-64" ? 0 : 1];
}

export function numbersOf(table: Readonly<Record<string, Numbers>>, architecture: Architecture): readonly number[] {
  return Object.values(table)
    .map((numbers) => numberOf(numbers, architecture))
    .filter((number) => number !== null);
}
