// Where a copy of the log stands, from its first line and its last ones. Nothing in it is believed beyond that.
import type { SinkAnswer, SinkStanding } from "../ports/sink.ts";
import { readExportLine } from "./export.ts";

/** The last line of a copy that was being written when the power went may be its first. */
const BEGINNING = '{"at":';

export function isTornHeader(text: string): boolean {
  return text.startsWith(BEGINNING) || BEGINNING.startsWith(text) || /^\0+$/.test(text);
}

/** `tail`: its last whole lines. `isAll`: whether they are all lines behind the first. */
export function copyStanding(
  node: string,
  header: string,
  tail: readonly string[],
  isAll: boolean,
): SinkAnswer<SinkStanding> {
  const begun = readExportLine(header);
  if (begun?.kind !== "header" || begun.isCopy !== true) return refused("is there already, and is no copy of a log");
  if (begun.node !== node) return refused("is the copy of another log");
  const lines = tail.map((text) => readExportLine(text));
  let note: number | null = null;
  let last: { readonly place: number; readonly hash: string } | null = null;
  let place: number | null = null;
  for (const line of lines) {
    if (line?.kind === "entry") {
      if (place !== null && line.place !== place + 1) return refused(`has a gap behind entry ${place}`);
      [place, last, note] = [line.place, line, null];
    } else if (line?.kind === "checkpoint") note = line.place;
    else if (line?.kind !== "rotation") return refused("has a line near its end that is no line of a copy");
  }
  if (last === null && !isAll) return refused("has no entry near its end");
  return { ok: true, value: { place, hash: last?.hash ?? null, note, first: begun.first } };
}

function refused(what: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message: `${what}: move it away, and a new copy begins` };
}
