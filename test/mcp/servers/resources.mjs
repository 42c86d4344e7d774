// An MCP server whose resources are hostile, by the mode it is started with.
import { createInterface } from "node:readline";

const [, , mode] = process.argv;
const EMPTY = { resources: [], resourceTemplates: [], prompts: [] };
const many = Array.from({ length: 20_000 }, (_, at) => ({ uri: `h://a/${at}`, name: `n${at}` }));
const LIES = [
  { uri: "h://a/\u202e1", name: "turned" },
  { uri: "h://a/1", name: "\u001b[2J" },
  { uri: "h://a/../b", name: "dots" },
  { uri: 5, name: "five" },
  null,
  { uri: "h://a/ok", name: "ok" },
];

const LISTS = {
  many: { resources: many },
  pages: { resources: [{ uri: "h://a/1", name: "x" }], nextCursor: "again" },
  rubbish: { resources: "x" },
  lies: { resources: LIES, prompts: [{ name: "../x" }, { name: "p__q" }] },
};
const CONTENTS = {
  rubbish: { contents: 5 },
  big: { contents: [{ uri: "h://a/1", text: "a".repeat(5_000_000) }] },
};

function answer(method) {
  if (method === "initialize")
    return {
      protocolVersion: "2025-11-25",
      capabilities: { resources: {}, prompts: {} },
      serverInfo: { name: "hostile", version: "1" },
    };
  if (mode === "exit") process.exit(3);
  return method === "resources/read" ? CONTENTS[mode] : { ...EMPTY, ...LISTS[mode] };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: answer(method) })}\n`);
});
