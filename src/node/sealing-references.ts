// Where a value is that we do not keep: `env:NAME`, `file:PATH`, `cmd:PROGRAM ...`. Read at the moment it is used, and only
// where the user's own configuration says so.
import { spawn } from "node:child_process";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

export const referencedBytesMax = 65_536;
const commandMilliseconds = 30_000;
const wordsMax = 64;

export type Reference =
  | { readonly kind: "env"; readonly name: string }
  | { readonly kind: "file"; readonly path: string }
  /** A program with its arguments; no shell reads them. */
  | { readonly kind: "cmd"; readonly argv: readonly [string, ...string[]] };

export interface ReferenceWorld {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string | null;
}

export type Referenced =
  /** The caller wipes it. */
  | { readonly ok: true; readonly value: Buffer }
  | { readonly ok: false; readonly code: "secret_refused"; readonly message: string };

/** Null where it is none. Words of a command are parted by blanks; a word in double quotes may hold some. */
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

/** Without the newline at its end. */
export async function resolveReference(reference: Reference, world: ReferenceWorld): Promise<Referenced> {
  switch (reference.kind) {
    case "env": {
      const text = world.environment[reference.name];
      return text === undefined ? no(`the variable ${reference.name} is not set`) : whole(Buffer.from(text));
    }
    case "file":
      return readPrivate(reference.path, world.home);
    case "cmd":
      return outputOf(reference.argv, world);
    default:
      return reference satisfies never;
  }
}

/** A file that others may read is no place for a secret. */
function readPrivate(path: string, home: string | null): Referenced {
  if (path.startsWith("~/") && home === null) return no(`${path}: there is no home folder`);
  const full = path.startsWith("~/") ? `${home}/${path.slice(2)}` : path;
  const bytes = Buffer.alloc(referencedBytesMax + 1);
  try {
    const file = openSync(full, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = fstatSync(file);
      if (!found.isFile()) return no(`${full} is not a file`);
      if (found.uid !== process.getuid?.() && found.uid !== 0) return no(`${full} belongs to somebody else`);
      if ((found.mode & 0o077) !== 0) return no(`${full} can be read by others: it must have mode 0600`);
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

function outputOf([program, ...words]: readonly [string, ...string[]], world: ReferenceWorld): Promise<Referenced> {
  return new Promise((give) => {
    const pieces: Buffer[] = [];
    let length = 0;
    let problem: string | null = null;
    const child = spawn(program, words, {
      env: { ...world.environment },
      stdio: ["ignore", "pipe", "ignore"],
      shell: false,
      timeout: commandMilliseconds,
      killSignal: "SIGKILL",
    });
    child.stdout.on("data", (bytes: Buffer) => {
      length += bytes.length;
      if (length > referencedBytesMax) {
        problem = `said more than ${referencedBytesMax} bytes`;
        child.kill("SIGKILL");
      } else pieces.push(bytes);
    });
    child.once("error", (error) => {
      problem ??= `cannot be run (${"code" in error ? error.code : "unknown"})`;
      if (child.pid === undefined) give(no(`${program} ${problem}`));
    });
    child.once("close", (status, signal) => {
      if (problem === null && signal !== null) problem = `was ended by ${signal}`;
      if (problem === null && status !== 0) problem = `ended with status ${status}`;
      const bytes = Buffer.concat(pieces);
      for (const piece of pieces) piece.fill(0);
      give(problem === null ? whole(bytes) : no(`${program} ${problem}`));
    });
  });
}

function whole(bytes: Buffer): Referenced {
  if (bytes.length > referencedBytesMax) return no(`it has more than ${referencedBytesMax} bytes`);
  let end = bytes.length;
  if (bytes[end - 1] === 0x0a) end--;
  if (end < bytes.length && bytes[end - 1] === 0x0d) end--;
  return end === 0 ? no("it is empty") : { ok: true, value: bytes.subarray(0, end) };
}

function no(message: string): Referenced {
  return { ok: false, code: "secret_refused", message };
}
