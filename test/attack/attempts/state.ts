// Leftover files, programs with privileges, and exceeding resource limits.
import { type Attempt, attempt, onlyFor } from "../attempt.ts";

export const STATE: readonly Attempt[] = [
  attempt("variables", "finds the secret in its environment", "environment", "absent"),
  attempt("descriptors", "finds a descriptor of its owner's", "launcher", "EBADF"),
  attempt("streams", "finds standard streams that are not pipes", "launcher", "pipes"),
  attempt("others", "sees processes of an earlier command", "launcher", "none"),
  attempt("files-left", "sees files of an earlier command", "launcher", "none"),
  // The kernel lets only root turn them off. Nothing is lost: see the two rows below.
  ...onlyFor("root", [
    attempt("run-memory=0", "runs a program from memory", "launcher", "EACCES"),
    attempt("run-memory=16", "the same, with the exec flag", "launcher", "EACCES"),
  ]),
  ...onlyFor("user", [attempt("run-memory=0", "runs a program from memory", "unblocked", "ran")]),
  attempt("run-written=/tmp", "runs a program it wrote into /tmp", "unblocked", "ran"),
  attempt("run-written=.", "runs a program it wrote into the root", "unblocked", "ran"),
];

/** Only root can prepare these for another user to run: programs with privileges of their own. */
export const CARRIED: readonly Attempt[] = onlyFor("user", [
  attempt("carries=set-user-id", "runs a program that becomes root", "no new privileges", ["ignored", "EPERM"]),
  attempt("carries=set-group-id", "runs a program that becomes another group", "no new privileges", [
    "ignored",
    "EPERM",
  ]),
  attempt("carries=capable", "runs a program with file capabilities", "no new privileges", ["ignored", "EPERM"]),
]);

export const LIMITS: readonly Attempt[] = [
  attempt("huge-file", "writes a file beyond the limit", "limit", "EFBIG"),
  attempt("fill-tmp", "fills /tmp", "limit", "ENOSPC"),
  attempt("open-files", "opens files without end", "limit", "EMFILE"),
  attempt("lock-memory", "locks memory", "limit", ["ENOMEM", "EPERM"]),
  attempt("core-dump", "leaves a core dump", "limit", "none"),
  attempt("core-limit", "may have a core dump written", "limit", "set"),
  attempt("core-lower", "has its memory passed to the machine's core dump handler", "seccomp", "kept"),
  attempt("fork-bomb", "starts processes without end", "limit", "EAGAIN"),
  // Of the tree, or of one process if there are no control groups.
  attempt("memory", "allocates memory without end", "limit", ["ENOMEM", "SIGKILL"]),
];

/** Memory in files counts only in a control group, which on this kind of machine only root can create. */
export const TREE_LIMITS: readonly Attempt[] = [
  ...onlyFor("root", [
    attempt("memory-files", "uses memory through files without end", "limit", ["ENOMEM", "ENOSPC", "EFBIG", "SIGKILL"]),
  ]),
  ...onlyFor("user", [attempt("memory-files", "uses memory through files without end", "unblocked", "held")]),
];
