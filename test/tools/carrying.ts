// One call as a built-in tool receives it, for tests of the tool behind the gate.
import type { Authority, Chain } from "../../src/core/authority/chain.ts";
import { type CompiledLink, compile, type Moment } from "../../src/core/authority/compiled.ts";
import type { JsonObject } from "../../src/core/base/json.ts";
import { type Authorization, authorize } from "../../src/core/gate/call.ts";
import type { ToolLookup } from "../../src/core/gate/known-tool.ts";
import type { Warrant } from "../../src/core/gate/warrant.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import type { Contexts } from "../../src/daemon/contexts/contexts.ts";
import type { ProgramContext } from "../../src/daemon/parts.ts";
import type { Session } from "../../src/daemon/session.ts";
import type { ToolExecution } from "../../src/daemon/tools/daemon-tool.ts";
import { grant } from "../forge/authority.ts";

/** Decides like the gate, for an agent that may call every tool; only `isApproved` stands in for an approval. */
export function authorizeCall(
  authority: Authority,
  call: { readonly tool: string; readonly input: JsonObject },
  lookup: ToolLookup,
  moment: Moment,
  isApproved = false,
): Promise<Authorization> {
  const caller = { agent: "scout", authority: authority.map((chain) => chain.map(invoking) as unknown as Chain) };
  return authorize(caller, call, lookup, moment, [], {
    approvals: async () =>
      isApproved ? { kind: "approved", approval: "a", level: 2 } : { kind: "pending", approval: "a" },
    commit: async () => ({ ok: true, receipt: "c_test" }),
  });
}

const known = new WeakMap<CompiledLink, CompiledLink>();

function invoking(compiled: CompiledLink): CompiledLink {
  const { link } = compiled;
  const made = known.get(compiled) ?? compile({ ...link, grants: [...link.grants, grant("tool.invoke")] });
  known.set(compiled, made);
  return made;
}

/** Without sandboxes: for tools that run no program. `reading`: the reading of the records behind the decision. */
export function executionOf(
  session: Session,
  warrant: Warrant,
  reading: Reading,
  contexts: Contexts | null = null,
): ToolExecution {
  const { signal } = new AbortController();
  const context: ToolExecution["context"] = (options) => {
    if (contexts === null) throw new Error("no context is opened here");
    return contexts.open({ ...options, session, warrant, programContext: NO_PROGRAMS });
  };
  return {
    input: warrant.arguments,
    session,
    warrant,
    reading,
    signal,
    programContext: NO_PROGRAMS,
    reservation: null,
    client: null,
    context,
  };
}

const NO_PROGRAMS: ProgramContext = new Proxy({} as ProgramContext, {
  get: (_, name) => {
    if (name === "refused") return () => "e_test";
    throw new Error(`${String(name)}: no program runs here`);
  },
});
