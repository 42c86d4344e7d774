// Org policy as grants: what each capability stands for. Deny is absence.
import type { Grant, Span } from "../authority/grant.ts";
import { pathText, tree } from "../authority/path.ts";
import { ANY } from "../authority/scope.ts";
import { literal } from "../authority/segment.ts";
import type { Diagnostics } from "./diagnostic.ts";
import { destinationsOf, EITHER_MODE, EVERY_HOST, grantOf, sequences, treeGrant, type Written } from "./grants.ts";
import { isAtOrBelow } from "./hoist.ts";
import { type Capability, effectivePolicy, type PolicyTable } from "./policy-table.ts";
import type { Reading } from "./reading.ts";

export {
  BASE_POLICY,
  CAPABILITIES,
  effectivePolicy,
  type PolicyTable,
  policyRequests,
  readOrgTable,
  readPolicyTable,
} from "./policy-table.ts";

export interface PolicyContext {
  readonly reading: Reading;
  readonly diagnostics: Diagnostics;
  readonly span: Span;
  /** Where each ruling of the agent's own table is written. */
  readonly spans?: ReadonlyMap<string, Span>;
  /** The agent's root, hoisted; without one `code` covers nothing. */
  readonly root: readonly string[] | null;
}

export function policyGrants(agent: PolicyTable | null, org: PolicyTable | null, context: PolicyContext): Grant[] {
  return [...effectivePolicy(agent, org)].flatMap(([capability, { ruling, from }]) => {
    if (ruling === "deny") return [];
    const implied = `policy ${capability}${from === "base" ? " (base)" : ""}`;
    return bundle(
      capability,
      {
        span: (from === "agent" ? context.spans?.get(capability) : undefined) ?? context.span,
        implied,
        ask: ruling === "ask" ? 1 : 0,
      },
      context,
    );
  });
}

function bundle(capability: Capability, written: Written, context: PolicyContext): Grant[] {
  const everywhere = { host: destinationsOf([EVERY_HOST]) };
  switch (capability) {
    case "code":
      return codeGrants(written, context);
    case "consult":
      return [grantOf("agent.consult", {}, written)];
    case "web":
      return [
        grantOf("net.get", { ...everywhere, port: ANY }, written),
        grantOf("provider.web_search", everywhere, written),
        grantOf("provider.web_fetch", everywhere, written),
      ];
    case "delegate":
      return [grantOf("agent.delegate", {}, written)];
    case "hire":
      return [grantOf("agent.create", {}, written)];
    case "schedule":
      return [grantOf("task.schedule", {}, written)];
    case "crm":
      return ["records.read", "records.create", "records.update"].map((verb) =>
        grantOf(verb, { class: sequences([[literal("contact")]]) }, written),
      );
    default:
      return capability satisfies never;
  }
}

function codeGrants(written: Written, { root, reading, diagnostics, span }: PolicyContext): Grant[] {
  const reason =
    root === null
      ? "the agent has no root"
      : root.length === 0
        ? "`/` is never the root of a process"
        : reading.ceiling !== null && !isAtOrBelow(root, reading.ceiling)
          ? `${pathText(root)} is outside ${pathText(reading.ceiling)}`
          : null;
  if (root === null || reason !== null) {
    diagnostics.warning("inert", span, `the policy's \`code\` covers nothing: ${reason}`, { fix: "sandbox: ." });
    return [];
  }
  const where = sequences([tree(root)]);
  return [
    treeGrant("fs.read", root, written),
    treeGrant("fs.write", root, written),
    grantOf("proc.exec", { root: where, argv: ANY, mode: EITHER_MODE }, { ...written, root }),
    grantOf("proc.eval", { root: where, mode: EITHER_MODE }, { ...written, root }),
  ];
}
