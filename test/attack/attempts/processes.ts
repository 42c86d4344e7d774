// Other processes, namespaces and the kernel's own machinery.
import { type Attempt, attempt, type Mechanism, onlyFor } from "../attempt.ts";

export const PROCESSES: readonly Attempt[] = [
  attempt("ptrace-attach", "attaches to pid 1", "seccomp", "EPERM"),
  attempt("ptrace-seize", "seizes pid 1", "seccomp", "EPERM"),
  attempt("ptrace-me", "asks to be traced", "seccomp", "EPERM"),
  attempt("ptrace-child", "traces its own child", "seccomp", "EPERM"),
  attempt("vm-read", "reads pid 1's memory", "seccomp", "EPERM"),
  attempt("vm-write", "writes pid 1's memory", "seccomp", "EPERM"),
  attempt("vm-read-child", "reads its own child's memory", "seccomp", "EPERM"),
  attempt("pidfd-getfd", "takes a descriptor from pid 1", "seccomp", "EPERM"),
  attempt("kcmp-init", "compares itself with pid 1", "seccomp", "EPERM"),
  attempt("open-of=/proc/1/mem", "opens pid 1's memory as a file", "not dumpable", ["EACCES", "EPERM"]),
  attempt("dumpable", "the same, after making itself dumpable", "not dumpable", ["EACCES", "EPERM"]),
  attempt("open-of=/proc/1/environ", "reads pid 1's environment", "not dumpable", ["EACCES", "EPERM"]),
  attempt("open-of=/proc/1/maps", "reads pid 1's memory map", "not dumpable", ["EACCES", "EPERM"]),
  attempt("open-of=/proc/1/fd/3", "opens pid 1's control channel", "not dumpable", ["EACCES", "EPERM"]),
  ...onlyFor("user", [attempt("list-of=/proc/1/fd", "counts pid 1's descriptors", "not dumpable", "EACCES")]),
  // Root may see their numbers, but nothing of them: the row above.
  ...onlyFor("root", [attempt("list-of=/proc/1/fd", "counts pid 1's descriptors", "unblocked", "listed")]),
  attempt("read-link-of=/proc/1/fd/3", "reads the link of pid 1's control channel", "not dumpable", [
    "EACCES",
    "EPERM",
  ]),
  attempt("list-of=/proc/1/map_files", "lists pid 1's mapped files", "not dumpable", ["EACCES", "EPERM"]),
  attempt("proc-write=/proc/1/oom_score_adj", "has pid 1 killed first", "landlock", ["EACCES", "EPERM"]),
  attempt("prlimit-init", "changes pid 1's limits", "seccomp", "EPERM"),
  attempt("priority-init", "lowers the priority of pid 1", "seccomp", "EPERM"),
  attempt("schedule-init", "pins pid 1 to a processor", "seccomp", "EPERM"),
  attempt("kill-init=9", "kills pid 1", "pid namespace", "ignored"),
  attempt("kill-init=15", "sends pid 1 a termination signal", "pid namespace", "ignored"),
  attempt("kill-init=19", "stops pid 1", "pid namespace", "ignored"),
  attempt("kill-init=11", "sends pid 1 a segmentation fault", "pid namespace", "ignored"),
  attempt("kill-init=17", "sends pid 1 a child signal", "pid namespace", "ignored"),
  attempt("queue-init", "sends pid 1 a real-time signal", "pid namespace", "ignored"),
  attempt("kill-host", "signals a process of the machine", "pid namespace", "ESRCH"),
  attempt("see-host", "reads a process of the machine", "pid namespace", "ENOENT"),
  attempt("environments", "searches the secret in every environment", "pid namespace", "absent"),
];

const NAMESPACES: readonly string[] = ["user", "mount", "net", "pid", "ipc", "cgroup", "uts", "time"];
const CALLS: readonly string[] = [
  ...["keyctl", "add_key", "request_key", "userfaultfd", "io_uring_enter", "io_uring_register", "open_by_handle_at"],
  ...["kexec_load", "init_module", "finit_module", "delete_module", "swapon", "swapoff", "acct", "syslog", "quotactl"],
  ...["fanotify_init", "vhangup", "memfd_secret", "move_pages", "migrate_pages", "process_madvise", "lookup_dcookie"],
  ...["set_mempolicy", "remap_file_pages", "iopl", "ioperm", "modify_ldt"],
];

