// The second column of the table: what stops an attempt in the sandbox without namespaces, where it is not what stops it with
// them. What is weaker there has its words; `docs/limits.md` says the same.
import type { Attempt, Caller, Mechanism } from "../attempt.ts";

interface Without {
  readonly words: readonly string[];
  readonly by: Mechanism;
  readonly how: readonly string[];
  /** What a program can do here and not with namespaces, or cannot do here and can with them. */
  readonly differs?: string;
  readonly caller?: Caller;
}

const COLUMN: readonly Without[] = [
  {
    words: [
      ...["read=secret", "list=outside", "read-link=secret", "read-planted-link=secret-link", "read-dots"],
      ...[
        "read-through=/proc/self/root",
        "read-through=/proc/self/cwd/../../../../../../../../../../../..",
        "escape-cwd",
      ],
      ...["read-through=/proc/1/root", "read-through=/proc/1/cwd"],
      ...[
        "read-path=/etc/shadow",
        "read-path=/etc/machine-id",
        "read-path=/root/.bashrc",
        "read-path=/sys/kernel/notes",
      ],
      ...["read=state_file", "write=state_file", "list=state", "write=config_file", "write=canary", "write-dots"],
      ...["write-beside", "write-through-link", "write-path=/usr/bin/attempt", "write-path=/etc/ld.so.preload"],
      ...["write-path=/etc/passwd", "write-path=/attempt", "write-path=/proc/1/exe", "reopen-writable=/usr/bin/env"],
      ...["write=program_file", "rename-out=canary", "rename-root", "hardlink-out"],
      ...["open-of=/proc/1/mem", "dumpable", "open-of=/proc/1/environ", "open-of=/proc/1/maps", "open-of=/proc/1/fd/3"],
      ...["list-of=/proc/1/fd", "read-link-of=/proc/1/fd/3", "list-of=/proc/1/map_files", "setns=/proc/1/ns/mnt"],
      ...["see-host", "environments", "others", "list-of=/sys/fs/cgroup", "interfaces", "ipc-named-memory"],
      ...["terminal", "terminal-own"],
    ],
    by: "landlock",
    how: ["EACCES"],
  },
  { words: ["hardlink-in=secret"], by: "landlock", how: ["EXDEV"] },
  // An ordinary user may not link files of root's, before Landlock is asked.
  {
    words: ["hardlink-in=/usr/bin/env", "hardlink-descriptor=/usr/bin/env"],
    by: "landlock",
    how: ["EXDEV", "EPERM"],
  },
  // It is elsewhere on the machine; writing it is `write-path=/usr/bin/attempt`.
  { words: ["write-path=/run/ambit/ambit-native"], by: "landlock", how: ["ENOENT", "EACCES"] },
  {
    words: [
      ...["mem", "kmsg", "port", "vda", "sda", "nvme0n1", "fuse", "kvm", "vsock", "net/tun"].map(
        (name) => `device=/dev/${name}`,
      ),
      ...["terminals-of-others", "read-path=/etc/machine-id"],
      ...["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger"].map((path) => `proc-write=${path}`),
      ...["kpagecount", "kpageflags", "slabinfo", "vmallocinfo", "timer_list"].map((name) => `proc-read=/proc/${name}`),
    ],
    by: "landlock",
    how: ["EACCES", "ENOENT"],
  },
  {
    words: ["see=canary"],
    by: "unblocked",
    how: ["seen"],
    differs: "a program that guesses a path learns whether it exists, its size and its times",
  },
  {
    words: ["see-target"],
    by: "unblocked",
    how: ["done"],
    differs: "a program that guesses the path of a symbolic link learns where it leads",
  },
  {
    words: ["change-mode=canary", "change-owner=canary", "change-times=canary"],
    by: "supervisor",
    how: ["EPERM"],
  },
  { words: ["add-attribute=canary", "read-attribute=canary"], by: "seccomp", how: ["EOPNOTSUPP"] },
  { words: ["watch=outside"], by: "seccomp", how: ["EACCES"] },
  { words: ["control=flags", "control=version", "control=volume"], by: "seccomp", how: ["EPERM"] },
  {
    words: [
      ...["chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "utimensat"].flatMap((call) => [
        `race=${call}:memory`,
        `race=${call}:folder`,
        ...(call === "lchown" ? [] : [`race=${call}:link`]),
      ]),
      ...["fchmodat", "fchmodat2", "fchownat", "utimensat"].map((call) => `race=${call}:descriptor`),
      ...["race=fchmod:file", "race=fchown:file"],
    ],
    by: "supervisor",
    how: ["unchanged"],
  },
  {
    words: ["run-memory=0", "run-memory=16"],
    caller: "root",
    by: "unblocked",
    how: ["ran"],
    differs: "root's programs run programs from memory, as an ordinary user's do; nothing is gained by it",
  },
  {
    words: ["run-written=/tmp"],
    by: "landlock",
    how: ["EACCES"],
    differs: "the temporary folder is `$TMPDIR`; `/tmp` is the machine's and cannot be used",
  },
  {
    words: ["kill-init=9", "kill-init=15", "kill-init=19", "kill-init=11", "kill-init=17", "queue-init", "kill-host"],
    by: "landlock",
    how: ["EPERM"],
    differs: "the answer tells that a process with this number exists",
  },
  {
    words: ["capabilities=CapBnd"],
    caller: "user",
    by: "unblocked",
    how: ["held"],
    differs:
      "an ordinary user cannot lower the bound of capabilities; no program of it can gain one (no new privileges)",
  },
  { words: ["groups"], by: "launcher", how: ["none"] },
  {
    words: [
      ...["unix-connect=unix_outside", "unix-connect=unix_state", "unix-connect=unix_inside"],
      ...["unix-connect=unix_abstract", "unix-bind"],
      ...["memory", "link", "descriptor"].map((what) => `unix-race=${what}:unix_inside`),
    ],
    by: "seccomp",
    how: ["EAFNOSUPPORT"],
  },
  {
    words: ["unix-own=stream", "unix-own=seqpacket", "unix-queue"],
    by: "seccomp",
    how: ["EAFNOSUPPORT"],
    differs: "Unix sockets with names do not exist, also not among a command's own programs",
  },
  { words: ["unix-redirect-pair=unix_inside", "unix-bind-pair"], by: "seccomp", how: ["EACCES"] },
  {
    words: [
      ...["inet:3:1", "inet:3:255", "inet:2:1", "inet6:2:58", "inet:1:262", "inet:1:132", "inet:5:132", "inet:2:136"],
      ...["inet:6:33", "netlink:3:9", "netlink:3:12", "netlink:3:15", "netlink:3:16"],
    ].map((socket) => `socket=${socket}`),
    by: "seccomp",
    how: ["EAFNOSUPPORT"],
  },
  {
    words: [
      "socket-netlinks",
      ...["127.0.0.1/tcp4", "::1/tcp6", "::ffff:127.0.0.1/tcp4", "0.0.0.0/tcp4"].map((to) => `tcp-scene=${to}`),
      ...["fast-open=127.0.0.1/tcp4", "udp-scene=127.0.0.1/udp4", "udp-scene=::1/udp6"],
      ...["192.0.2.1/443", "2001:db8::1/443", "169.254.169.254/80", "198.18.0.1/15001", "198.18.0.2/1"].map(
        (to) => `tcp=${to}`,
      ),
      ...["udp=192.0.2.1/53", "udp=192.0.2.1/443"],
    ],
    by: "seccomp",
    how: ["EAFNOSUPPORT"],
  },
  { words: ["ipc-memory", "ipc-messages", "ipc-semaphores"], by: "seccomp", how: ["EPERM"] },
  {
    words: ["fill-tmp"],
    by: "limit",
    how: ["EFBIG"],
    differs: "one file has its limit; all temporary files together have none but the disk's",
  },
];

