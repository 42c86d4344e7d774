// How a client starts the server: the built program, on the Node that runs the tests.
import { join } from "node:path";
import { root } from "../e2e/ambit.ts";

/** A shell is started in between: the process that starts a server belongs to its session, and the test acts as the person. */
export function serverWords(agent: string): readonly string[] {
  return ["/bin/sh", "-c", '"$@"; exit $?', "sh", ...plainServerWords(agent)];
}

export function plainServerWords(agent: string): readonly string[] {
  return [process.execPath, join(root, "bin", "ambit"), "mcp", "serve", "--agent", agent];
}
