// Cedar, compiled to WebAssembly: one policy per grant, parsed once and kept on its side. The requested value is an attribute of
// the context, compared with `like`.
import { loadPeer } from "../peers.ts";
import type { WrittenGrant, WrittenRequest } from "../workload.ts";
import type { Engine } from "./engine.ts";

interface Name {
  readonly type: string;
  readonly id: string;
}

interface Call {
  readonly preparsedPolicySetId: string;
  readonly principal: Name;
  readonly action: Name;
  readonly resource: Name;
  readonly context: Readonly<Record<string, string>>;
  readonly entities: readonly never[];
}

interface CedarDoor {
  preparsePolicySet(id: string, policies: { readonly staticPolicies: string }): { readonly type: string };
  statefulIsAuthorized(
    call: Call,
  ):
    | { readonly type: "success"; readonly response: { readonly decision: string } }
    | { readonly type: "failure"; readonly errors: readonly { readonly message: string }[] };
}

const policySet = "grants";

export function cedar(grants: readonly WrittenGrant[], requests: readonly WrittenRequest[]): Engine {
  const door = loadPeer("@cedar-policy/cedar-wasm/nodejs") as CedarDoor;
  const parsed = door.preparsePolicySet(policySet, { staticPolicies: grants.map(policyOf).join("\n") });
  if (parsed.type !== "success") throw new Error(`cedar does not parse our policies: ${JSON.stringify(parsed)}`);
  const calls = requests.map(callOf);
  return {
    count(from, to) {
      let allowed = 0;
      for (let at = from; at < to; at++) {
        const answer = door.statefulIsAuthorized(calls[at] as Call);
        if (answer.type === "failure") throw new Error(answer.errors[0]?.message ?? "cedar refused our call");
        if (answer.response.decision === "allow") allowed++;
      }
      return allowed;
    },
  };
}

function policyOf({ verb, kind, value }: WrittenGrant): string {
  const test = kind === "below" ? `like "*.${value}"` : kind === "tree" ? `like "${value}/*"` : `== "${value}"`;
  return `permit(principal, action == Action::"${verb}", resource) when { context.value ${test} };`;
}

function callOf({ verb, value }: WrittenRequest): Call {
  return {
    preparsedPolicySetId: policySet,
    principal: { type: "Agent", id: "scout" },
    action: { type: "Action", id: verb },
    resource: { type: "Target", id: "target" },
    context: { value },
    entities: [],
  };
}
