// Settings for git inside a sandbox. System settings, which a project's own may override: a committer identity, every
// folder trusted, and a folder is a repository by its `.git` only: git would otherwise take a folder with `HEAD`,
// `objects` and a `config` among its files for a repository and run programs its `config` names. Command settings,
// which nothing overrides: no helper of the host answers for a credential; ours only says what to do. Hosts that a kept
// secret is bound to are reached through the broker, which adds it: by https and by ssh, and for libgit2 too, which reads
// files and no variables. Absent on purpose: `core.hooksPath`; hooks of the project run inside like any program.

import type { Plan } from "../plan.ts";
import { PROGRAM } from "../plan-path.ts";

/** The broker's own address inside a sandbox. */
const RELAY = "http://198.18.0.2:1";

/** Lines of a git configuration file. `account`: a plain word. `hosts`: exact names. */
export function gitLines(account: string, hosts: readonly string[]): readonly string[] {
  return [
    "[safe]",
    "directory = *",
    "bareRepository = explicit",
    "[user]",
    `name = ${account} (agent)`,
    `email = ${account}@agent.invalid`,
    ...hosts.flatMap((host) => [
      `[url "${RELAY}/${host}/"]`,
      `insteadOf = https://${host}/`,
      `insteadOf = https://${host}:443/`,
      `insteadOf = ssh://git@${host}/`,
      `insteadOf = git@${host}:`,
    ]),
  ];
}

const SETTINGS: readonly (readonly [key: string, value: string])[] = [
  // The empty value resets the list of helpers.
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
