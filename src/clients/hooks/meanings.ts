// What tools of clients do, as requests. Paths are absolute here: a client's working folder is not the session's.
import { isJsonList, isJsonObject, type JsonObject, member } from "../../core/base/json.ts";
import type { ToolMeaning } from "./hook-call.ts";

/** Reads one tool's arguments. */
export type MeaningOf = (input: JsonObject, cwd: string) => ToolMeaning;

export const INNER: MeaningOf = () => ({ kind: "inner" });

export function unreadable(reason: string): ToolMeaning {
  return { kind: "unreadable", reason };
}

/** The script is the argument of this name; it runs in the folder of the argument `folder`, if there is one. */
export function shell(script: string, folder: string | null = null): MeaningOf {
  return (input, cwd) => {
    const text = member(input, script);
    if (typeof text !== "string") return unreadable(`\`${script}\` must be a text`);
    const named = folder === null ? undefined : member(input, folder);
    if (named !== undefined && named !== null && typeof named !== "string")
      return unreadable(`\`${folder}\` must be a text`);
    return { kind: "shell", script: text, in: absolute(named === null || named === undefined ? "." : named, cwd) };
  };
}

/** One file by the first of these arguments that is there. */
export function file(tool: string, verbs: readonly string[], ...keys: readonly string[]): MeaningOf {
  return (input, cwd) => {
    const path = textOf(input, keys);
    if (path === null) return unreadable(`\`${keys.join("` or `")}\` must be a path`);
    return { kind: "requests", tool, requests: verbs.map((verb) => [verb, absolute(path, cwd)]) };
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
 * A search: everything in a folder is read, and the client shows it without looking at grants. `pattern` may itself begin with
 * folders. INVARIANT: only a grant of the whole tree covers it.
 */
export function search(tool: string, folder: readonly string[], pattern: string | null): MeaningOf {
  return (input, cwd) => {
    const base = textOf(input, folder) ?? ".";
    const glob = pattern === null ? "" : member(input, pattern);
    if (glob !== undefined && glob !== null && typeof glob !== "string")
      return unreadable(`\`${pattern}\` must be a text`);
    const from = absolute(base, cwd);
    const start = literalStart(glob ?? "", from);
    return {
      kind: "requests",
      tool,
      requests: [
        ["fs.read", start],
        ["fs.read", everythingBelow(start)],
      ],
    };
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
  const wild = glob.search(/[*?[\]{}!()]/);
  if (wild < 0) return glob === "" ? from : absolute(glob, from);
  const literal = glob.slice(0, wild);
  const slash = literal.lastIndexOf("/");
  // Behind a wildcard `..`, or an absolute path in braces, leads to a folder that is not known here: everything is requested.
  if (/(^|[/{,(|])\.\.([/},)|]|$)|[{,(|]\//.test(glob.slice(wild))) return "/";
  return slash < 0 ? from : absolute(literal.slice(0, slash + 1), from);
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

export function textOf(input: JsonObject, keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = member(input, key);
    if (value === undefined || value === null) continue;
    return typeof value === "string" && value !== "" ? value : null;
  }
  return null;
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
