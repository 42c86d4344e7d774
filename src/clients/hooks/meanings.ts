// What tools of clients do, as requests. Paths are absolute here: a client's working folder is not the session's.
import { isJsonList, isJsonObject, type JsonObject, member } from "../../core/base/json.ts";
import type { ToolMeaning } from "./hook-call.ts";

/** Reads one tool's arguments. */
export type MeaningOf = (input: JsonObject, cwd: string) => ToolMeaning;

export const INNER: MeaningOf = () => ({ kind: "inner" });

export function unreadable(reason: string): ToolMeaning {
  return { kind: "unreadable", reason };
}

/** The script is the argument of this name; it runs in the folder that one of these arguments names, if there is one. */
export function shell(script: string, ...folders: readonly string[]): MeaningOf {
  return (input, cwd) => {
    const text = member(input, script);
    if (typeof text !== "string") return unreadable(`\`${script}\` must be a text`);
    const named = pathsIn(input, folders);
    if (named === null || named.length > 1) return unreadable(`\`${folders.join("` or `")}\` must be one path`);
    return { kind: "shell", script: text, in: absolute(named[0] ?? ".", cwd) };
  };
}

/** One file by any of these arguments. INVARIANT: all that are there are requested, whichever the client reads. */
export function file(tool: string, verbs: readonly string[], ...keys: readonly string[]): MeaningOf {
  return (input, cwd) => {
    const paths = pathsIn(input, keys);
    if (paths === null || paths.length === 0) return unreadable(`\`${keys.join("` or `")}\` must be a path`);
    return {
      kind: "requests",
      tool,
      requests: paths.flatMap((path) => verbs.map((verb) => [verb, absolute(path, cwd)])),
    };
  };
}

/** Several files, as a list of paths, or of objects with a path. */
export function files(tool: string, verbs: readonly string[], key: string, inside: string | null = null): MeaningOf {
  return (input, cwd) => {
    const list = member(input, key);
    if (!isJsonList(list) || list.length === 0 || list.length > filesMax)
      return unreadable(`\`${key}\` must be a list of at most ${filesMax} paths`);
    const paths = list.map((one) =>
      inside !== null && isJsonObject(one) ? member(one, inside) : inside === null ? one : undefined,
    );
    if (!paths.every((one): one is string => typeof one === "string" && one !== ""))
      return unreadable(`\`${key}\` must be a list of paths`);
    return {
      kind: "requests",
      tool,
      requests: paths.flatMap((path) => verbs.map((verb) => [verb, absolute(path, cwd)])),
    };
  };
}

const filesMax = 64;

/**
 * A search by names: everything in a folder is read, and the client shows it without looking at grants. `pattern` may itself begin with
 * folders. INVARIANT: only a grant of the whole tree covers it.
 */
export function search(tool: string, folders: readonly string[], pattern: string | null): MeaningOf {
  return (input, cwd) => {
    const bases = basesIn(input, folders, cwd);
    const glob = pattern === null ? "" : (member(input, pattern) ?? "");
    if (bases === null || typeof glob !== "string") return unreadable("folder and pattern must be texts");
    return readOf(
      tool,
      bases.map((base) => literalStart(glob, base)),
    );
  };
}

/** A search in contents. `limits`: patterns of file names, which a client may obey or not. */
export function contentSearch(tool: string, folders: readonly string[], ...limits: readonly string[]): MeaningOf {
  return (input, cwd) => {
    const bases = basesIn(input, folders, cwd);
    const globs = textsIn(input, limits);
    if (bases === null || globs === null) return unreadable("folders and patterns must be texts");
    return readOf(tool, [...bases, ...bases.flatMap((base) => globs.map((glob) => literalStart(glob, base)))]);
  };
}

function basesIn(input: JsonObject, folders: readonly string[], cwd: string): readonly string[] | null {
  const named = pathsIn(input, folders);
  return named === null ? null : (named.length === 0 ? ["."] : named).map((folder) => absolute(folder, cwd));
}

function readOf(tool: string, starts: readonly string[]): ToolMeaning {
  return {
    kind: "requests",
    tool,
    requests: [...new Set(starts)].flatMap((start) => [
      ["fs.read", start],
      ["fs.read", everythingBelow(start)],
    ]),
  };
}

/**
 * A path below the folder that only a pattern for everything below it matches: names of stars are ordinary names to a grant
 * that lists files, or their endings.
 */
export function everythingBelow(folder: string): string {
  return `${folder === "/" ? "" : folder}${"/**".repeat(belowSegments)}`;
}

/** Deeper than a pattern that counts levels with single stars. */
const belowSegments = 6;

/** The folders before the first wildcard: a pattern can begin with any path, also one that leads out of the folder. */
function literalStart(glob: string, from: string): string {
  const wild = glob.search(/[*?[\]{}!()|\\]/);
  if (wild < 0) return glob === "" ? from : absolute(glob, from);
  const literal = glob.slice(0, glob.lastIndexOf("/", wild) + 1);
  // It leads to a folder that is not known here: everything is requested.
  if (mayLeave(glob.slice(literal.length), literal === "")) return "/";
  return literal === "" ? from : absolute(literal, from);
}

