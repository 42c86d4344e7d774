// Selects the variables of a person's environment that go to the daemon with a session: names that their configuration
// passes on or reads a secret from, and what shells set about themselves. Nothing else leaves the process.
import type { Config } from "../core/notation/config/config.ts";

/** The search path selects among known toolchains; it is not passed on as it is. */
const SHELLS: readonly string[] = ["TERM", "LANG", "LC_ALL", "TZ", "PATH"];

export function passedEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  user: Pick<Config, "environment" | "secrets"> | null,
): Readonly<Record<string, string>> {
  const read = (user?.secrets ?? []).flatMap(({ from }) => (from.kind === "env" ? [from.at] : []));
  const names = new Set([...SHELLS, ...(user?.environment ?? []), ...read]);
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
