// The daemon's command line: `--state <folder> [--idle <seconds>] [--announce]`.
import { ANNOUNCE_ARGUMENT } from "./announcement.ts";
import { idleSecondsDefault } from "./life.ts";

export interface DaemonArguments {
  /** Absolute. */
  readonly state: string;
  readonly idleSeconds: number;
}

const idleSecondsMax = 7 * 24 * 60 * 60;

/** Null for any other arguments. */
export function readDaemonArguments(argv: readonly string[]): DaemonArguments | null {
  const words = argv.at(-1) === ANNOUNCE_ARGUMENT ? argv.slice(0, -1) : argv;
  const [stateWord, state, idleWord, idle] = words;
  if (stateWord !== "--state" || state === undefined || !state.startsWith("/")) return null;
  if (words.length === 2) return { state, idleSeconds: idleSecondsDefault };
  if (words.length !== 4 || idleWord !== "--idle" || !/^\d{1,6}$/.test(idle ?? "")) return null;
  return { state, idleSeconds: Math.min(Number(idle), idleSecondsMax) };
}