const expansionsMax = 256;

/** Whether a pattern may match something above its folder, by any way to write `..` or, at its beginning, `/`. */
export function mayLeave(glob: string, isBeginning: boolean): boolean {
  if (/[\\()|]/.test(glob)) return true;
  const expansions = expand(glob);
  return (
    expansions === null ||
    expansions.some((one) => (isBeginning && /^[/~]/.test(one)) || one.split("/").some(mayBeParent))
  );
}

/** A class may stand for a dot. */
function mayBeParent(segment: string): boolean {
  const plain = segment.replaceAll(/\[([^\]]*)\]/g, (_, members: string) => (/[.!^-]/.test(members) ? "." : "x"));
  return plain === "..";
}

/** The patterns that braces stand for; null where there are too many, or where it is not clear which. */
function expand(glob: string): readonly string[] | null {
  const open = [glob];
  const whole: string[] = [];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    // The innermost ones first.
    const found = /\{([^{}]*)\}/.exec(one);
    if (found === null) {
      if (/[{}]/.test(one)) return null;
      whole.push(one);
      continue;
    }
    const [text, members = ""] = found;
    // A sequence such as `{a..z}`, which may give nothing at all.
    if (!members.includes(",")) return null;
    for (const member of members.split(","))
      open.push(`${one.slice(0, found.index)}${member}${one.slice(found.index + text.length)}`);
    if (open.length + whole.length > expansionsMax) return null;
  }
  return whole;
}

/** An address; a plain one is also requested as https, which clients turn it into. */
export function fetchMeaning(tool: string, key: string): MeaningOf {
  return (input) => {
    const url = member(input, key);
    return typeof url === "string" ? addresses(tool, [url]) : unreadable(`\`${key}\` must be an address`);
  };
}

export function addresses(tool: string, urls: readonly string[]): ToolMeaning {
  const requests = urls.flatMap((url) => {
    const plain = /^http:\/\//i.exec(url);
    const both = plain === null ? [url] : [url, `https://${url.slice(plain[0].length)}`];
    return both.map((one) => ["net.get", one]);
  });
  return { kind: "requests", tool, requests };
}

/** A search at the model's provider: limited to the domains it names, or for all hosts. */
export function webSearch(domains: string | null): MeaningOf {
  return (input) => {
    const named = domains === null ? undefined : member(input, domains);
    const hosts = isJsonList(named) && named.length > 0 ? named : null;
    if (hosts !== null && !hosts.every((one): one is string => typeof one === "string" && one !== ""))
      return unreadable(`\`${domains}\` must be a list of hosts`);
    // A search without domains reaches every host: only a grant for all of them covers this name.
    const asked = hosts === null ? [anyHost] : (hosts as readonly string[]);
    return {
      kind: "requests",
      tool: "web_search",
      requests: asked.map((host) => ["provider.web_search", host.replace(/^\*\./, "")]),
    };
  };
}

/** Of a top-level domain that is reserved: no list of hosts has it. */
const anyHost = "any-host.invalid";

/** Names that the client keeps for its tools of MCP servers; anything else that is unknown is decided the same way. */
export function nameMeaning(tool: string): ToolMeaning {
  return { kind: "named", tool };
}

/** All texts of these arguments, each a text or a list of texts; null if one is something else, or there are too many. */
function textsIn(input: JsonObject, keys: readonly string[]): readonly string[] | null {
  const values = keys.flatMap((key) => {
    const value = member(input, key);
    return value === undefined || value === null ? [] : isJsonList(value) ? [...value] : [value];
  });
  const texts = values.filter((value): value is string => typeof value === "string");
  return texts.length < values.length || texts.length > filesMax ? null : [...new Set(texts)];
}

/** Of an empty text nothing is named. Blanks around a path are refused: clients differ in whether they remove them. */
function pathsIn(input: JsonObject, keys: readonly string[]): readonly string[] | null {
  const texts = textsIn(input, keys)?.filter((text) => text !== "") ?? null;
  return texts === null || texts.some((text) => trimUnicode(text) !== text) ? null : texts;
}

/** Without the white space of Unicode at both ends, of which JavaScript's `trim` knows less. */
export function trimUnicode(text: string): string {
  return text.replaceAll(/^[\p{White_Space}\ufeff]+|[\p{White_Space}\ufeff]+$/gu, "");
}

/** Lexically; a link on the way is followed where the request is decided. `~` stays, for the home folder is not known here. */
export function absolute(path: string, cwd: string): string {
  if (path === "~" || path.startsWith("~/")) return path;
  const segments: string[] = [];
  for (const segment of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return `/${segments.join("/")}`;
}
