// Reports changes that did not land as denials of the program that made them, for the log.
import type { ChangesReport, UnlandedChange } from "../../../core/ports/drafts.ts";
import type { RunDenial } from "../../../core/ports/process.ts";

const deniedMax = 64;

export function keptDenials({ root, kept }: ChangesReport): readonly RunDenial[] {
  return kept.slice(0, deniedMax).map((one) => ({ code: one.code, request: keptRequest(root, one), times: 1 }));
}

/** In the notation of `ambit can`. */
function keptRequest(root: string, { path, kind }: UnlandedChange): string {
  return `${kind === "delete" ? "fs.delete" : "fs.write"} ${path === "." ? root : `${root}/${path}`}`;
}

/** The denials of a program that are not about its changes. */
export function otherDenials<T extends Pick<RunDenial, "code" | "request">>(
  denials: readonly T[],
  changes: ChangesReport | null,
): readonly T[] {
  if (changes === null) return denials;
  const kept = new Set(keptDenials(changes).map(({ code, request }) => `${code} ${request}`));
  return denials.filter(({ code, request }) => !kept.has(`${code} ${request}`));
}