/** Of a sandbox that has a network. */
export const NETWORK_COLUMN: readonly Without[] = [
  // Over a stream, where a message that cannot be a question ends it.
  { words: ["dns-nonsense=1234", "dns-nonsense=123481800001000100000000"], by: "broker", how: ["short", "FORMERR"] },
  // Whatever server is asked, ours answers.
  { words: ["dns-elsewhere=93.184.215.14:evil.test"], by: "broker", how: ["NXDOMAIN"] },
  { words: ["udp=93.184.215.14/443", "udp=198.18.0.53/123"], by: "supervisor", how: ["ENETUNREACH"] },
  {
    words: ["capabilities=CapBnd"],
    caller: "user",
    by: "unblocked",
    how: ["held"],
    differs: "no program can gain one (no new privileges)",
  },
];

/** Mechanisms that do not exist without namespaces. */
const ABSENT: readonly Mechanism[] = [
  ...(["mounts", "draft", "pid namespace", "ipc namespace", "user namespace", "network namespace"] as const),
];

/** The rows of a caller with the second column in place of the first. A word of the column that no row has is an error. */
export function withoutNamespaces(
  rows: readonly Attempt[],
  caller: Caller,
  answers: readonly Without[] = COLUMN,
): readonly Attempt[] {
  const column = new Map<string, Without>();
  for (const one of answers)
    if (one.caller === undefined || one.caller === caller) for (const word of one.words) column.set(word, one);
  const known = new Set(rows.map(({ word }) => word));
  const orphans = [...column.keys()].filter((word) => !known.has(word));
  if (orphans.length > 0) throw new Error(`no row has these words: ${orphans.join(", ")}`);
  return rows.map((row) => {
    const other = column.get(row.word);
    if (other === undefined && ABSENT.includes(row.by))
      throw new Error(`${row.word} needs an answer without ${row.by}`);
    if (other === undefined) return row;
    const { by, how, differs } = other;
    return { ...row, by, how, tries: differs === undefined ? row.tries : `${row.tries}; ${differs}` };
  });
}
