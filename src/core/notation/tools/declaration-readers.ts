// The parts a tool can declare, each read into grants that carry the part's name.
import { parseProgram } from "../../authority/axes/argv.ts";
import type { HostEntry } from "../../authority/axes/destination.ts";
import { parseNamePattern } from "../../authority/axes/name.ts";
import { ANY } from "../../authority/axes/scope.ts";
import type { Grant } from "../../authority/grant.ts";
import { DEEP, literal } from "../../authority/patterns/segment.ts";
import type { Sequence } from "../../authority/patterns/sequence.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { EITHER_MODE, grantOf, sequences } from "../grants.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { entryOf, type TreeNode } from "../tree.ts";
import { hostGrants, readHosts, readReach, readTexts, strictMap } from "./declaration-parts.ts";

export type Part = "network" | "secrets" | "storage" | "fs_reach.read" | "fs_reach.write" | "process";

/** What one part asks for. */
export interface PartGrants {
  readonly part: Part;
  readonly grants: readonly Grant[];
  readonly inherits: boolean;
}

/** Null when a part is malformed. */
export type PartReader = (node: TreeNode, reading: Reading, diagnostics: Diagnostics) => readonly PartGrants[] | null;

export const PART_READERS: ReadonlyMap<string, PartReader> = new Map([
  ["network", readNetwork],
  ["secrets", readSecrets],
  ["storage", readStorage],
  ["fs_reach", readFiles],
  ["process", readProcess],
]);

function readNetwork(node: TreeNode, reading: Reading, diagnostics: Diagnostics): readonly PartGrants[] | null {
  const map = strictMap(node, "`network`", ["allowedHosts"], diagnostics, "network: { allowedHosts: [] }");
  const list = map === null ? null : entryOf(map, "allowedHosts");
  if (map !== null && list === null)
    diagnostics.error("missing_field", node.span, "`network` names its `allowedHosts`", {
      fix: "network: { allowedHosts: [] }",
    });
  const hosts: readonly HostEntry[] | null =
    list === null ? null : readHosts(list.value, "`allowedHosts`", reading, diagnostics);
  if (hosts === null) return null;
  const grants = hostGrants(hosts, { span: node.span, implied: "network" });
  return [{ part: "network", grants, inherits: hosts.some((host) => host.kind === "every") }];
}

function readSecrets(node: TreeNode, _: Reading, diagnostics: Diagnostics): readonly PartGrants[] | null {
  const patterns = readTexts(node, "`secrets`", diagnostics, parseSecret);
  if (patterns === null) return null;
  const grants =
    patterns.length === 0
      ? []
      : [grantOf("secret.use", { name: sequences(patterns) }, { span: node.span, implied: "secrets" })];
  return [{ part: "secrets", grants, inherits: false }];
}

/** A star is a whole segment; glued to text it matches nothing where this notation comes from. */
function parseSecret(text: string): Result<Sequence> {
  const pattern = parseNamePattern(text);
  if (!pattern.ok) return pattern;
  if (pattern.value.every((segment) => segment.kind === "literal" || segment.kind === "one")) return pattern;
  return refuse("bad_pattern", `${quoteText(text)}: a \`*\` matches one whole segment of a secret name`, "namespace/*");
}

const STORES: ReadonlyMap<unknown, string> = new Map([
  ["tool-private", "tool"],
  ["session", "session"],
  ["personality", "agent"],
]);

function readStorage(node: TreeNode, _: Reading, diagnostics: Diagnostics): readonly PartGrants[] | null {
  const map = strictMap(node, "`storage`", ["scope", "kind"], diagnostics, "storage: { scope: session, kind: kv }");
  if (map === null) return null;
  const [scope, kind] = ["scope", "kind"].map((key) => {
    const value = entryOf(map, key)?.value;
    return value?.kind === "scalar" ? value.value : null;
  });
  const store = STORES.get(scope);
  if (store === undefined || kind !== "kv") {
    diagnostics.error(
      "bad_value",
      node.span,
      `\`storage\` has a scope (${[...STORES.keys()].join(", ")}) and the kind kv`,
      { fix: "storage: { scope: session, kind: kv }" },
    );
    return null;
  }
  const key = sequences([[literal(store), DEEP]]);
  return [
    {
      part: "storage",
      grants: ["memory.read", "memory.write"].map((verb) =>
        grantOf(verb, { key }, { span: node.span, implied: "storage" }),
      ),
      inherits: false,
    },
  ];
}

function readFiles(node: TreeNode, reading: Reading, diagnostics: Diagnostics): readonly PartGrants[] | null {
  const map = strictMap(node, "`fs_reach`", ["read", "write"], diagnostics, "fs_reach: { read: [] }");
  if (map === null) return null;
  const all: PartGrants[] = [];
  let failed = false;
  for (const { key, value } of map.entries) {
    const part = key === "read" ? "fs_reach.read" : "fs_reach.write";
    const inherits = value.kind === "scalar" && value.value === "from-personality";
    const grants = readReach(key === "read" ? "read" : "write", value, inherits, part, reading, diagnostics);
    if (grants === null) failed = true;
    else all.push({ part, grants, inherits });
  }
  return failed ? null : all;
}

function readProcess(node: TreeNode, _: Reading, diagnostics: Diagnostics): readonly PartGrants[] | null {
  const map = strictMap(node, "`process`", ["allowedBinaries"], diagnostics, "process: { allowedBinaries: [] }");
  const list = map === null ? null : entryOf(map, "allowedBinaries");
  if (map !== null && list === null)
    diagnostics.error("missing_field", node.span, "`process` names its `allowedBinaries`", {
      fix: "process: { allowedBinaries: [] }",
    });
  const programs =
    list === null
      ? null
      : readTexts<Sequence | "every">(list.value, "`allowedBinaries`", diagnostics, (text) =>
          text === "*" ? done("every") : parseProgram(text),
        );
  if (programs === null) return null;
  const every = programs.includes("every");
  const argv = every ? ANY : sequences(programs.filter((program) => program !== "every"));
  const grants =
    programs.length === 0
      ? []
      : [grantOf("proc.exec", { root: ANY, argv, mode: EITHER_MODE }, { span: node.span, implied: "process" })];
  return [{ part: "process", grants, inherits: every }];
}
