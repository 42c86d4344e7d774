// What is left lying about, programs that carry rights, and taking more than one's share.
import { type Attempt, attempt, onlyFor } from "../attempt.ts";

export const STATE: readonly Attempt[] = [
  attempt("variables", "finds the secret in its environment", "environment", "absent"),
  attempt("descriptors", "finds a descriptor of its owner's", "launcher", "EBADF"),
  attempt("streams", "finds more than pipes as its streams", "launcher", "pipes"),
  attempt("others", "sees processes of before", "launcher", "none"),
  attempt("files-left", "sees files of before", "launcher", "none"),
  // The kernel lets only root turn them off. Nothing is lost: see the two rows below.
  ...onlyFor("root", [
    attempt("run-memory=0", "runs a program from memory", "launcher", "EACCES"),
    attempt("run-memory=16", "the same, and says so", "launcher", "EACCES"),
  ]),
  ...onlyFor("user", [attempt("run-memory=0", "runs a program from memory", "nobody", "ran")]),
  attempt("run-written=/tmp", "runs a program it wrote into /tmp", "nobody", "ran"),
  attempt("run-written=.", "runs a program it wrote into the root", "nobody", "ran"),
];

/** Only root can prepare these, for somebody else to run: programs with rights of their own. */
export const CARRIED: readonly Attempt[] = onlyFor("user", [
  attempt("carries=set-user-id", "runs a program that becomes root", "no new privileges", ["ignored", "EPERM"]),
  attempt("carries=set-group-id", "runs a program that becomes another group", "no new privileges", [
    "ignored",
    "EPERM",
  ]),
  attempt("carries=capable", "runs a program that brings capabilities", "no new privileges", ["ignored", "EPERM"]),
]);

export const LIMITS: readonly Attempt[] = [
  attempt("huge-file", "writes a file beyond the limit", "limit", "EFBIG"),
  attempt("fill-tmp", "fills /tmp", "limit", "ENOSPC"),
  attempt("open-files", "opens files without end", "limit", "EMFILE"),
  attempt("lock-memory", "locks memory", "limit", ["ENOMEM", "EPERM"]),
  attempt("core-dump", "leaves a core behind", "limit", "none"),
  attempt("core-limit", "may have a core written", "limit", "set"),
  attempt("core-lower", "has its memory handed to the machine's collector of cores", "seccomp", "kept"),
  attempt("fork-bomb", "starts processes without end", "limit", "EAGAIN"),
  // Of the tree, or of one process where there are no control groups.
  attempt("memory", "takes memory without end", "limit", ["ENOMEM", "SIGKILL"]),
];

/** Memory as files counts nowhere but in a control group, which on this kind of machine is root's to make. */
export const TREE_LIMITS: readonly Attempt[] = [
  ...onlyFor("root", [
    attempt("memory-files", "takes memory as files without end", "limit", ["ENOMEM", "ENOSPC", "EFBIG", "SIGKILL"]),
  ]),
  ...onlyFor("user", [attempt("memory-files", "takes memory as files without end", "nobody", "held")]),
];
