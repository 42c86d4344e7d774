// Parses the lander's answers to the last byte. Null is an answer that does not parse, which ends the worker.
import { PayloadReader } from "../start/frame.ts";
import type { Change, FileKind, Stamp, Unlandable, UnlandableReason } from "./change.ts";
import { FILE_KINDS } from "./land-request.ts";

/** Decodes UTF-8; null for other bytes. */
export type Decode = (bytes: Uint8Array) => string | null;

/** Why one name stopped a landing, an undo or a recovery. */
export type LandProblemReason =
  /** The root's file differs from what the program saw, or from what landed. */
  | "changed"
  /** The file is gone. */
  | "gone"
  /** Its folder is gone, is a link, or is on another file system. */
  | "parent"
  | "other_kind"
  /** The folder has entries that are not deleted with it. */
  | "not_empty"
  /** A file that appeared in between is stored at the step's slot. */
  | "kept"
  | "system_error";

export interface LandProblem {
  /** Empty where it concerns no single name. */
  readonly path: string;
  readonly reason: LandProblemReason;
  /** 0 where the reason is complete. */
  readonly errno: number;
}

/** `total` includes names that did not fit into the list. */
export interface LandProblems {
  readonly total: number;
  readonly listed: readonly LandProblem[];
}

export type LandAnswer =
  | { readonly status: "done"; readonly body: Uint8Array }
  | { readonly status: "refused"; readonly errno: number; readonly reason: string }
  /** Nothing changed, or everything was rolled back. */
  | { readonly status: "conflict"; readonly landing: number; readonly conflicts: LandProblems }
  /** Some names could not be rolled back: `recover` tries again. */
  | {
      readonly status: "stuck";
      readonly landing: number;
      readonly conflicts: LandProblems;
      readonly stuck: LandProblems;
    };

const PROBLEMS: readonly (LandProblemReason | undefined)[] = [
  undefined,
  "changed",
  "gone",
  "parent",
  "other_kind",
  "not_empty",
  "kept",
  "system_error",
];

const UNLANDABLE: readonly UnlandableReason[] = [
  "name_not_text",
  "target_not_text",
  "special_file",
  "base_unreadable",
  "other_file_system",
];

/** After the request number. */
export function readLandAnswer(payload: Uint8Array, decode: Decode): LandAnswer | null {
  const body = payload.subarray(5);
  const reader = new PayloadReader(body);
  switch (payload[4]) {
    case 0:
      return { status: "done", body };
    case 1: {
      const [errno, why] = [reader.u32(), reader.text()];
      if (errno === null || why === null || reader.rest().length > 0) return null;
      return { status: "refused", errno, reason: shownText(why, decode) };
    }
    case 2:
    case 3: {
      const landing = reader.u32();
      const conflicts = readProblems(reader, decode);
      const stuck = readProblems(reader, decode);
      if (landing === null || conflicts === null || stuck === null || reader.rest().length > 0) return null;
      return payload[4] === 2
        ? { status: "conflict", landing, conflicts }
        : { status: "stuck", landing, conflicts, stuck };
    }
    default:
      return null;
  }
}

function readProblems(reader: PayloadReader, decode: Decode): LandProblems | null {
  const [total, length] = [reader.u32(), reader.u32()];
  if (total === null || length === null) return null;
  const listed: LandProblem[] = [];
  for (let left = length; left > 0; ) {
    const [reason, errno, path] = [PROBLEMS[reader.u8() ?? 0], reader.u32(), reader.text()];
    if (reason === undefined || errno === null || path === null) return null;
    left -= path.length + 6;
    if (left < 0) return null;
    listed.push({ path: shownText(path, decode), reason, errno });
  }
  return listed.length > total ? null : { total, listed };
}

export interface ScanPart {
  readonly changes: readonly Change[];
  readonly unlandable: readonly Unlandable[];
}

