// Agent manifests: tokens under `spec.capabilities`, a network policy, and a trust level that can only take away.
import type { Grant } from "../../authority/grant.ts";
import { literal } from "../../authority/patterns/segment.ts";
import { type Diagnostic, Diagnostics } from "../diagnostic.ts";
import { grantOf, sequences } from "../grants.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { kindName } from "../scope/scope-values.ts";
import { readToken } from "../tokens/token.ts";
import { entryOf, type Mapping, type TreeNode } from "../tree.ts";
import { isNone, readNetwork } from "./manifest-network.ts";
import { exceedsTrust, readTrust } from "./manifest-trust.ts";

export interface Manifest {
  readonly id: string | null;
  readonly grants: readonly Grant[];
  /** Without its head or its `spec` it is no manifest, and no grant in it would have an effect. */
  readonly refused: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

export function readManifest(node: TreeNode, reading: Reading): Manifest {
  const diagnostics = new Diagnostics();
  const spec = readHead(node, diagnostics);
  const id = node.kind === "map" ? readName(node, spec === null ? new Diagnostics() : diagnostics) : null;
  const grants = spec === null ? [] : readSpec(spec, outside(node), reading, diagnostics);
  return { id, grants, refused: spec === null, diagnostics: diagnostics.list };
}

function readHead(node: TreeNode, diagnostics: Diagnostics): Mapping | null {
  if (node.kind !== "map") {
    diagnostics.error("wrong_type", node.span, `a manifest is a map, not ${kindName(node)}`);
    return null;
  }
  const kind = entryOf(node, "kind");
  if (kind?.value.kind !== "scalar" || kind.value.value !== "AgentManifest") {
    diagnostics.error(
      kind === null ? "missing_field" : "bad_value",
      kind?.value.span ?? node.span,
      "`kind` must be AgentManifest",
      { fix: "kind: AgentManifest" },
    );
    return null;
  }
  const spec = entryOf(node, "spec");
  if (spec?.value.kind === "map") return spec.value;
  diagnostics.error(
    spec === null ? "missing_field" : "wrong_type",
    spec?.value.span ?? node.span,
    "`spec` must be a map; nothing is granted",
  );
  return null;
}

/** The maps around `spec`, where a level of trust would have no effect. */
function outside(node: TreeNode): readonly Mapping[] {
  const metadata = node.kind === "map" ? entryOf(node, "metadata")?.value : undefined;
  return [node, metadata].filter((one): one is Mapping => one?.kind === "map");
}

function readName(node: Mapping, diagnostics: Diagnostics): string | null {
  const metadata = entryOf(node, "metadata")?.value;
  const name = metadata?.kind === "map" ? entryOf(metadata, "name")?.value : undefined;
  if (name?.kind === "scalar" && typeof name.value === "string" && name.value !== "") return name.value;
  diagnostics.warning(
    "missing_field",
    name?.span ?? metadata?.span ?? node.span,
    "`metadata.name` is missing: the manifest does not name its agent",
  );
  return null;
}

function readSpec(
  spec: Mapping,
  around: readonly Mapping[],
  reading: Reading,
  diagnostics: Diagnostics,
): readonly Grant[] {
  const trust = readTrust(spec, around, diagnostics);
  const capabilities = entryOf(spec, "capabilities");
  let isMisspelt = false;
  for (const { key, keySpan } of spec.entries) {
    if (READ_KEYS.includes(key)) continue;
    const suggestion = nearestName(key, NEAR_KEYS);
    isMisspelt ||= suggestion !== null;
    if (suggestion === null)
      diagnostics.info("unknown_key", keySpan, `${quoteText(key)} grants nothing and is ignored`);
    else diagnostics.error("unknown_key", keySpan, `unknown key ${quoteText(key)}`, { suggestion, fix: suggestion });
  }
  // It may be a limit: what it would have limited is not granted without it.
  if (isMisspelt) return [];
  if (capabilities !== null && capabilities.value.kind !== "list") {
    diagnostics.error(
      "wrong_type",
      capabilities.value.span,
      "`capabilities` must be a list of tokens; nothing is granted",
      { fix: "capabilities: []" },
    );
    return [];
  }
  if (trust === null) return [];
  const items = capabilities?.value.kind === "list" ? capabilities.value.items : [];
  const listed = items.flatMap((item) => readCapability(item, reading, diagnostics) ?? []);
  const network = entryOf(spec, "network");
  const connections = network === null ? [] : readNetwork(network.value, reading, diagnostics);
  const held = network === null ? listed : unlessNone(network.value, listed, diagnostics);
  return [...held, ...connections, ...servedTools(held, spec)].filter((grant) => {
    if (!exceedsTrust(grant, trust)) return true;
    diagnostics.warning(
      "narrowed",
      grant.span ?? spec.span,
      `${grant.verb.verb} without a limit is more than trust level ${trust} may hold; it grants nothing`,
    );
    return false;
  });
}

/** `policy: none` beside a grant of the network is a contradiction: one of the two is not what was meant. */
function unlessNone(network: TreeNode, grants: readonly Grant[], diagnostics: Diagnostics): readonly Grant[] {
  if (!isNone(network)) return grants;
  return grants.filter((grant) => {
    const { verb, span } = grant;
    if (!verb.verb.startsWith("net.")) return true;
    const message = `${verb.verb} beside the network policy \`none\`; it grants nothing`;
    diagnostics.error("bad_value", span ?? network.span, message, { fix: "remove the one you do not want" });
    return false;
  });
}

/** Memory, observations and the directory of agents are no tools where manifests come from, so no token names them. */
const SERVED: ReadonlyMap<string, readonly string[]> = new Map([
  ["memory.read", ["memory_get", "memory_list"]],
  ["memory.write", ["memory_set", "memory_delete"]],
  ["obs.append", ["obs_append"]],
  ["obs.query", ["obs_query"]],
  ["agent.discover", ["agent_discover"]],
]);

function servedTools(grants: readonly Grant[], spec: Mapping): readonly Grant[] {
  return [...SERVED].flatMap(([verb, tools]) => {
    const grant = grants.find((one) => one.verb.verb === verb);
    if (grant === undefined) return [];
    const tool = sequences(tools.map((name) => [literal("builtin"), literal(name)]));
    return [grantOf("tool.invoke", { tool }, { span: grant.span ?? spec.span, implied: verb })];
  });
}

const READ_KEYS: readonly string[] = ["trust_level", "capabilities", "network"];
/** A misspelt level of trust is looked for in every map around it. */
const NEAR_KEYS: readonly string[] = ["capabilities", "network"];

function readCapability(item: TreeNode, reading: Reading, diagnostics: Diagnostics): Grant | null {
  if (item.kind === "scalar" && typeof item.value === "string")
    return readToken(item.value, { reading, diagnostics, span: item.span });
  diagnostics.error("wrong_type", item.span, `a capability is a token, not ${kindName(item)}`);
  return null;
}
