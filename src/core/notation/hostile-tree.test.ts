import { expect, test } from "vitest";
import { readCaveats } from "./caveats/caveats.ts";
import { Diagnostics } from "./diagnostic.ts";
import { readManifest } from "./manifest/manifest.ts";
import { readOrgTable, readPolicyTable } from "./policy/policy.ts";
import { READING, spanOf } from "./testing/notation.ts";
import { readDeclaration, readPersonality } from "./tools/declaration.ts";
import type { TreeNode } from "./tree.ts";

const span = spanOf("deep");

/** Ten thousand levels: recursion over them overflows the stack. */
function deep(wrap: (inner: TreeNode) => TreeNode): TreeNode {
  let node: TreeNode = { kind: "scalar", value: "allow", span };
  for (let level = 0; level < 10_000; level++) node = wrap(node);
  return node;
}

function map(key: string, value: TreeNode): TreeNode {
  return { kind: "map", entries: [{ key, keySpan: span, value }], span };
}

const NODES: readonly TreeNode[] = [
  deep((inner) => ({ kind: "list", items: [inner], span })),
  ...["spec", "capabilities", "network", "fs_read", "only", "secrets", "safety", "agents", "__proto__"].map((key) =>
    deep((inner) => map(key, inner)),
  ),
  { kind: "scalar", value: Number.NaN, span },
  { kind: "scalar", value: Number.POSITIVE_INFINITY, span },
];

test("a tree of any depth grants nothing and harms nothing", () => {
  for (const node of NODES) {
    const manifest: TreeNode = {
      kind: "map",
      entries: [
        { key: "kind", keySpan: span, value: { kind: "scalar", value: "AgentManifest", span } },
        { key: "spec", keySpan: span, value: node },
      ],
      span,
    };
    expect(readManifest(node, READING).grants).toEqual([]);
    expect(readManifest(manifest, READING).grants).toEqual([]);
    expect(readCaveats(node, READING).link).toBe(null);
    expect(readDeclaration(node, READING).requirement?.grants ?? []).toEqual([]);
    expect(readPersonality(node, READING).grants).toEqual([]);
    expect(readPolicyTable(node, new Diagnostics())).toBe(null);
    expect(readOrgTable(map("defaults", node), new Diagnostics())).toBe(null);
    for (const key of ["network", "secrets", "storage", "fs_reach", "process"]) {
      expect(readDeclaration(map(key, node), READING).requirement).toBe(null);
    }
  }
});
