// One call as an owner's tool is handed it, for tests of what it does once the gate is passed.

import type { Request } from "../../src/core/authority/request.ts";
import type { JsonObject } from "../../src/core/base/json.ts";
import type { Warrant } from "../../src/core/gate/warrant.ts";
import type { ProgramContext } from "../../src/daemon/parts.ts";
import type { Session } from "../../src/daemon/session.ts";
import type { ToolExecution } from "../../src/daemon/tools/owner-tool.ts";

/** Without what programs need: for tools that run none. */
export function carrying(input: JsonObject, session: Session, requests: readonly Request[]): ToolExecution {
  const { agent } = session.facts.name;
  const warrant: Warrant = { agent, tool: "", arguments: input, requests, basis: [], receipt: "c_test" };
  const stop = { stopped: false, onStop: () => undefined };
  const context = (): never => {
    throw new Error("no context is opened here");
  };
  return { input, session, warrant, stop, ground: NO_PROGRAMS, context };
}

const NO_PROGRAMS: ProgramContext = new Proxy({} as ProgramContext, {
  get: (_, name) => {
    throw new Error(`${String(name)}: no program runs here`);
  },
});
