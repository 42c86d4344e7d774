// The log as a file of lines that can be verified with the public key alone, without ambit and without this machine.
import { isJsonList, isJsonObject, type Json } from "../../core/base/json.ts";
import type { ChainRow, CheckpointRow } from "../../core/ports/stores/chain-rows.ts";
import { canonicalJson } from "../chain/canonical.ts";
import { isHash } from "../chain/chain.ts";
import type { ChainHead } from "./verify.ts";

export interface ExportHeader {
  readonly node: string;
  /** Position of the first entry in the file. */
  readonly first: number;
  /** Public keys, oldest first: for information. The verifier supplies its own. */
  readonly keys: readonly string[];
  readonly at: number;
  /** A copy that grows with its log: it has no last line, and is valid as far as it goes. */
  readonly isCopy?: true;
}

export type ExportLine =
  | ({ readonly kind: "header" } & ExportHeader)
  /** After the header: a note in which a key names the next. */
  | { readonly kind: "rotation"; readonly text: string }
  | ({ readonly kind: "entry" } & ChainRow)
  | ({ readonly kind: "checkpoint" } & CheckpointRow)
  /** The last line: without it the file was truncated. */
  | ({ readonly kind: "head" } & ChainHead);

export const EXPORT_VERSION = 1;
/** The largest body, quoted, and a little more. */
export const exportLineCharactersMax = 262_144;
const headerKeysMax = 3000;

/** Without the line end. */
export function exportLine(line: ExportLine): string {
  return canonicalJson(line.kind === "header" ? { ...line, version: EXPORT_VERSION } : { ...line });
}

/** Null if it is not a line of such a file. */
export function readExportLine(text: string): ExportLine | null {
  if (text.length > exportLineCharactersMax) return null;
  const value = parsed(text);
  if (!isJsonObject(value)) return null;
  const read = (key: string): Json | undefined => (Object.hasOwn(value, key) ? value[key] : undefined);
  const [place, hash, note] = [read("place"), read("hash"), read("text")];
  switch (read("kind")) {
    case "header":
      return readHeader(read);
    case "entry": {
      const body = read("body");
      return isCount(place) && isHashText(hash) && typeof body === "string"
        ? { kind: "entry", place, body, hash }
        : null;
    }
    case "rotation":
      return typeof note === "string" ? { kind: "rotation", text: note } : null;
    case "checkpoint":
      return isCount(place) && typeof note === "string" ? { kind: "checkpoint", place, text: note } : null;
    case "head":
      return isCount(place) && isHashText(hash) ? { kind: "head", place, hash } : null;
    default:
      return null;
  }
}

function readHeader(read: (key: string) => Json | undefined): ExportLine | null {
  const [node, first, at, keys] = [read("node"), read("first"), read("at"), read("keys")];
  if (read("version") !== EXPORT_VERSION || typeof node !== "string" || !isCount(first) || first < 1) return null;
  const isCopy = read("isCopy");
  if (!isCount(at) || !isTexts(keys) || (isCopy !== undefined && isCopy !== true)) return null;
  return { kind: "header", node, first, keys, at, ...(isCopy === true ? { isCopy } : {}) };
}

function isCount(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isHashText(value: Json | undefined): value is string {
  return typeof value === "string" && isHash(value);
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return isJsonList(value) && value.length <= headerKeysMax && value.every((each) => typeof each === "string");
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
