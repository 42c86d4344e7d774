// Files outside the root, by every name they have.
import { type Attempt, attempt } from "../attempt.ts";

export const FILES: readonly Attempt[] = [
  attempt("read=secret", "reads a file beside the root", "mounts", "ENOENT"),
  attempt("list=outside", "lists a folder beside the root", "mounts", "ENOENT"),
  attempt("read-link=secret", "reads it through a link it makes", "mounts", "ENOENT"),
  attempt("read-planted-link=secret-link", "reads it through a link that was there", "mounts", "ENOENT"),
  attempt("read-dots", "reads it by way of `..`", "mounts", "ENOENT"),
  attempt("read-through=/proc/self/root", "reads it below /proc/self/root", "mounts", "ENOENT"),
  attempt(
    "read-through=/proc/self/cwd/../../../../../../../../../../../..",
    "reads it below /proc/self/cwd",
    "mounts",
    "ENOENT",
  ),
  attempt("read-through=/proc/1/root", "reads it below /proc/1/root", "not dumpable", "EACCES"),
  attempt("read-through=/proc/1/cwd", "reads it below /proc/1/cwd", "not dumpable", "EACCES"),
  attempt("escape-cwd", "walks up from the working directory", "mounts", "ENOENT"),
  attempt("read-path=/etc/shadow", "reads the password hashes", "mounts", "ENOENT"),
  attempt("read-path=/etc/machine-id", "reads the machine id", "mounts", "ENOENT"),
  attempt("read-path=/root/.bashrc", "reads root's home", "mounts", "ENOENT"),
  attempt("read=state_file", "reads ambit's state", "mounts", "ENOENT"),
  attempt("write=state_file", "writes ambit's state", "mounts", "ENOENT"),
  attempt("list=state", "lists ambit's state", "mounts", "ENOENT"),
  attempt("write=config_file", "writes the user's configuration of ambit", "mounts", "ENOENT"),
  attempt("write=canary", "writes a file beside the root", "mounts", "ENOENT"),
  attempt("write-beside", "makes a file in the root's parent", "mounts", ["EROFS", "EACCES"]),
  attempt("write-dots", "writes by way of `..`", "mounts", "ENOENT"),
  attempt("write-through-link", "writes through a link", "mounts", "ENOENT"),
  attempt("write-path=/usr/bin/attempt", "adds a program to the system", "mounts", "EROFS"),
  attempt("write-path=/etc/passwd", "changes the list of users", "mounts", ["EROFS", "EACCES"]),
  attempt("write-path=/etc/ld.so.preload", "has a library loaded into every program", "mounts", "EROFS"),
  attempt("write-path=/attempt", "creates a file in /", "mounts", ["EROFS", "EACCES"]),
  attempt("write-path=/run/ambit/ambit-native", "writes our own program", "mounts", ["EROFS", "ETXTBSY", "EACCES"]),
  attempt("write-path=/proc/1/exe", "writes our own program through the process", "not dumpable", "EACCES"),
  attempt("write=program_file", "writes our program's installed files", "mounts", "ENOENT"),
  attempt("reopen-writable=/usr/bin/env", "opens for reading, then again for writing", "mounts", ["EROFS", "EACCES"]),
  attempt("hardlink-in=secret", "links a file beside the root into it", "mounts", "ENOENT"),
  attempt("hardlink-in=/usr/bin/env", "links a program of the system into the root", "mounts", "EXDEV"),
  attempt("hardlink-descriptor=/usr/bin/env", "the same by its descriptor", "mounts", "EXDEV"),
  attempt("hardlink-out", "links a file of the root out of it", "mounts", "EXDEV"),
  attempt("rename-out=canary", "moves a file of the root over one outside", "mounts", "ENOENT"),
  attempt("rename-root", "moves the root itself", "mounts", ["EBUSY", "EROFS", "EACCES"]),
];

const DEVICES: readonly string[] = ["mem", "kmsg", "port", "vda", "sda", "nvme0n1", "fuse", "kvm", "vsock", "net/tun"];

export const DEVICE_FILES: readonly Attempt[] = [
  ...DEVICES.map((name) => attempt(`device=/dev/${name}`, `opens /dev/${name}`, "mounts", "ENOENT")),
  attempt("mknod=char", "makes the device of the machine's memory in the root", "landlock", ["EPERM", "EACCES"]),
  attempt("mknod=block", "makes the device of a disk in the root", "landlock", ["EPERM", "EACCES"]),
  attempt("mknod-tmp", "makes a device in /tmp", "landlock", ["EPERM", "EACCES"]),
  attempt("terminal", "reaches the terminal of its parent", "mounts", ["ENOENT", "ENXIO"]),
  attempt("terminals-of-others", "opens another user's terminal", "mounts", "ENOENT"),
  attempt("terminal-own", "makes a terminal", "mounts", "ENOENT"),
  attempt("tiocsti", "types into the terminal", "seccomp", "EPERM"),
  attempt("tiocsti-high", "the same with a high bit set that the kernel ignores", "seccomp", "EPERM"),
  attempt("tioclinux", "pastes into a console", "seccomp", "EPERM"),
  attempt("tioclinux-high", "the same with a high bit set that the kernel ignores", "seccomp", "EPERM"),
  attempt("tiocsetd", "loads another line discipline", "seccomp", "EPERM"),
];

/** Calls that change a file's mode, owner or times, and what is exchanged while each is executed. */
const CALLS: readonly string[] = ["chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "utimensat"];
const AT_FOLDER: readonly string[] = ["fchmodat", "fchmodat2", "fchownat", "utimensat"];

const race = (call: string, what: string, words: string, how: string): Attempt =>
  attempt(`race=${call}:${what}`, `${call}: ${words}`, "mounts", how);

export const METADATA: readonly Attempt[] = [
  attempt("see=canary", "sees that a file beside the root exists, its size and times", "mounts", "ENOENT"),
  attempt("see-target", "reads where a link beside the root leads", "mounts", "ENOENT"),
  attempt("change-mode=canary", "changes the mode of a file beside the root", "mounts", "ENOENT"),
  attempt("change-owner=canary", "changes its owner", "mounts", "ENOENT"),
  attempt("change-times=canary", "changes its times", "mounts", "ENOENT"),
  attempt("add-attribute=canary", "adds an attribute", "mounts", "ENOENT"),
  attempt("read-attribute=canary", "reads its attributes", "mounts", "ENOENT"),
  attempt("watch=outside", "watches a folder beside the root", "mounts", "ENOENT"),
  attempt("control=flags", "changes flags of a program by a descriptor for reading", "mounts", ["EROFS", "EACCES"]),
  attempt("control=version", "changes its version", "mounts", ["EROFS", "EACCES", "EPERM"]),
  attempt("control=volume", "makes a volume in a folder of programs", "mounts", ["EROFS", "EACCES", "ENOTTY"]),
  ...CALLS.map((call) => race(call, "memory", "rewrites the path while it is looked at", "unchanged")),
  // Of a link itself there is nothing to exchange.
  ...CALLS.filter((call) => call !== "lchown").map((call) =>
    race(call, "link", "exchanges a link while it is looked at", "unchanged"),
  ),
  ...CALLS.map((call) => race(call, "folder", "exchanges a folder on the way", "unchanged")),
  ...AT_FOLDER.map((call) => race(call, "descriptor", "exchanges the descriptor of the folder", "ENOENT")),
  ...["fchmod", "fchown"].map((call) => race(call, "file", "exchanges the descriptor of the file", "ENOENT")),
];
