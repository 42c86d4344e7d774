// Of a person's environment, what goes to the daemon with a session: the names their configuration lets through or reads a
// secret from, and what shells say of themselves. Nothing else leaves the process.
import type { Config } from "../core/notation/config/config.ts";

const SHELLS: readonly string[] = ["TERM", "LANG", "LC_ALL", "TZ"];

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
