// Callers of the real daemon: a connection and a session each, and a call that is decided, charged and on disk when answered.
import { VERSION } from "../../src/core/base/version.ts";
import { connect } from "../../src/daemon/rpc/client.ts";
import { expectValue } from "./fixture.ts";
import type { Call, WorkerOptions } from "./worker.ts";

/** Thrown for a denied call, so that a caller can expect it. */
export class Denied extends Error {}

export async function daemonCallers({ folder, project, agent, callers }: WorkerOptions): Promise<readonly Call[]> {
  const calls: Call[] = [];
  for (let at = 0; at < callers; at++) calls.push(await daemonCaller(folder, project, agent));
  return calls;
}

async function daemonCaller(folder: string, cwd: string, agent: string): Promise<Call> {
  const calls = expectValue(await connect("call", { folder, version: VERSION }));
  const { session } = expectValue(
    await calls.ask("session.open", {
      cwd,
      agent,
      user: null,
      trace: null,
      face: "library",
      pledge: null,
      token: null,
      environment: {},
      isForParent: false,
    }),
  );
  const input = { key: "notes/today" };
  return async () => {
    const asked = { session, tool: "memory_get", input, requests: null, waitMilliseconds: 0 };
    const told = expectValue(await calls.ask("call.commit", asked));
    if (told.outcome !== "allowed") throw new Denied(`a call of ${agent} was denied`);
    // The number of unsettled calls of a session is limited.
    calls.tell("call.settle", {
      ...{ session, receipt: told.receipt, ended: "done", milliseconds: 0, isUntrusted: false },
    });
  };
}
