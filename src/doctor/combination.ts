// The combination that leaks: private data, content a stranger wrote, and a way out, all without a person in between.
import type { Grant } from "../core/authority/grant.ts";
import { literalPrefix } from "../core/notation/policy/ceiling.ts";
import { compactText } from "../core/notation/printer.ts";
import { isAtOrBelow } from "../core/notation/record/hoist.ts";
import { isForeignTool, isLive, isWideNetwork, reachOf } from "./breadth.ts";
import { type Finding, type FindingSubject, newFinding } from "./finding.ts";

const grantCharactersMax = 60;

export function lethalCombination(
  grants: readonly Grant[],
  workingRoot: readonly string[] | null,
  about: FindingSubject,
  now: number,
  isMember: boolean,
): Finding | null {
  // What a person approves each time is no leak by itself; a grant with `pass_on` alone is used by another agent.
  const free = grants.filter(
    (grant) => grant.conditions.ask === 0 && grant.conditions.pass !== "pass" && isLive(grant, now),
  );
  const untrusted = free.find(bringsUntrusted);
  // `clean` ends at the first untrusted byte, which is exactly when these two would matter.
  const secret = free.find((grant) => !grant.conditions.clean && readsPrivate(grant, workingRoot));
  const out = free.find((grant) => !grant.conditions.clean && leadsOut(grant));
  if (untrusted === undefined || secret === undefined || out === undefined) return null;
  return newFinding("lethal_combination", about, {
    message: `reads private data (${short(secret)}), reads untrusted content (${short(untrusted)}), and can send data out (${short(out)})`,
    meaning: "The author of a page or message it reads can make it leak that data.",
    fix: isMember ? '- capabilities: { "web": "ask" }' : FIX,
    span: out.span,
    grants: [...new Set([secret, untrusted, out])],
  });
}

const FIX =
  'ask: true or clean: true on one of the three, or doctor: { accept: [{ code: lethal_combination, reason: "..." }] }';

function readsPrivate(grant: Grant, workingRoot: readonly string[] | null): boolean {
  switch (grant.verb.verb) {
    case "records.read":
    case "memory.read":
    case "secret.use":
      return true;
    case "fs.read":
      return reachOf(grant).some(
        (pattern) => workingRoot === null || !isAtOrBelow(literalPrefix(pattern), workingRoot),
      );
    default:
      return false;
  }
}

function bringsUntrusted(grant: Grant): boolean {
  switch (grant.verb.verb) {
    case "net.get":
    case "net.connect":
    case "provider.web_search":
    case "provider.web_fetch":
      return isWideNetwork(grant);
    case "provider.computer_use":
      return true;
    default:
      return isForeignTool(grant);
  }
}

/** Reading from any host is a way out too: what is sent away stands in the address. */
function leadsOut(grant: Grant): boolean {
  switch (grant.verb.verb) {
    case "net.post":
    case "net.put":
    case "net.delete":
    case "net.connect":
    case "provider.computer_use":
      return true;
    case "net.get":
      return isWideNetwork(grant);
    default:
      return false;
  }
}

function short(grant: Grant): string {
  const text = compactText(grant);
  return text.length <= grantCharactersMax ? text : `${text.slice(0, grantCharactersMax - 1)}…`;
}
