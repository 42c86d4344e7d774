// A personality: the hosts and trees that every tool of an agent is held to. What is absent is nothing.
import type { Grant } from "../../authority/grant.ts";
import { type Diagnostic, Diagnostics } from "../diagnostic.ts";
import type { Reading } from "../reading.ts";
import { kindName } from "../scope/scope-values.ts";
import { hostGrants, readHosts, readReach, strictMap } from "../tools/declaration-parts.ts";
import { entryOf, type Mapping, type TreeNode } from "../tree.ts";

export interface PersonalityReading {
  readonly grants: readonly Grant[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Keys beside these speak of other things; inside them every key counts, because it could be a limit. */
export function readPersonality(node: TreeNode, reading: Reading): PersonalityReading {
  const diagnostics = new Diagnostics();
  if (node.kind !== "map") {
    diagnostics.error("wrong_type", node.span, `a personality is a map, not ${kindName(node)}`);
    return { grants: [], diagnostics: diagnostics.list };
  }
  const parts = [readNetwork(node, reading, diagnostics), readFiles(node, reading, diagnostics)];
  const isWhole = parts.every((part) => part !== null);
  return { grants: isWhole ? parts.flat() : [], diagnostics: diagnostics.list };
}

function readNetwork(node: Mapping, reading: Reading, diagnostics: Diagnostics): readonly Grant[] | null {
  const safety = entryOf(node, "safety");
  if (safety === null) return [];
  const limits = strictMap(safety.value, "`safety`", ["network"], diagnostics);
  if (limits === null) return null;
  const network = entryOf(limits, "network");
  if (network === null) return [];
  const map = strictMap(network.value, "`safety.network`", ["allow"], diagnostics);
  if (map === null) return null;
  const allow = entryOf(map, "allow");
  if (allow === null) return [];
  const hosts = readHosts(allow.value, "`safety.network.allow`", reading, diagnostics);
  return hosts === null ? null : hostGrants(hosts, { span: allow.value.span });
}

function readFiles(node: Mapping, reading: Reading, diagnostics: Diagnostics): readonly Grant[] | null {
  const reach = entryOf(node, "fs_reach");
  if (reach === null) return [];
  const map = strictMap(reach.value, "`fs_reach`", ["read", "write"], diagnostics);
  if (map === null) return null;
  const lists = map.entries.map(({ key, value }) =>
    readReach(key === "read" ? "read" : "write", value, false, null, reading, diagnostics),
  );
  return lists.every((list) => list !== null) ? lists.flat() : null;
}
