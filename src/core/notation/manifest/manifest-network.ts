// `spec.network` of a manifest: none, local, an allow-list or everything. Names are resolved at each connection.

import { ANY } from "../../authority/axes/scope.ts";
import { type VerbEntry, verbEntry } from "../../authority/catalog.ts";
import type { Grant, Span } from "../../authority/grant.ts";
import { literal } from "../../authority/patterns/segment.ts";
import { type AddressRange, parseRange } from "../../base/address.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { CHECKED_NAMES, destinationsOf, EVERY_HOST, grantOf } from "../grants.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { kindName, reportRefusal } from "../scope/scope-values.ts";
import { readEndpoint } from "../tokens/token.ts";
import { entryOf, type TreeNode } from "../tree.ts";

const POLICIES = ["none", "local", "allowlist", "full"] as const;

export function readNetwork(node: TreeNode, reading: Reading, diagnostics: Diagnostics): readonly Grant[] {
  const policyNode = node.kind === "map" ? entryOf(node, "policy")?.value : node;
  const listNode = node.kind === "map" ? entryOf(node, "allowlist")?.value : undefined;
  const unknown =
    node.kind === "map" ? node.entries.find(({ key }) => key !== "policy" && key !== "allowlist") : undefined;
  if (unknown !== undefined) {
    diagnostics.error(
      "unknown_key",
      unknown.keySpan,
      `${quoteText(unknown.key)} is not part of \`network\`; it grants nothing`,
      { suggestion: nearestName(unknown.key, ["policy", "allowlist"]) },
    );
    return [];
  }
  const value = policyNode === undefined ? "none" : policyNode.kind === "scalar" ? policyNode.value : null;
  const policy = POLICIES.find((one) => one === value);
  switch (policy) {
    case undefined: {
      const suggestion = typeof value === "string" ? nearestName(value, POLICIES) : null;
      diagnostics.error(
        "bad_value",
        policyNode?.span ?? node.span,
        `a network policy is one of ${POLICIES.join(", ")}; it grants nothing`,
        { suggestion },
      );
      return [];
    }
    case "none":
      return [];
    case "local":
      return [localGrant(node.span)];
    case "full":
      return [
        grantOf(
          "net.connect",
          { host: destinationsOf([EVERY_HOST]), port: ANY, raw: CHECKED_NAMES },
          { span: node.span, implied: "network full" },
        ),
      ];
    case "allowlist":
      return readAllowlist(listNode, node.span, reading, diagnostics);
    default:
      return policy satisfies never;
  }
}

/** Whether the policy says `none` itself; without a policy nothing is said. */
export function isNone(node: TreeNode): boolean {
  const policy = node.kind === "map" ? entryOf(node, "policy")?.value : node;
  return policy?.kind === "scalar" && policy.value === "none";
}

/** This machine by its literal addresses, and by the one name that is allowed to mean them. */
function localGrant(span: Span): Grant {
  const ranges = ["127.0.0.0/8", "::1"]
    .map(parseRange)
    .flatMap((range): AddressRange[] => (range.ok ? [range.value] : []));
  const name = [literal("localhost")];
  const host = {
    kind: "destinations",
    names: [name],
    ranges,
    everyPublic: false,
    openings: ranges.map((range) => ({ name, range })),
  } as const;
  return grantOf("net.connect", { host, port: ANY, raw: CHECKED_NAMES }, { span, implied: "network local" });
}

function readAllowlist(
  list: TreeNode | undefined,
  span: Span,
  reading: Reading,
  diagnostics: Diagnostics,
): readonly Grant[] {
  if (list?.kind !== "list") {
    const code = list === undefined ? "missing_field" : "wrong_type";
    diagnostics.error(
      code,
      list?.span ?? span,
      "the network policy allowlist needs an `allowlist` of host:port entries",
      { fix: "allowlist: [api.example.com:443]" },
    );
    return [];
  }
  return list.items.flatMap((item) => {
    if (item.kind !== "scalar" || typeof item.value !== "string") {
      diagnostics.error("wrong_type", item.span, `an entry of \`allowlist\` is host:port, not ${kindName(item)}`);
      return [];
    }
    const scopes = readEndpoint(verbEntry("net.connect") as VerbEntry, item.value, reading);
    if (scopes.ok) return [grantOf("net.connect", scopes.value, { span: item.span, implied: "network allowlist" })];
    reportRefusal(scopes, item.span, diagnostics);
    return [];
  });
}
