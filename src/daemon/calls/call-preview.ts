// Previews a call's decision without asking, charging or recording; and adapts client tools for the gate.
import type { CompiledLink } from "../../core/authority/compiled.ts";
import type { Request } from "../../core/authority/request.ts";
import { done, refuse } from "../../core/base/result.ts";
import { type CallDecision, decideCall } from "../../core/gate/call-decision.ts";
import type { KnownTool, ToolLookup } from "../../core/gate/known-tool.ts";
import { readRequestText } from "../../core/notation/request/request.ts";
import { callerOf, type GatedCall } from "./gatekeeper.ts";
import type { Holding } from "./holding.ts";

export type PreviewCall = Pick<GatedCall, "session" | "holding" | "tool" | "input" | "ports">;

/** Previews the decision, without an approval request or a log entry. */
export function previewCall({ session, holding, tool, input, ports }: PreviewCall, lookup: ToolLookup): CallDecision {
  return decideCall(
    callerOf(session, holding),
    { tool, input },
    lookup,
    ports.moment(),
    holding.reading.ground.protectedPaths,
  );
}

/** The same tool, with approval required for requests that change a trigger path. */
export function markTriggers(lookup: ToolLookup, isTrigger: (request: Request) => boolean): ToolLookup {
  return (name) => {
    const tool = lookup(name);
    if (tool === null) return null;
    const requests: KnownTool["requests"] = (input) => {
      const derived = tool.requests(input);
      if (!derived.ok) return derived;
      return done(derived.value.map((one) => (isTrigger(one) ? { ...one, isTrigger: true as const } : one)));
    };
    return { ...tool, requests };
  };
}

/** A client tool with the requests that the client declares, which can only add requests. */
export function clientToolLookup(
  texts: readonly string[],
  { reading }: Holding,
  requirement: CompiledLink | null,
): ToolLookup {
  return (name) => ({
    name,
    requirement,
    requests: () => {
      const read = texts.map((text) => readRequestText(text, reading));
      const requests = read.flatMap((one) => (one.ok ? [one.value] : []));
      return requests.length === texts.length ? done(requests) : refuse("bad_value", "a request is not understood");
    },
  });
}
