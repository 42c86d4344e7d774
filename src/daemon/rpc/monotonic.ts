// The machine-wide monotonic clock, which cannot be set: measures how long a request was in flight.

export function monotonicMilliseconds(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + Math.trunc(nanoseconds / 1_000_000);
}
