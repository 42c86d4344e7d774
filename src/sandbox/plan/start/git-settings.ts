// Settings for git inside a sandbox. Those of the system, which a project's own may replace: somebody to commit as, and
// that everything the sandbox sees is its own, but that a folder is a repository by its `.git` alone: one with `HEAD`,
// `objects` and a `config` among its files would name programs for git to run, and git takes it for one unasked. Those of the command, which nothing replaces: credentials come from us, for
// the hosts that were granted, and never from a helper of the host. Absent on purpose: `core.hooksPath`; hooks of the
// project run inside like anything else.
import { PROGRAM } from "../places.ts";
import type { Plan } from "../plan.ts";

/** Lines of a file of git's settings. `account`: a plain word. */
export function gitLines(account: string): readonly string[] {
  return [
    "[safe]",
    "directory = *",
    "bareRepository = explicit",
    "[user]",
    `name = ${account} (agent)`,
    `email = ${account}@agent.invalid`,
  ];
}

const SETTINGS: readonly (readonly [key: string, value: string])[] = [
  // The empty word forgets every helper named before.
  ["credential.helper", ""],
  ["credential.helper", `/${PROGRAM.join("/")} credential`],
];

export function gitSettings(): Plan["environment"] {
  const pairs = SETTINGS.flatMap(([key, value], at): [string, string][] => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  return [["GIT_CONFIG_COUNT", String(SETTINGS.length)], ...pairs, ["GIT_TERMINAL_PROMPT", "0"]];
}
