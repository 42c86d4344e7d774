// The version of the package; a test holds it to package.json.
export const VERSION = "0.1.0";

/** Whether a version comes before another; false as well for what is no version. */
export function isOlderVersion(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) =>
    /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/.exec(text)?.slice(1).map(Number),
  );
  if (left === undefined || right === undefined) return false;
  const at = left.findIndex((number, place) => number !== right[place]);
  return at >= 0 && (left[at] ?? 0) < (right[at] ?? 0);
}
