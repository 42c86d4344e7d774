// A network with nothing but loopback in it, for a client that must not reach anything else.
import { spawnSync } from "node:child_process";

const tryMillisecondsMax = 10_000;

/** A user who is not root becomes root in there, to be allowed to bring loopback up. */
const words: readonly string[] = [
  "unshare",
  ...(process.getuid?.() === 0 ? [] : ["--map-root-user"]),
  "--net",
  "/bin/sh",
  "-c",
  'ip link set lo up && exec "$@"',
  "sh",
];

export function inLoopback(program: readonly string[]): readonly string[] {
  return [...words, ...program];
}

/** Why it is not possible here; null if it is. */
export function whyNoLoopback(): string | null {
  const [program = "", ...rest] = inLoopback(["true"]);
  const { status, stderr, error } = spawnSync(program, rest, { encoding: "utf8", timeout: tryMillisecondsMax });
  return status === 0 ? null : `no network of its own can be made here: ${error?.message ?? stderr.trim()}`;
}
