// Where a command gets a secret from: typed without being shown, piped in, a variable, a file. Never from its arguments,
// which everybody on the machine can read.
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { ControlPorts } from "../control-ports.ts";

export const valueBytesMax = 65_536;

export interface ValueSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What is piped in. */
  input(): AsyncIterable<Uint8Array>;
}

export interface SecretsPorts extends ControlPorts {
  /** The process's own where it is not said. */
  readonly values?: ValueSources;
}

export type ValueResult =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly message: string; readonly isUsage: boolean };

const OWN: ValueSources = { environment: process.env, input: () => process.stdin };

/** Without `from`: typed where there is a person, otherwise piped in. */
export async function readValue(
  ports: SecretsPorts,
  from: string | undefined,
  question: string,
  again: string | null,
): Promise<ValueResult> {
  const { environment, input } = ports.values ?? OWN;
  if (from === "-" || (from === undefined && !ports.terminal.isInteractive)) return whole(await piped(input()));
  if (from === undefined) return typed(ports, question, again);
  const [, kind, at] = /^(env|file):(.+)$/s.exec(from) ?? [];
  if (kind === "env") {
    const text = environment[at ?? ""];
    return text === undefined ? no(`the variable ${at} is not set`) : whole(Buffer.from(text));
  }
  return kind === "file" ? fromFile(at ?? "") : no("--from must be env:NAME, file:PATH or -", true);
}

/** A variable of the command's environment; null if unset. */
export function variable(ports: SecretsPorts, name: string): string | null {
  const text = (ports.values ?? OWN).environment[name];
  return text === undefined || text === "" ? null : text;
}

async function typed({ terminal }: SecretsPorts, question: string, again: string | null): Promise<ValueResult> {
  const value = await terminal.secret(question);
  if (value === null || value === "") return no("no value entered");
  if (again !== null && (await terminal.secret(again)) !== value) return no("the two values differ");
  return whole(Buffer.from(value));
}

async function piped(input: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of input) {
    pieces.push(piece);
    length += piece.length;
    if (length > valueBytesMax + 2) break;
  }
  return Buffer.concat(pieces);
}

function fromFile(path: string): ValueResult {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = fstatSync(file);
      if (!found.isFile()) return no(`${path} is not a file`);
      if (found.size > valueBytesMax + 2) return no(`${path} is larger than ${valueBytesMax} bytes`);
      const bytes = Buffer.alloc(valueBytesMax + 3);
      return whole(bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0)));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return no(`cannot read ${path} (${error instanceof Error && "code" in error ? error.code : "unknown"})`);
  }
}

/** One newline at the end is the editor's, not the secret's. */
function whole(bytes: Buffer): ValueResult {
  let end = bytes.length;
  if (bytes[end - 1] === 0x0a) end--;
  if (end < bytes.length && bytes[end - 1] === 0x0d) end--;
  if (end === 0) return no("the value is empty");
  if (end > valueBytesMax) return no(`the value is larger than ${valueBytesMax} bytes`);
  const value = bytes.toString("utf8", 0, end);
  return Buffer.from(value).equals(bytes.subarray(0, end)) ? { ok: true, value } : no("the value is not text");
}

function no(message: string, isUsage = false): ValueResult {
  return { ok: false, message, isUsage };
}
