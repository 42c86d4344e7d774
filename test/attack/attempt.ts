// One attempt to get out: how the probe is asked for it, what it tries, who must stop it, and by which answer one knows.

export type Mechanism =
  /** What is not mounted is not there, and what is mounted read-only is not written. */
  | "mounts"
  /** It comes to pass in the draft of the command, and the root stays as it is. */
  | "draft"
  | "seccomp"
  | "landlock"
  | "pid namespace"
  | "ipc namespace"
  | "user namespace"
  | "network namespace"
  | "broker"
  /** None held, so the kernel refuses. */
  | "capabilities"
  | "no new privileges"
  /** Pid 1 is not dumpable: nothing of it can be opened. */
  | "not dumpable"
  | "launcher"
  | "environment"
  | "limit"
  /** It is not kept out. The row says why that is as documented. */
  | "nobody";

export type Caller = "root" | "user";

export interface Attempt {
  /** Name and argument, as the probe takes them. */
  readonly word: string;
  readonly tries: string;
  readonly by: Mechanism;
  /** Answers that show this mechanism at work; for `nobody`, the answer of the open way. */
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

/** The lines the probe printed; whatever else is among them is a mistake of ours. */
export function outcomesIn(text: string): readonly Outcome[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Outcome => JSON.parse(line));
}
