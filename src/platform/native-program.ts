// Our native program in our package: one for each processor, of which the package has x64 and arm64.
import { closeSync, openSync, readSync } from "node:fs";
import { join, resolve } from "node:path";

export function nativeProgram(program: string, architecture: string = process.arch): string {
  return join(program, "dist", "native", architecture, "ambit-native");
}

export interface NativeProblem {
  readonly message: string;
  readonly fix: string;
}

/** The processor in the header of an ELF file, by Node's names. */
const MACHINES: Readonly<Record<number, string>> = { 62: "x64", 183: "arm64" };
const machineAt = 18;
const headerBytes = 20;

/**
 * Why the file cannot be run here; null if it can. Asked before a start: a program that the kernel does not know is run by
 * the shell as a script.
 */
export function nativeProblem(native: string): NativeProblem | null {
  if (process.platform !== "linux") return nativeMissing(native);
  const header = headerOf(native);
  if (header === null) return nativeMissing(native);
  const begin = header.toString("latin1", 0, 4);
  if (begin.startsWith("#!")) return null;
  const machine = begin === "\x7fELF" ? MACHINES[header.readUInt16LE(machineAt)] : "no program";
  if (machine === undefined || machine === process.arch) return null;
  const what = machine === "no program" ? machine : `for ${machine}`;
  return { ...nativeMissing(native), message: `${native} is ${what}, and this machine is ${process.arch}` };
}

function headerOf(native: string): Buffer | null {
  try {
    const file = openSync(native, "r");
    try {
      const header = Buffer.alloc(headerBytes);
      return readSync(file, header, 0, headerBytes, 0) === headerBytes ? header : Buffer.alloc(headerBytes);
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

/** What to say where there is no file at that path. The package has the sources, so it can be built where it is installed. */
export function nativeMissing(native: string): NativeProblem {
  if (process.platform !== "linux")
    return {
      message: `ambit runs programs on Linux, and this is ${process.platform}`,
      fix: "use a Linux machine, virtual machine or container (on Windows: WSL 2)",
    };
  const build = resolve(native, "..", "..", "..", "..", "scripts", "native.mjs");
  return {
    message: `ambit's native program for ${process.arch} is missing`,
    fix: `build it, which needs a C compiler: node ${JSON.stringify(build)} program`,
  };
}
