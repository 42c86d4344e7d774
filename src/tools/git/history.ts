// Parses commits and branches that git prints in our own formats.
import type { JsonObject } from "../../core/base/json.ts";
import { fitItems } from "../files/fit-items.ts";
import { bodyCharactersMax, commitsMax } from "./limits.ts";

const commitFields = 7;
const branchFields = 5;
const branchesMax = 5000;

export function commitsAnswer(text: string, limit: number, isCut: boolean): JsonObject {
  const fields = text.split("\0");
  const commits: JsonObject[] = [];
  for (let at = 0; at + commitFields < fields.length + (isCut ? 0 : 1) && fields[at] !== ""; at += commitFields)
    commits.push(commitOf(fields.slice(at, at + commitFields)));
  // At the requested number there may be older ones.
  const { items, more } = fitItems(commits, commitsMax, isCut || commits.length >= limit, (one) => one);
  return { commits: items, more };
}

/** One commit, and the text after it. Null if the text does not begin with one. */
export function commitAndRest(text: string): { readonly commit: JsonObject; readonly rest: string } | null {
  const fields = text.split("\0");
  if (fields.length <= commitFields) return null;
  const commit = commitOf(fields.slice(0, commitFields));
  return { commit, rest: fields.slice(commitFields).join("\0").replace(/^\n+/, "") };
}

function commitOf(fields: readonly string[]): JsonObject {
  const [commit = "", parents = "", author = "", email = "", date = "", subject = "", body = ""] = fields;
  return {
    commit,
    parents: parents === "" ? [] : parents.split(" "),
    author,
    email,
    date,
    subject: subject.slice(0, bodyCharactersMax),
    body: body.trimEnd().slice(0, bodyCharactersMax),
  };
}

export function branchesAnswer(text: string, isCut: boolean): JsonObject {
  const lines = text.split("\n");
  // The text after the last line end is empty or incomplete.
  lines.pop();
  const branches = lines.flatMap((line): JsonObject[] => {
    const fields = line.split("\0");
    const [head, name = "", commit = "", upstream = "", link = ""] = fields;
    // The default branch of a remote is listed under its own name already.
    if (fields.length !== branchFields || (link !== "" && name.startsWith("refs/remotes/"))) return [];
    const isRemote = name.startsWith("refs/remotes/");
    return [
      {
        name: shortName(name),
        commit,
        isCurrent: head === "*",
        isRemote,
        upstream: upstream === "" ? null : shortName(upstream),
      },
    ];
  });
  const { items, more } = fitItems(branches, branchesMax, isCut, (one) => one);
  return { branches: items, more };
}

function shortName(name: string): string {
  return name.replace(/^refs\/(heads|remotes)\//, "");
}

const SENT: ReadonlyMap<string, string> = new Map([
  [" ", "updated"],
  ["*", "new"],
  ["=", "same"],
  ["!", "rejected"],
  ["-", "deleted"],
  ["+", "forced"],
]);

/** The lines of `git push --porcelain`, one for each branch. */
export function sentAnswer(text: string): JsonObject {
  const refs = text.split("\n").flatMap((line): JsonObject[] => {
    const [, sign = "", from = "", to = "", summary = ""] = /^([ *=!+-])\t([^:\t]*):([^\t]*)\t(.*)$/.exec(line) ?? [];
    return sign === "" ? [] : [{ from: shortName(from), to: shortName(to), outcome: SENT.get(sign) ?? sign, summary }];
  });
  return { refs };
}
