// Parses git's ref files: a loose ref, HEAD, and `packed-refs`. Strict; symbolic refs are never followed.

import { type GitResult, printable, refuseGit, value } from "./git-refusal.ts";
import { isObjectId, type ObjectFormat } from "./object-id.ts";

export type RefValue =
  | { readonly kind: "id"; readonly id: string }
  | { readonly kind: "symbolic"; readonly target: string };

export const looseRefBytesMax = 1_024;
export const packedRefsBytesMax: number = 32 * 1_048_576;
const packedRefsLinesMax = 250_000;

/** A loose ref or HEAD. */
export function parseRefFile(text: string, format: ObjectFormat, name: string): GitResult<RefValue> {
  const line = text.endsWith("\n") ? text.slice(0, -1) : text;
  if (isObjectId(line, format)) return value({ kind: "id", id: line });
  const target = /^ref: {0,8}(refs\/[!-~]{1,400})$/.exec(line)?.[1];
  if (target !== undefined) return value({ kind: "symbolic", target });
  return refuseGit("malformed", `${printable(name)} contains neither an object id nor a symbolic ref`);
}

/** Names with their ids. Peeled ids (`^...`) and the header are hints for git and are dropped. */
export function parsePackedRefs(text: string, format: ObjectFormat): GitResult<ReadonlyMap<string, string>> {
  const refs = new Map<string, string>();
  let lines = 0;
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("\n", from);
    if (end < 0) return refuseGit("malformed", "packed-refs does not end with a line feed");
    const line = text.slice(from, end);
    from = end + 1;
    lines += 1;
    if (lines > packedRefsLinesMax)
      return refuseGit("too_large", `packed-refs has more than ${packedRefsLinesMax} lines`);
    if (line.startsWith("#") || line.startsWith("^")) continue;
    const space = line.indexOf(" ");
    const id = line.slice(0, space);
    const name = line.slice(space + 1);
    if (space < 0 || !isObjectId(id, format) || !/^[^\0-\x20\x7f]+$/.test(name))
      return refuseGit("malformed", `packed-refs has a line that is not a ref: ${printable(line)}`);
    if (refs.has(name)) return refuseGit("malformed", `packed-refs names ${printable(name)} twice`);
    refs.set(name, id);
  }
  return value(refs);
}
