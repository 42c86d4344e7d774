// The position of a copy of the log, from its first line and its last ones. Nothing else in it is relied on.
import type { Failure } from "../../core/base/result.ts";
import type { SinkPosition, SinkResult } from "../../core/ports/stores/sink.ts";
import { readExportLine } from "./export.ts";

/**
 * Whether a whole file without a line end is a header that was truncated by a power failure: a true prefix of the
 * header that would be written now, whatever its time and its first entry, or zeros. INVARIANT: nothing longer than
 * that.
 */
export function isTornHeader(text: string, header: string): boolean {
  if (text.length > header.length + 1) return false;
  return timeless(header).startsWith(timeless(text.replace(/\0+$/, "")));
}

function timeless(text: string): string {
  return text.replace(/^\{"at":\d{1,16}/, '{"at":0').replace(/^\{"at":0,"first":\d{1,16}/, '{"at":0,"first":0');
}

/** `tail`: its last complete lines. `isAll`: whether they are all lines after the first. */
export function copyPosition(
  node: string,
  header: string,
  tail: readonly string[],
  isAll: boolean,
): SinkResult<SinkPosition> {
  const begun = readExportLine(header);
  if (begun?.kind !== "header" || begun.isCopy !== true) return refused("already exists and is not a copy of a log");
  if (begun.node !== node) return refused("is the copy of another log");
  const lines = tail.map((text) => readExportLine(text));
  let note: number | null = null;
  let last: { readonly place: number; readonly hash: string } | null = null;
  let place: number | null = null;
  let rotations = 0;
  for (const line of lines) {
    if (line?.kind === "entry") {
      if (place !== null && line.place !== place + 1) return refused(`has a gap after entry ${place}`);
      [place, last, note] = [line.place, line, null];
    } else if (line?.kind === "checkpoint") {
      // After a pruning the log begins after a note. If `tail` is not everything, the entry before it may be further
      // up.
      const before: number = place ?? (isAll ? begun.first - 1 : (note ?? line.place));
      if (line.place !== before) return refused(`has the checkpoint of entry ${line.place} after entry ${before}`);
      note = line.place;
    } else if (line?.kind === "rotation" && place === null) rotations++;
    else return refused("has an invalid line near its end");
  }
  if (last === null && !isAll) return refused("has no entry near its end");
  return { ok: true, value: { place, hash: last?.hash ?? null, note, first: begun.first, rotations } };
}

function refused(what: string): Failure {
  return { ok: false, message: `${what}; move it away to start a new copy` };
}
