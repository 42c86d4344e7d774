// Mounts over names of the root, and existing mounts there.
import { type Attempt, attempt } from "../attempt.ts";

export const MOUNTS: readonly Attempt[] = [
  attempt("mount-bind=.git", "mounts another folder over .git", "seccomp", "EPERM"),
  attempt("mount-remount=.git/config", "mounts a name writable", "seccomp", "EPERM"),
  attempt("umount=.git/config", "unmounts a name", "seccomp", "EPERM"),
  attempt("open-tree=.git/config", "copies a mount", "seccomp", "EPERM"),
  attempt("move-mount=.git/config", "moves a mount", "seccomp", "EPERM"),
  attempt("mount-setattr=.git/config", "mounts a name writable, with the new call", "seccomp", "EPERM"),
  attempt("fspick=.git/config", "reconfigures a mount", "seccomp", "EPERM"),
  attempt("umount=", "unmounts the overlay of the root", "seccomp", "EPERM"),
];
