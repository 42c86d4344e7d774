// One attempt to escape: the argument of the probe, what it tries, what must stop it, and the answer that shows it.

export type Mechanism =
  /** What is not mounted does not exist, and what is mounted read-only cannot be written. */
  | "mounts"
  /** It succeeds in the draft of the command, and the root is unchanged. */
  | "draft"
  | "seccomp"
  | "landlock"
  | "pid namespace"
  | "ipc namespace"
  | "user namespace"
  | "network namespace"
  | "broker"
  /** The process has none, so the kernel refuses. */
  | "capabilities"
  | "no new privileges"
  /** Pid 1 is not dumpable: nothing of it can be opened. */
  | "not dumpable"
  | "launcher"
  /** Without namespaces: it executes the call on a file it resolved itself, or refuses it. */
  | "supervisor"
  | "environment"
  | "limit"
  /** It is not blocked. The row says why that is as documented. */
  | "unblocked";

export type Caller = "root" | "user";

/** Which sandbox: with namespaces, or the one where they are refused. */
export type Backend = "namespaces" | "supervised";

export interface Attempt {
  /** Name and argument of the probe. */
  readonly word: string;
  readonly tries: string;
  readonly by: Mechanism;
  /** Answers that show this mechanism at work; for `unblocked`, the answer of the successful attempt. */
  readonly how: readonly string[];
  /** Null: both. */
  readonly caller: Caller | null;
}

export function attempt(word: string, tries: string, by: Mechanism, how: string | readonly string[]): Attempt {
  return { word, tries, by, how: typeof how === "string" ? [how] : how, caller: null };
}

export function onlyFor(caller: Caller, rows: readonly Attempt[]): readonly Attempt[] {
  return rows.map((row) => ({ ...row, caller }));
}

export interface Outcome {
  readonly attempt: string;
  readonly outcome: "blocked" | "open" | "untried";
  readonly how: string;
  readonly detail: string;
}

/** The lines the probe printed; any other output is an error of ours. */
export function outcomesIn(text: string): readonly Outcome[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Outcome => JSON.parse(line));
}
