// Runs each built program once, so that V8's code cache exists before a user starts it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./child.mjs";
import { root } from "./root.mjs";

/** A cache holds the functions that ran when it was written: users wait for these commands most. */
const can = ["can", "scout", "net.get", "https://api.github.com/repos"];
const serve = ["mcp", "serve", "--agent", "scout"];
const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "build", version: "0" } },
};

/** A failure does not fail the build: without a cache the program only starts more slowly. */
export async function warmCodeCache() {
  // A scratch folder holds configuration and state: the build neither reads nor changes those of the user.
  const scratch = mkdtempSync(join(tmpdir(), "ambit-build-"));
  const env = { NODE_OPTIONS: "", XDG_CONFIG_HOME: scratch, XDG_STATE_HOME: scratch };
  const ambit = (words, more) => run([process.execPath, join(root, "bin", "ambit"), ...words], { env, ...more });
  const cwd = join(root, "examples", "workspace");
  try {
    // The starter writes no cache under Node options: the cache that stays is that of `can`.
    await ambit(["trust", "--yes"], { cwd, env: { ...env, NODE_OPTIONS: "--no-deprecation" } });
    await ambit(can, { cwd });
    await ambit(serve, { cwd: scratch, input: `${JSON.stringify(initialize)}\n` });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
