// What declarations and personalities have in common: strict maps, lists of text, hosts, and trees of files.
import type { HostEntry } from "../../authority/axes/destination.ts";
import { parseRoot } from "../../authority/axes/path.ts";
import { ANY } from "../../authority/axes/scope.ts";
import type { Grant } from "../../authority/grant.ts";
import { patternsPerScopeMax } from "../../base/limits.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { destinationsOf, type GrantOrigin, grantOf, HTTP_VERBS, treeGrant } from "../grants.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { kindName, reportRefusal } from "../scope/scope-values.ts";
import type { Mapping, TreeNode } from "../tree.ts";
import { parseForeignHost } from "./foreign-host.ts";

/** A map with no other keys: one that is passed over could be a limit. */
export function strictMap(
  node: TreeNode,
  what: string,
  keys: readonly string[],
  diagnostics: Diagnostics,
  fix: string | null = null,
): Mapping | null {
  if (node.kind !== "map") {
    diagnostics.error("wrong_type", node.span, `${what} is a map, not ${kindName(node)}`, { fix });
    return null;
  }
  const unknown = node.entries.filter(({ key }) => !keys.includes(key));
  for (const { key, keySpan } of unknown) {
    diagnostics.error("unknown_key", keySpan, `${quoteText(key)} is not part of ${what}`, {
      suggestion: nearestName(key, keys),
    });
  }
  return unknown.length === 0 ? node : null;
}

/** The entries of a list that are understood; the others match nothing, which is an error. Null: not a list of text. */
export function readTexts<T>(
  node: TreeNode,
  what: string,
  diagnostics: Diagnostics,
  read: (text: string) => Result<T>,
): readonly T[] | null {
  if (node.kind !== "list" || node.items.length > patternsPerScopeMax) {
    const message =
      node.kind === "list"
        ? `${what} has more than ${patternsPerScopeMax} entries`
        : `${what} is a list, not ${kindName(node)}`;
    diagnostics.error(node.kind === "list" ? "too_large" : "wrong_type", node.span, message);
    return null;
  }
  const found: T[] = [];
  for (const item of node.items) {
    if (item.kind !== "scalar" || typeof item.value !== "string") {
      diagnostics.error("wrong_type", item.span, `${what} must be a list of texts, not ${kindName(item)}`);
      return null;
    }
    const result = read(item.value);
    if (result.ok) found.push(result.value);
    else reportRefusal(result, item.span, diagnostics);
  }
  return found;
}

export function readHosts(
  node: TreeNode,
  what: string,
  reading: Reading,
  diagnostics: Diagnostics,
): readonly HostEntry[] | null {
  return readTexts(node, what, diagnostics, (text) => {
    const host = parseForeignHost(text, reading.toAscii);
    // Without the port it would be every port of the host, which is not what was written: nothing is proposed.
    return host.ok || !/:\d+$/.test(text) ? host : refuse("bad_value", `${quoteText(text)} has a port: ${PORTLESS}`);
  });
}

const PORTLESS = "a declaration names hosts alone, and the agent's grants limit their ports";

export function hostGrants(hosts: readonly HostEntry[], written: GrantOrigin): readonly Grant[] {
  return hosts.length === 0
    ? []
    : HTTP_VERBS.map((verb) => grantOf(verb, { host: destinationsOf(hosts), port: ANY }, written));
}

/** Trees of files. `inherits`: everything, to be met with what the personality reaches. */
export function readReach(
  mode: "read" | "write",
  node: TreeNode,
  inherits: boolean,
  implied: string | null,
  reading: Reading,
  diagnostics: Diagnostics,
): readonly Grant[] | null {
  const roots = inherits
    ? [[]]
    : readTexts(node, `\`fs_reach.${mode}\``, diagnostics, (text) => parseReach(text, reading));
  if (roots === null) return null;
  const verbs = mode === "read" ? ["fs.read"] : ["fs.write", "fs.delete"];
  return verbs.flatMap((verb) => roots.map((root) => treeGrant(verb, root, { span: node.span, implied })));
}

function parseReach(text: string, reading: Reading): Result<readonly string[]> {
  if (text.includes("${"))
    return refuse("bad_value", `${quoteText(text)} contains a variable, which is not expanded here`);
  const root = parseRoot(text, reading.pathSettings);
  const { followed } = reading.pathSettings;
  // As a path of a request below it is followed, so that a folder by a link's name is the folder.
  return root.ok && followed !== undefined ? done(followed([...root.value, "any"]).slice(0, -1)) : root;
}
