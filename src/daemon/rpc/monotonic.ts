// The clock that all processes of a machine share and nobody can set: it tells how long a question was on its way.

export function monotonicMilliseconds(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + Math.trunc(nanoseconds / 1_000_000);
}
