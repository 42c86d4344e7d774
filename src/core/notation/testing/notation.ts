// What the tests of this room share: a machine to read by, and trees whose spans say where they stand.
import type { Span } from "../../authority/grant.ts";
import type { Json } from "../../base/json.ts";
import { Diagnostics } from "../diagnostic.ts";
import type { Reading } from "../reading.ts";
import type { Entry, Mapping, TreeNode } from "../tree.ts";

export const READING: Reading = {
  pathSettings: { home: ["home", "u"], base: ["work"], protectedPaths: [["home", "u", ".ssh"]] },
  toAscii: (host) => (/^(müller|xn--mller-kva)\.example$/.test(host) ? "xn--mller-kva.example" : null),
  ceiling: null,
};

/** The span's source is the way to the node, such as `hosts[1]`; a key's is followed by `:`. */
export function treeOf(value: Json, way = ""): TreeNode {
  const span = spanOf(way);
  if (Array.isArray(value)) {
    return { kind: "list", items: value.map((item: Json, at) => treeOf(item, `${way}[${at}]`)), span };
  }
  if (typeof value !== "object" || value === null) {
    return { kind: "scalar", value: value as string | number | boolean | null, span };
  }
  const entries = Object.entries(value).map(([key, inner]): Entry => {
    const inside = way === "" ? key : `${way}.${key}`;
    return { key, keySpan: spanOf(`${inside}:`), value: treeOf(inner as Json, inside) };
  });
  return { kind: "map", entries, span };
}

export function mapOf(value: { readonly [key: string]: Json }): Mapping {
  return treeOf(value) as Mapping;
}

export function spanOf(source: string, length = 0): Span {
  return { source, start: 0, end: length };
}

/** `severity code source[start-end]`, one for each diagnostic. */
export function diagnosticLines(diagnostics: Diagnostics | readonly Diagnostics["list"][number][]): string[] {
  const list = diagnostics instanceof Diagnostics ? diagnostics.list : diagnostics;
  return list.map(
    ({ severity, code, span }) =>
      `${severity} ${code} ${span.source}${span.end > 0 ? `[${span.start}-${span.end}]` : ""}`,
  );
}