export const KERNEL: readonly Attempt[] = [
  ...NAMESPACES.map((name) => attempt(`unshare=${name}`, `makes a ${name} namespace`, "seccomp", "EPERM")),
  attempt("unshare-user-and=mount", "makes a user and a mount namespace at once", "seccomp", "EPERM"),
  attempt("unshare-user-and=net", "makes a user and a network namespace at once", "seccomp", "EPERM"),
  ...["user", "mount", "net", "pid"].map((name) =>
    attempt(`clone=${name}`, `starts a child in a ${name} namespace`, "seccomp", "EPERM"),
  ),
  attempt("clone3=user", "the same by a call whose arguments no filter sees", "seccomp", "ENOSYS"),
  attempt("setns=/proc/self/ns/user", "enters a namespace", "seccomp", "EPERM"),
  attempt("setns=/proc/1/ns/mnt", "enters pid 1's mounts", "not dumpable", ["EACCES", "EPERM"]),
  attempt("setns-pidfd", "the same by a descriptor of pid 1", "seccomp", "EPERM"),
  attempt("mount-tmpfs", "mounts memory", "seccomp", "EPERM"),
  attempt("mount-proc", "mounts /proc again", "seccomp", "EPERM"),
  attempt("fsopen", "mounts, with the new calls", "seccomp", "EPERM"),
  attempt("fsmount", "mounts, with the new calls", "seccomp", "EPERM"),
  attempt("pivot-root", "changes the root of the mount namespace", "seccomp", "EPERM"),
  attempt("chroot", "changes its own root directory", "seccomp", "EPERM"),
  ...CALLS.map((name) => attempt(`call=${name}`, `calls ${name}`, "seccomp", "EPERM")),
  attempt("io-uring", "creates an io_uring", "seccomp", "EPERM"),
  attempt("bpf", "loads a program into the kernel", "seccomp", "EPERM"),
  attempt("perf", "counts events", "seccomp", "EPERM"),
  attempt("file-handle", "gets a file handle", "seccomp", "EPERM"),
  attempt("clock", "sets the clock", "seccomp", "EPERM"),
  attempt("sethostname", "sets the host name", "seccomp", "EPERM"),
  attempt("reboot", "restarts the machine", "seccomp", "EPERM"),
  attempt("personality", "makes all memory executable", "seccomp", "EPERM"),
  attempt("seccomp-loosen", "adds a filter that allows more", "seccomp", "EAFNOSUPPORT"),
  // One would be asked before pid 1 about a connection; the kernel allows a process one listener.
  attempt("seccomp-listener", "installs a seccomp listener", "seccomp", "EBUSY"),
  attempt("new-privileges", "clears no_new_privs", "no new privileges", "EINVAL"),
  attempt("i386", "calls as a 32-bit program", "seccomp", "SIGSYS"),
  attempt("i386-socket", "makes a Unix socket as a 32-bit program", "seccomp", "SIGSYS"),
  attempt("i386-unshare", "makes a namespace as a 32-bit program", "seccomp", "SIGSYS"),
  attempt("x32", "calls as an x32 program", "seccomp", "SIGSYS"),
  attempt("x32-unshare", "makes a namespace as an x32 program", "seccomp", "SIGSYS"),
  attempt("vsyscall", "calls through the vsyscall page", "seccomp", ["harmless", "SIGSEGV", "SIGSYS"]),
  attempt("call-unknown", "calls an unknown number", "seccomp", "ENOSYS"),
];

/** Of the machine, or of namespaces the sandbox's own user would own: opened for writing, never written. */
const SETTINGS: readonly string[] = [
  ...["sys/kernel/modprobe", "sys/kernel/hostname", "sys/vm/overcommit_memory"],
  ...["sys/net/ipv4/ip_forward", "sys/net/ipv4/conf/all/route_localnet", "sys/user/max_user_namespaces"],
  ...["sys/fs/binfmt_misc/register", "self/mem", "self/attr/current", "self/setgroups", "self/loginuid"],
];
/** The machine's root may write them by the file's mode alone: blocked by a mount for root, in addition to Landlock. */
const MACHINES: readonly string[] = ["sys/kernel/core_pattern", "sysrq-trigger"];
/** What the kernel requires a capability for. */
const GUARDED: readonly string[] = ["kcore", "kmsg"];
/** What the machine's root gets by the file's mode alone. */
const ROOTS_OWN: readonly string[] = ["kpagecount", "kpageflags", "slabinfo", "vmallocinfo", "timer_list"];

function rootsOwn(by: Mechanism): readonly Attempt[] {
  const how = ["EACCES", "EPERM", "ENOENT", "empty"];
  return ROOTS_OWN.map((name) => attempt(`proc-read=/proc/${name}`, `reads /proc/${name}`, by, how));
}

export const PROC: readonly Attempt[] = [
  ...onlyFor(
    "root",
    MACHINES.map((name) => attempt(`proc-write=/proc/${name}`, `opens /proc/${name} for writing`, "mounts", "EROFS")),
  ),
  ...onlyFor(
    "user",
    MACHINES.map((name) =>
      attempt(`proc-write=/proc/${name}`, `opens /proc/${name} for writing`, "landlock", "EACCES"),
    ),
  ),
  ...SETTINGS.map((name) =>
    attempt(`proc-write=/proc/${name}`, `opens /proc/${name} for writing`, "landlock", [
      "EACCES",
      "EROFS",
      "ENOENT",
      "EPERM",
    ]),
  ),
  ...GUARDED.map((name) => {
    const how = ["EACCES", "EPERM", "ENOENT", "EIO", "empty"];
    return attempt(`proc-read=/proc/${name}`, `reads /proc/${name}`, "capabilities", how);
  }),
  ...onlyFor("user", rootsOwn("user namespace")),
  ...onlyFor("root", rootsOwn("mounts")),
  attempt("read-path=/sys/kernel/notes", "reads /sys", "mounts", "ENOENT"),
  attempt("list-of=/sys/fs/cgroup", "lists control groups", "mounts", "ENOENT"),
  ...["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map((set) =>
    attempt(`capabilities=${set}`, `holds capabilities (${set})`, "capabilities", "none"),
  ),
  attempt("no-new-privileges", "may gain privileges by running programs", "no new privileges", "set"),
  attempt("filter", "runs without a filter", "seccomp", "set"),
  attempt("groups", "holds other groups", "user namespace", "none"),
  attempt("capset", "takes a capability", "capabilities", "EPERM"),
  attempt("ambient", "takes an ambient capability", "capabilities", "EPERM"),
  attempt("setresuid", "becomes another user", "capabilities", ["EPERM", "EINVAL"]),
  attempt("uid-map", "changes the user mapping", "landlock", ["EACCES", "EPERM"]),
  attempt("oom-score", "lowers its out-of-memory score", "landlock", ["EACCES", "EPERM"]),
  attempt("raise-limit", "raises a limit", "capabilities", "EPERM"),
  attempt("raise-priority", "raises its priority", "capabilities", ["EACCES", "EPERM"]),
];
