// The native program under test. Where it was not built there is nothing to test, and the runner says so.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import type { WorkerRestrictions } from "../../src/sandbox/files/worker-setup.ts";

/** `AMBIT_TEST_NATIVE`: another build of it, for example with sanitizers. */
export const nativeProgram: string =
  process.env["AMBIT_TEST_NATIVE"] ?? join(import.meta.dirname, "../../dist/native", arch(), "ambit-native");

/** Null if the program can run; otherwise the reason. */
export function nativeMissing(program: string = nativeProgram): string | null {
  if (process.platform !== "linux") return "the file worker runs on Linux";
  return existsSync(program) ? null : "the native program is not built";
}

/** What the kernel offers to confine the worker. */
export function nativeWalls(program: string = nativeProgram): WorkerRestrictions {
  const facts = JSON.parse(execFileSync(program, ["facts"], { encoding: "utf8" })) as { readonly landlockAbi: number };
  return {
    landlock: facts.landlockAbi,
    architecture: arch() === "x64" ? "x86-64" : arch() === "arm64" ? "arm64" : null,
  };
}
