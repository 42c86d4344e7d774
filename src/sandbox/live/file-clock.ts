// The file system clock, and error messages.

export function nanoseconds(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
