// A length of time as people type it: `30m`, `2h`, `7d`.

const MILLISECONDS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Milliseconds, or null for what is no length of time. Ten years are the most that is meant. */
export function parseDuration(text: string): number | null {
  const match = /^([1-9]\d{0,6})(s|m|h|d|w)$/.exec(text);
  if (match === null) return null;
  const length = Number(match[1]) * (MILLISECONDS[match[2] as string] as number);
  return length > 3660 * (MILLISECONDS["d"] as number) ? null : length;
}
