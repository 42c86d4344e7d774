// Applies what a diagnostic proposes, as a person does it.
import { readYaml } from "../../../text/yaml.ts";
import type { Diagnostic } from "../diagnostic.ts";
import type { Entry, TreeNode } from "../tree.ts";

export function yamlTree(text: string): TreeNode {
  const { tree } = readYaml({ name: "a.yml", text });
  if (tree === null) throw new Error(`not YAML: ${text}`);
  return tree;
}

function entriesOf(node: TreeNode): readonly Entry[] {
  if (node.kind === "scalar") return [];
  if (node.kind === "list") return node.items.flatMap(entriesOf);
  return node.entries.flatMap((entry) => [entry, ...entriesOf(entry.value)]);
}

/** As a person does it: a word for a word, a `key: value` for the entry of that key, a spec for the item. */
export function applyFix(text: string, { fix: printed, suggestion, span }: Diagnostic): string {
  // What follows a `#` is for the reader.
  const fix = printed?.replace(/ +#.*$/, "") ?? null;
  const put = (start: number, end: number, words: string): string => text.slice(0, start) + words + text.slice(end);
  if (fix === null || fix === suggestion) return put(span.start, span.end, suggestion ?? "");
  const key = /^"?([a-zA-Z_-]+)"?: /.exec(fix)?.[1];
  // A map is written as one, a spec as a text.
  if (key === undefined) return put(span.start, span.end, /^[^{].*[{[]/.test(fix) ? `'${fix}'` : fix);
  const around = entriesOf(yamlTree(text)).filter(
    (entry) => entry.keySpan.start <= span.start && span.end <= entry.value.span.end,
  );
  // Innermost first; a key that is new goes into the map of the grant it concerns.
  const same = around.toReversed().find((entry) => entry.key === key);
  const place = same ?? around.at(-1);
  // About the whole document: its last entry.
  if (place === undefined) return put(text.lastIndexOf("}"), text.length, `, ${fix} }`);
  if (same !== undefined || key === "extends") return put(place.keySpan.start, place.value.span.end, fix);
  const grant = entriesOf(yamlTree(text)).find(
    (entry) => entry.keySpan.start === span.start && entry.value.kind === "map",
  );
  const last = grant === undefined ? place : (entriesOf(grant.value).at(-1) ?? grant);
  return put(last.value.span.end, last.value.span.end, `, ${fix}`);
}
