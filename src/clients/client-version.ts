// The version of a client beside the least one that its profile is for.

/** Of the numbers of a version, `2.1.325`; what follows them does not count. */
export function isOlder(version: string, least: string): boolean {
  const [left, right] = [numbersOf(version), numbersOf(least)];
  for (const [at, number] of right.entries()) {
    const other = left[at] ?? 0;
    if (other !== number) return other < number;
  }
  return false;
}

const VERSION = /^v?(\d{1,9}(?:\.\d{1,9}){1,3})(?:[-+].*)?$/;

export function isVersion(text: string): boolean {
  return VERSION.test(text);
}

function numbersOf(version: string): readonly number[] {
  return (VERSION.exec(version)?.[1] ?? "").split(".").map(Number);
}
