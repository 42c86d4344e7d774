// References to values that ambit does not store: `env:NAME`, `file:PATH`, `cmd:PROGRAM ...`. Read when used, and only
// where the user's own configuration says so.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { CodedFailure, Result } from "../core/base/result.ts";
import { programIn, runProgram } from "./key-program.ts";

export const referencedBytesMax = 65_536;
const wordsMax = 64;

export type Reference =
  | { readonly kind: "env"; readonly name: string }
  | { readonly kind: "file"; readonly path: string }
  /** A program with its arguments; no shell parses them. */
  | { readonly kind: "cmd"; readonly argv: readonly [string, ...string[]] };

export interface ReferenceEnvironment {
  /** Source of `env:` variables, and the environment of a program. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string | null;
  /** Folders in which a program without a path is searched. Never the PATH of the process that started us. */
  readonly programs: readonly string[];
  readonly millisecondsMax: number;
}

export type ReferenceResult =
  /** The caller wipes it. */
  Result<Buffer, CodedFailure<"secret_refused">>;

/** Null if it is not a reference. Words of a command are separated by blanks; a word in double quotes may contain some. */
export function parseReference(text: string): Reference | null {
  const [, kind, rest] = /^(env|file|cmd):(.{1,4096})$/s.exec(text) ?? [];
  if (kind === undefined || rest === undefined || rest.includes("\0")) return null;
  if (kind === "env") return /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(rest) ? { kind, name: rest } : null;
  if (kind === "file") return rest.startsWith("/") || rest.startsWith("~/") ? { kind, path: rest } : null;
  if (!/^\s*(?:(?:"[^"]*"|[^\s"]+)(?:\s+|$))+$/.test(rest)) return null;
  const words = rest.match(/"[^"]*"|[^\s"]+/g)?.map((word) => word.replace(/^"|"$/g, "")) ?? [];
  const [program, ...more] = words;
  if (program === undefined || program === "" || words.length > wordsMax) return null;
  return { kind: "cmd", argv: [program, ...more] };
}

/** The value without its trailing newline. */
export async function resolveReference(reference: Reference, context: ReferenceEnvironment): Promise<ReferenceResult> {
  switch (reference.kind) {
    case "env": {
      const text = context.environment[reference.name];
      return text === undefined ? no(`the variable ${reference.name} is not set`) : whole(Buffer.from(text));
    }
    case "file":
      return readPrivate(reference.path, context.home);
    case "cmd":
      return outputOf(reference.argv, context);
    default:
      return reference satisfies never;
  }
}

/**
 * Normalises a reference: a file below the home folder and a program by their absolute paths. Null if it does not
 * exist.
 */
export function expandReference(reference: Reference, { home, programs }: ReferenceEnvironment): Reference | null {
  if (reference.kind === "file" && reference.path.startsWith("~/"))
    return home === null ? null : { kind: "file", path: `${home}/${reference.path.slice(2)}` };
  if (reference.kind !== "cmd" || reference.argv[0].startsWith("/")) return reference;
  const [name, ...words] = reference.argv;
  const program = programIn(name, programs);
  return program === null ? null : { kind: "cmd", argv: [program, ...words] };
}

export function referenceText(reference: Reference): string {
  switch (reference.kind) {
    case "env":
      return `env:${reference.name}`;
    case "file":
      return `file:${reference.path}`;
    case "cmd":
      return `cmd:${reference.argv.map((word) => (/^[^\s"]+$/.test(word) ? word : `"${word}"`)).join(" ")}`;
    default:
      return reference satisfies never;
  }
}

/** A file that other users may read is refused. */
export function readPrivate(path: string, home: string | null): ReferenceResult {
  if (path.startsWith("~/") && home === null) return no(`${path}: there is no home folder`);
  const full = path.startsWith("~/") ? `${home}/${path.slice(2)}` : path;
  const bytes = Buffer.alloc(referencedBytesMax + 1);
  try {
    const file = openSync(full, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = fstatSync(file);
      if (!found.isFile()) return no(`${full} is not a file`);
      if (found.uid !== process.getuid?.() && found.uid !== 0) return no(`${full} belongs to another user`);
      if ((found.mode & 0o077) !== 0) return no(`${full} is readable by others: it must have mode 0600`);
      let length = 0;
      for (let read = -1; read !== 0 && length < bytes.length; length += read)
        read = readSync(file, bytes, length, bytes.length - length, null);
      return whole(Buffer.from(bytes.subarray(0, length)));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return no(`${full} cannot be read (${error instanceof Error && "code" in error ? error.code : "unknown"})`);
  } finally {
    bytes.fill(0);
  }
}

async function outputOf(
  [name, ...words]: readonly [string, ...string[]],
  context: ReferenceEnvironment,
): Promise<ReferenceResult> {
  const program = name.startsWith("/") ? name : programIn(name, context.programs);
  if (program === null) return no(`no program ${name} in ${context.programs.join(", ")}: use its absolute path`);
  const said = await runProgram({
    argv: [program, ...words],
    input: null,
    environment: context.environment,
    millisecondsMax: context.millisecondsMax,
    outputBytesMax: referencedBytesMax,
  });
  return said.ok ? whole(said.output) : no(`${program} ${said.message}`);
}

function whole(bytes: Buffer): ReferenceResult {
  if (bytes.length > referencedBytesMax) return no(`it has more than ${referencedBytesMax} bytes`);
  let end = bytes.length;
  if (bytes[end - 1] === 0x0a) end--;
  if (end < bytes.length && bytes[end - 1] === 0x0d) end--;
  return end === 0 ? no("it is empty") : { ok: true, value: bytes.subarray(0, end) };
}

function no(message: string): ReferenceResult {
  return { ok: false, code: "secret_refused", message };
}
