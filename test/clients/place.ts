// Where the clients are installed, and the Node some of them need: newer than the oldest that ambit supports.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "../e2e/ambit.ts";

const folder: string = join(root, "test", "clients", "node_modules");
const machine = `${process.platform}-${process.arch}`;
const newerNodeMin = 24;

/** The Node installed with the clients, or our own if there is none for this machine. */
export const newerNode: string = found(`node-${machine}`, "bin", "node") ?? ownNode();
export const inspector: string = at("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js");
export const conformance: string = at("@modelcontextprotocol", "conformance", "dist", "index.js");
/** Null if it was not built for this machine. */
export const claudeCode: string | null =
  found("@anthropic-ai", `claude-code-${machine}`, "claude") ??
  found("@anthropic-ai", `claude-code-${machine}-musl`, "claude");

/** Read-only for the clients, which are made of several packages. */
export const clientsFolder: string = folder;
/** Null if it was not built for this machine. */
export const copilot: string | null = found("@github", `copilot-${machine}`, "copilot");
/** Clients that run whole in a sandbox; null for one that was not built for this machine. */
export const wholeClients: Readonly<Record<"claude" | "codex" | "opencode" | "gemini", string | null>> = {
  claude: claudeCode,
  codex: found("@openai", `codex-${machine}`, "vendor", vendorOf(process.arch), "bin", "codex"),
  opencode: found(`opencode-${machine}`, "bin", "opencode"),
  gemini: found(".bin", "gemini"),
};

/** As Codex names a machine. */
function vendorOf(processor: string): string {
  return `${processor === "arm64" ? "aarch64" : "x86_64"}-unknown-linux-musl`;
}

function at(...parts: readonly string[]): string {
  return join(folder, ...parts);
}

function found(...parts: readonly string[]): string | null {
  const path = at(...parts);
  return existsSync(path) ? path : null;
}

function ownNode(): string {
  if (Number(process.versions.node.split(".")[0]) >= newerNodeMin) return process.execPath;
  throw new Error(`these clients need Node ${newerNodeMin}, and none is installed here: npm run test:clients`);
}
