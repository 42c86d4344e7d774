// Hosts a tool declares, alone, under a policy, and behind an address that must be resolved.
import { hostTexts } from "../../src/core/authority/axes/destination.ts";
import { screen } from "../../src/core/authority/axes/screen.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import { meetGrants } from "../../src/core/authority/meet.ts";
import { isJsonList, type Json, type JsonObject } from "../../src/core/base/json.ts";
import { readDeclaration, readPersonality } from "../../src/core/notation/tools/declaration.ts";
import { treeOf } from "./json-tree.ts";
import { answerOf, authorityOf, decisionOf, isWithin, momentOf, READING, sameAuthority } from "./machine.ts";
import { allowOrDeny, type Family, notRun } from "./outcome.ts";
import { fetchOf, requestFor } from "./requests.ts";
import { has, listAt, mapOr, type Row, textAt, textsAt, textsOrNull } from "./row.ts";
import { readWritten } from "./written.ts";

export const scopedFetchHost: Family = {
  answers: ["expect"],
  run: (row) => {
    const grants = declaredGrants({ network: { allowedHosts: listAt(row, "allowedHosts") } });
    const request = requestFor("net.get", { host: textAt(row, "urlHost") });
    return allowOrDeny(
      { expect: textAt(row, "expect") },
      request.ok ? answerOf(decisionOf(grants, request.value)) : { expect: "deny" },
    );
  },
};

/** An invalid declaration requires nothing, because its tool does not run. */
export function declaredGrants(declaration: JsonObject): readonly Grant[] {
  return readDeclaration(treeOf(declaration), READING).requirement?.grants ?? [];
}

export const resolveHosts: Family = {
  answers: ["resolved"],
  run: (row) => {
    const got = metHosts(listAt(row, "declared"), mapOr(row, "policy")["allow"] ?? ["*"]);
    const expected = [...textsAt(row, "resolved")].sort();
    return {
      kind: "compared",
      expected: { resolved: expected },
      got: { resolved: hostWords(got) },
      wider: !isWithin(got, gets({ network: { allowedHosts: expected } })),
      answers: ({ resolved }) =>
        sameAuthority(got, gets({ network: { allowedHosts: isJsonList(resolved ?? null) ? (resolved as Json) : [] } })),
    };
  },
};

function metHosts(hosts: readonly Json[], allow: Json): readonly Grant[] {
  const policy = readPersonality(treeOf({ safety: { network: { allow } } }), READING).grants;
  return meetGrants(gets({ network: { allowedHosts: hosts } }), policy).grants;
}

function gets(declaration: JsonObject): readonly Grant[] {
  return declaredGrants(declaration).filter((grant) => grant.verb.verb === "net.get");
}

/** In the notation of declarations. */
function hostWords(grants: readonly Grant[]): readonly string[] {
  const texts = grants.flatMap(({ scopes: [host] }) => (host?.kind === "destinations" ? hostTexts(host) : []));
  return [...new Set(texts.map((text) => text.replace(/^\+\./, "*.")))].sort();
}

export const urlScreen: Family = {
  answers: ["expect"],
  run: (row) => {
    const policy = mapOr(row, "policy");
    if (has(policy, "deny")) return notRun("there are no deny lists: what is not granted cannot happen");
    const { grants } = readWritten([{ "net.get": { hosts: policy["allow"] ?? ["*"] } }]);
    return allowOrDeny({ expect: textAt(row, "expect") }, reached(row, grants));
  },
};

function reached(row: Row, grants: readonly Grant[]): JsonObject {
  const request = fetchOf(textAt(row, "url"));
  if (!request.ok) return { expect: "deny", code: "invalid_input" };
  const authority = authorityOf(grants);
  const [chain] = authority;
  if (chain === undefined) throw new Error("an authority without a chain");
  return answerOf(screen(authority, request.value, textsOrNull(row, "dns"), momentOf(chain)).decision);
}
