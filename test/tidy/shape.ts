// The shape of files: their length, their first comment, where an index is allowed, and how a failure is spelled.
import ts from "typescript";
import { examine, findingAt, isInSrc, isTest, linesOf, nodesOf, type Report, type Source } from "./source.ts";

export const linesWanted = 150;
export const linesMax = 400;

/** Files over the preferred length; reported, not refused. */
export function longFiles(sources: readonly Source[]): readonly string[] {
  return sources
    .filter((source) => isInSrc(source) && !isTest(source) && linesOf(source) > linesWanted)
    .map((source) => `${source.path} (${linesOf(source)})`);
}

export function checkLength(sources: readonly Source[]): Report {
  return examine(sources, isInSrc, (source) =>
    linesOf(source) > linesMax
      ? [findingAt(source, source.tree, `has ${linesOf(source)} lines, more than ${linesMax}`)]
      : [],
  );
}

/** The first thing in a file says its purpose: a comment with words in it, not a directive to a tool. */
export function checkPurpose(sources: readonly Source[]): Report {
  return examine(
    sources,
    (source) => isInSrc(source) && !isTest(source),
    (source) => {
      const first = /^(?:#![^\n]*\n)?(?:\/\/([^\n]*)|\/\*\*?([\s\S]*?)\*\/)/.exec(source.text);
      const words = (first?.[1] ?? first?.[2] ?? "").trim();
      const isPurpose = /\p{L}{2,}.*\s.*\p{L}{2,}/su.test(words) && !/^(biome-ignore|@ts-|\/ *<)/.test(words);
      return isPurpose
        ? []
        : [{ path: source.path, line: 1, what: "does not begin with a comment that says its purpose" }];
    },
  );
}

export function checkIndex(sources: readonly Source[]): Report {
  return examine(sources, isInSrc, (source) =>
    /\/index\.[cm]?tsx?$/.test(source.path) && source.path !== "src/index.ts"
      ? [{ path: source.path, line: 1, what: "is an index file and no door" }]
      : [],
  );
}

/** A failure that has a message, and at most a code or a fix, has one spelling: the types of `core/base/result.ts`. */
export function checkFailures(sources: readonly Source[]): Report {
  const isMeant = (source: Source): boolean =>
    isInSrc(source) && !isTest(source) && source.path !== "src/core/base/result.ts";
  return examine(sources, isMeant, (source) =>
    nodesOf(source.tree).flatMap((node) => {
      const type = ts.isTypeLiteralNode(node) ? failureType(node) : null;
      return type === null ? [] : [findingAt(source, node, `is a ${type}, written out`)];
    }),
  );
}

function failureType({ members }: ts.TypeLiteralNode): string | null {
  const named = new Map(
    members.filter(ts.isPropertySignature).map(({ name, type }) => [name.getText(), type?.getText() ?? ""]),
  );
  if (named.size !== members.length || named.get("ok") !== "false" || named.get("message") !== "string") return null;
  const others = [...named.keys()].filter((name) => name !== "ok" && name !== "message");
  if (others.length === 0) return "Failure";
  if (others.length !== 1) return null;
  if (others[0] === "code") return "CodedFailure";
  return named.get("fix") === "string | null" ? "FixableFailure" : null;
}
