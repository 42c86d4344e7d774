// A link of a chain in words: which text, ceiling, pledge or delegation it is, and which of its conditions denied.
import type { CompiledLink } from "../authority/compiled.ts";
import type { Decision } from "../authority/decision.ts";
import type { Request } from "../authority/request.ts";
import { principalText } from "./scope/conditions.ts";

/** The ruling of a policy that leaves no grant of the record. */
export function policyWords(capability: string): string {
  return `the policy (\`${capability}: deny\`)`;
}

/** `from`: the agent that issued a delegation. */
export function linkWords(id: string, from: string | null): string {
  const record = /^record [^#]*#(.*?)( as (?:trusted|written)(?: \(\d+\))?)?$/s.exec(id);
  if (record !== null) return `the record of ${record[1]}${(record[2] ?? "").replace(/ \(\d+\)$/, "")}`;
  if (id === "ceiling user" || id === "user") return "the ceiling of your config.yml";
  if (id.startsWith("ceiling ")) return `the ceiling ${id.slice("ceiling ".length)}`;
  if (id.startsWith("user ")) return `the record of the user ${id.slice("user ".length)}`;
  if (id.startsWith("pledge ")) return "the pledge of the session";
  if (id.startsWith("caveats ")) return "the caveats of the session";
  if (/^l_\w+$/.test(id)) return `the delegation ${id}${from === null ? "" : ` from ${from}`}`;
  return id;
}

/** What of the link denied, where it is not the scope of a grant: a condition, or that there are no grants. Else empty. */
export function conditionWords(link: CompiledLink, request: Request, decision: Decision): string {
  if (link.link.id.startsWith("user ") && link.link.grants.length === 0)
    return ", which allows nothing (if that is a mistake: ambit doctor)";
  const axis = decision.outcome === "deny" ? (decision.at?.axis ?? null) : null;
  if (axis === "pass") return " (its grant can be delegated, not used)";
  if (axis !== "users") return "";
  const [first] = link.matching(request);
  const named = first === undefined ? [] : (link.link.grants[first]?.conditions.principals ?? []);
  const shown = named.slice(0, principalsShownMax).map(principalText);
  return ` (its grant is for ${shown.length === 0 ? "no user" : `users ${shown.join(", ")}`}${named.length > shown.length ? ", ..." : ""})`;
}

const principalsShownMax = 8;