/** One frame of a scan, after the request number. */
export function readScanPart(payload: Uint8Array, decode: Decode): ScanPart | null {
  const changes: Change[] = [];
  const unlandable: Unlandable[] = [];
  const reader = new PayloadReader(payload.subarray(4));
  while (!reader.isAtEnd()) {
    const [kind, bytes] = [reader.u8(), reader.text()];
    if (kind === null || bytes === null) return null;
    if (kind === 4) {
      const reason = UNLANDABLE[reader.u8() ?? -1];
      if (reason === undefined) return null;
      unlandable.push({ path: shownText(bytes, decode), reason });
      continue;
    }
    const change = readChange(kind, bytes, reader, decode);
    if (change === null) return null;
    changes.push(change);
  }
  return { changes, unlandable };
}

function readChange(kind: number, bytes: Uint8Array, reader: PayloadReader, decode: Decode): Change | null {
  const path = decode(bytes)?.split("/");
  if (path === undefined || path.includes("")) return null;
  switch (kind) {
    case 0: {
      const [size, isExecutable, base] = [reader.u64(), reader.u8(), readStamp(reader)];
      if (size === null || isExecutable === null || base === undefined) return null;
      return { kind: "file", path, bytes: Number(size), isExecutable: isExecutable === 1, base };
    }
    case 1: {
      const base = readStamp(reader);
      return base === undefined ? null : { kind: "folder", path, base };
    }
    case 2: {
      const bytesOfTarget = reader.text();
      const target = bytesOfTarget === null ? null : decode(bytesOfTarget);
      const base = readStamp(reader);
      return target === null || base === undefined ? null : { kind: "link", path, target, base };
    }
    case 3: {
      const base = readStamp(reader);
      return base === undefined || base === null ? null : { kind: "delete", path, base };
    }
    default:
      return null;
  }
}

/** Null: nothing existed. Undefined: it does not parse. */
function readStamp(reader: PayloadReader): Stamp | null | undefined {
  const code = reader.u8();
  if (code === 0xff) return null;
  const kind: FileKind | undefined = FILE_KINDS[code ?? -1];
  const [device, inode, bytes, modified, changed] = [
    reader.u64(),
    reader.u64(),
    reader.u64(),
    reader.u64(),
    reader.u64(),
  ];
  const [mode, owner, group, links] = [reader.u32(), reader.u32(), reader.u32(), reader.u64()];
  if (kind === undefined || device === null || inode === null || bytes === null || modified === null) return undefined;
  if (changed === null || mode === null || owner === null || group === null || links === null) return undefined;
  return { kind, device, inode, bytes, modifiedNanoseconds: modified, changedNanoseconds: changed, mode, links };
}

/** The end of a scan: the number of entries before it, and the alarm. */
export function readScanEnd(
  body: Uint8Array,
  decode: Decode,
): { readonly changes: number; readonly unlandable: number; readonly alarm: string | null } | null {
  const reader = new PayloadReader(body);
  const [changes, unlandable, alarm] = [reader.u32(), reader.u32(), reader.text()];
  if (changes === null || unlandable === null || alarm === null || reader.rest().length > 0) return null;
  return { changes, unlandable, alarm: alarm.length === 0 ? null : shownText(alarm, decode) };
}

/** `failed`: rolled back; the root is unchanged. */
export type LandingState = "done" | "failed" | "undone";

export interface Landing {
  readonly number: number;
  readonly state: LandingState;
}

const STATES: Readonly<Record<string, LandingState>> = { D: "done", B: "failed", E: "undone", "\0": "failed" };

export function readLandings(body: Uint8Array): readonly Landing[] | null {
  const landings: Landing[] = [];
  const reader = new PayloadReader(body);
  while (!reader.isAtEnd()) {
    const [number, code] = [reader.u32(), reader.u8()];
    const state = code === null ? undefined : STATES[String.fromCharCode(code)];
    if (number === null || state === undefined) return null;
    landings.push({ number, state });
  }
  return landings;
}

export function readNumbers(body: Uint8Array, count: number): readonly number[] | null {
  const reader = new PayloadReader(body);
  const numbers = Array.from({ length: count }, () => reader.u32());
  return reader.rest().length > 0 || numbers.includes(null) ? null : (numbers as readonly number[]);
}

/** Text for people: bytes that are not UTF-8 are shown as `\xNN`. */
export function shownText(bytes: Uint8Array, decode: Decode): string {
  const text = decode(bytes);
  if (text !== null) return text;
  return Array.from(bytes, (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, "0")}`,
  ).join("");
}
