// The code of an exception of the platform, such as `ENOENT`.

/** `unknown` where it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
