// The clock as file systems stamp with it, and what an error says.

export function nanoseconds(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
