// The message of a thrown value.

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Of code that others wrote: a thrown value may be hostile, so only ordinary errors are read. */
export function foreignErrorMessage(error: unknown): string {
  try {
    return error instanceof Error && typeof error.message === "string"
      ? error.message.slice(0, 2000)
      : "it threw a value that is not an Error";
  } catch {
    return "it threw a value that is not an Error";
  }
}
