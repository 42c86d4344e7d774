// Selects the variables of a person's environment that go to the daemon with a session: names that their configuration
// passes on or reads a secret from, and what shells set about themselves. Nothing else leaves the process.
import { pathBytesMax } from "../core/base/limits.ts";
import type { Config } from "../core/notation/config/config.ts";

/** The search path selects among known toolchains; it is not passed on as it is. */
const SHELLS: readonly string[] = ["TERM", "LANG", "LC_ALL", "TZ", "PATH"];

/** `more`: names that a client's home is made with. */
export function passedEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  user: Pick<Config, "environment" | "secrets"> | null,
  more: readonly string[] = [],
): Readonly<Record<string, string>> {
  const read = (user?.secrets ?? []).flatMap(({ from }) => (from.kind === "env" ? [from.at] : []));
  const names = new Set([...SHELLS, ...(user?.environment ?? []), ...read, ...more]);
  const values = [...names].flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(values), ...namedFolder(environment) };
}

/** The working folder as the caller's shell names it: it may have links on its path. No program gets it. */
export function namedFolder(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const { PWD } = environment;
  return PWD?.startsWith("/") === true && PWD.length <= pathBytesMax ? { PWD } : {};
}
