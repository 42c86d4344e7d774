// Casbin: one policy line per grant, and a matching function of plain string comparisons.
import { loadPeer } from "../peers.ts";
import type { WrittenGrant, WrittenRequest } from "../workload.ts";
import type { Engine } from "./engine.ts";

interface Enforcer {
  addFunction(name: string, matches: (asked: string, kind: string, value: string) => boolean): Promise<void>;
  addPolicies(rules: string[][]): Promise<boolean>;
  enforceSync(...asked: readonly string[]): boolean;
}

interface CasbinDoor {
  newModelFromString(text: string): unknown;
  newEnforcer(model: unknown): Promise<Enforcer>;
}

const model = `
[request_definition]
r = verb, value
[policy_definition]
p = verb, kind, value
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.verb == p.verb && matches(r.value, p.kind, p.value)
`;

export async function casbin(grants: readonly WrittenGrant[], requests: readonly WrittenRequest[]): Promise<Engine> {
  const { newEnforcer, newModelFromString } = loadPeer("casbin") as CasbinDoor;
  const enforcer = await newEnforcer(newModelFromString(model));
  await enforcer.addFunction("matches", matches);
  await enforcer.addPolicies(grants.map((grant) => [grant.verb, grant.kind, stored(grant)]));
  return {
    count(from, to) {
      let allowed = 0;
      for (let at = from; at < to; at++) {
        const { verb, value } = requests[at] as WrittenRequest;
        if (enforcer.enforceSync(verb, value)) allowed++;
      }
      return allowed;
    },
  };
}

/** With the separator that the comparison needs, so that no decision builds a string. */
function stored({ kind, value }: WrittenGrant): string {
  return kind === "below" ? `.${value}` : kind === "tree" ? `${value}/` : value;
}

function matches(asked: string, kind: string, value: string): boolean {
  return kind === "below" ? asked.endsWith(value) : kind === "tree" ? asked.startsWith(value) : asked === value;
}
