// The library's composer, stopped at the first error: it would continue, and build a costly error for each.
import { Composer, type CST, type Document, type ErrorCode } from "yaml";
import type { Range } from "../core/notation/source.ts";
import type { Draft } from "./draft.ts";
import { errorFix, shortMessage } from "./yaml-refusal.ts";

/** The one document of these tokens. `empty` if there are only blanks; null after a refusal. */
export function compose(tokens: readonly CST.Token[], draft: Draft): Document.Parsed | "empty" | null {
  const composer = composerOf();
  const documents: Document.Parsed[] = [];
  try {
    for (const token of tokens) for (const document of composer.next(token)) documents.push(document);
    for (const document of composer.end()) documents.push(document);
  } catch (failure) {
    if (!(failure instanceof Mistake)) throw failure;
    return refuse(draft, failure.range, failure.code, failure.message);
  }
  for (const { errors, warnings } of [composer.streamInfo(), ...documents]) {
    for (const { pos, code, message } of [...errors, ...warnings])
      refuse(draft, { start: pos[0], end: pos[1] }, code, message);
  }
  const [document, another] = documents;
  if (another !== undefined)
    draft.refuse(
      "syntax",
      { start: another.range[0], end: another.range[1] },
      "a second document begins here",
      "keep only one document",
    );
  return draft.refused ? null : (document ?? "empty");
}

class Mistake extends Error {
  readonly range: Range;
  readonly code: ErrorCode;

  constructor(range: Range, code: ErrorCode, message: string) {
    super(message);
    this.range = range;
    this.code = code;
  }
}

type Where = number | readonly number[] | { readonly offset: number; readonly source?: string };

function composerOf(): Composer {
  // `Entries` compares keys in one pass; the library compares each with each.
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    strict: true,
    uniqueKeys: false,
    merge: false,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  // An undocumented hook. If it disappears, the library collects the errors itself, which is slower and not more
  // permissive. A warning means that the text is ambiguous; it counts as an error here.
  let first: Mistake | null = null;
  const onError = (where: Where, code: ErrorCode, message: string): never => {
    // The library catches exceptions inside a collection and reports them again.
    first ??= new Mistake(rangeOf(where), code, message);
    throw first;
  };
  return Object.assign(composer, { onError });
}

function rangeOf(where: Where): Range {
  if (typeof where === "number") return { start: where, end: where + 1 };
  if ("offset" in where) return { start: where.offset, end: where.offset + (where.source?.length ?? 1) };
  const [start = 0, end = start] = where;
  return { start, end };
}

function refuse(draft: Draft, range: Range, code: ErrorCode, message: string): null {
  return draft.refuse(
    code === "RESOURCE_EXHAUSTION" ? "too_large" : "syntax",
    range,
    shortMessage(message),
    errorFix(code),
  );
}
