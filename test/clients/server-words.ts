// How a client starts the server: the built program, on the Node that runs the tests.
import { join } from "node:path";
import { root } from "../e2e/ambit.ts";

/** A shell stands between: whoever starts a server belongs to its session, and the test is the person. */
export function serverWords(agent: string): readonly string[] {
  return ["/bin/sh", "-c", '"$@"; exit $?', "sh", ...plainServerWords(agent)];
}

export function plainServerWords(agent: string): readonly string[] {
  return [process.execPath, join(root, "bin", "ambit"), "mcp", "serve", "--agent", agent];
}
