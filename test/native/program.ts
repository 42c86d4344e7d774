// The native program as tests use it: built for use, built with sanitizers, and the fuzz target.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export type Variant = "program" | "sanitized" | "fuzz-path";

/** Builds what is not built yet; a machine without a compiler cannot run these tests. */
export function built(variant: Variant): string {
  const script = fileURLToPath(new URL("../../scripts/native.mjs", import.meta.url));
  return execFileSync(process.execPath, [script, variant], { encoding: "utf8" }).trim();
}

/** Every test of the protocol runs with both. */
export const variants: readonly (readonly [Variant, string])[] = (["program", "sanitized"] as const).map((variant) => [
  variant,
  built(variant),
]);

/** The users that start a sandbox: the user who runs the tests and, if that is root, an ordinary user as well. */
export const users: readonly (number | null)[] = process.getuid?.() === 0 ? [null, 12_345] : [null];
