// Names that no tool changes, whatever is granted: the gate allows the request, and whoever carries it out refuses it.
import type { Grant } from "../authority/grant.ts";
import type { Ground } from "../authority/path.ts";
import type { Request } from "../authority/request.ts";
import { isSegments } from "../authority/scope.ts";
import { literalPrefix } from "../notation/ceiling.ts";
import type { Agent } from "../record/agent.ts";
import { isWithin } from "../sandbox/places.ts";
import { isGitOrOurs } from "../sandbox/triggers/classify.ts";
import { TriggerTable } from "../sandbox/triggers/trigger-table.ts";

const CHANGING: readonly string[] = ["fs.write", "fs.delete"];

/**
 * Whether it would be refused as `self_modification`. By the names alone: links, other projects and where our program lies are
 * looked at only when a call is carried out, and can only add to it.
 */
export function isHeldName(
  { grants }: Pick<Agent, "grants">,
  { verb, values }: Request,
  { home }: Pick<Ground, "home">,
): boolean {
  const [place] = values;
  if (!CHANGING.includes(verb.verb) || place === undefined || !isSegments(place)) return false;
  const path = place.segments;
  if (isGitOrOurs(path)) return true;
  const table = new TriggerTable();
  const written = grants.flatMap(rootsOf);
  // A root in a root is a folder like others: names at the top are protected where the outermost begins.
  return written
    .filter((root) => !written.some((other) => other.length < root.length && isWithin(root, other)))
    .filter((root) => isWithin(path, root))
    .some((root) => table.find(path, { root, home, workspaces: [] })?.isRefusedToFileTools === true);
}

/** The folder a grant was written for, as the tools have it; where it names none, what its patterns begin with. */
function rootsOf({ verb, scopes, root }: Grant): readonly (readonly string[])[] {
  const [scope] = scopes;
  if (!CHANGING.includes(verb.verb) || scope?.kind !== "sequences") return [];
  return scope.of.map(literalPrefix).map((prefix) => (root !== null && isWithin(prefix, root) ? root : prefix));
}
