// The program behind `ambit mcp`: the protocol's library with what of it is used, in one scope.
import { resolve } from "node:path";

/** Loads a checker of schemas, which is for what clients are asked. We ask clients for nothing. */
const SHIMS = `
import process from "node:process";
export { process };
export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error("no schema is checked here");
  }
}`;

/** A plugin for esbuild. */
export const mcpProgram = {
  name: "mcp-program",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, ({ path, resolveDir }) => ({
      path,
      namespace: "shims",
      pluginData: resolveDir,
    }));
    onLoad({ filter: /.*/, namespace: "shims" }, ({ pluginData }) => ({ contents: SHIMS, resolveDir: pluginData }));
    // Nothing of ours does work when it is imported: what is not used is left out.
    onResolve({ filter: /\.ts$/ }, ({ path, resolveDir }) => ({ path: resolve(resolveDir, path), sideEffects: false }));
  },
};

const CALL = { name: "fs_read", arguments: { path: "a" } };
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "build", version: "0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** What a client of each era says first: nobody serves behind it, and everything before that has been needed once. */
export const rehearsedLines = [
  lines([
    ["initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "build", version: "0" } }],
    ["notifications/initialized", undefined],
    ["tools/list", {}],
    ["tools/call", CALL],
  ]),
  lines([
    ["server/discover", { _meta: META }],
    ["tools/list", { _meta: META }],
    ["tools/call", { ...CALL, _meta: META }],
  ]),
];

function lines(messages) {
  return messages
    .map(([method, params], at) => {
      const id = method.startsWith("notifications/") ? {} : { id: at };
      return `${JSON.stringify({ jsonrpc: "2.0", ...id, method, params })}\n`;
    })
    .join("");
}
