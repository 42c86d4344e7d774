// CASL: one rule per grant. CASL keeps the rules of a verb together by itself; a rule's condition is a function, which is its
// fastest form (its query operators go through an interpreter, and know suffixes only as regular expressions).
import { loadPeer } from "../peers.ts";
import type { WrittenGrant, WrittenRequest } from "../workload.ts";
import type { Engine } from "./engine.ts";

type Condition = (asked: WrittenRequest) => boolean;

interface CaslDoor {
  createMongoAbility(
    rules: readonly { readonly action: string; readonly subject: string; readonly conditions: Condition }[],
    options: {
      conditionsMatcher(condition: Condition): Condition;
      detectSubjectType(asked: WrittenRequest): string;
    },
  ): { can(action: string, asked: WrittenRequest): boolean };
}

export function casl(grants: readonly WrittenGrant[], requests: readonly WrittenRequest[]): Engine {
  const { createMongoAbility } = loadPeer("@casl/ability") as CaslDoor;
  const rules = grants.map((grant) => ({ action: grant.verb, subject: "target", conditions: conditionOf(grant) }));
  const ability = createMongoAbility(rules, {
    conditionsMatcher: (condition) => condition,
    detectSubjectType: () => "target",
  });
  return {
    count(from, to) {
      let allowed = 0;
      for (let at = from; at < to; at++) {
        const request = requests[at] as WrittenRequest;
        if (ability.can(request.verb, request)) allowed++;
      }
      return allowed;
    },
  };
}

function conditionOf({ kind, value }: WrittenGrant): Condition {
  switch (kind) {
    case "below": {
      const suffix = `.${value}`;
      return (asked) => asked.value.endsWith(suffix);
    }
    case "tree": {
      const prefix = `${value}/`;
      return (asked) => asked.value.startsWith(prefix);
    }
    case "exact":
    case "program":
      return (asked) => asked.value === value;
  }
}
