// An MCP server of tests whose tool reports each execution to the test by a connection, so that executions can be counted.
import { connect } from "node:net";
import { createInterface } from "node:readline";

const [, , port] = process.argv;
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const report = (number) =>
  new Promise((done, failed) => {
    const socket = connect(Number(port), "127.0.0.1", () => socket.end(`${number}\n`));
    socket.on("close", done).on("error", failed);
  });

async function heard({ id, method, params = {} }) {
  if (method === "initialize")
    return say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "counting", version: "1" } } });
  if (method === "tools/list") return say({ id, result: { tools: [{ name: "count", description: "Counts.", inputSchema: { type: "object" } }] } });
  if (method === "ping") return say({ id, result: {} });
  if (method !== "tools/call") return undefined;
  const { number, exit, wait = 0 } = params.arguments;
  if (exit === "before") process.exit(1);
  await new Promise((over) => setTimeout(over, wait));
  await report(number);
  if (exit === "after") process.exit(1);
  return say({ id, result: { content: [{ type: "text", text: `counted ${number}` }] } });
}

createInterface({ input: process.stdin }).on("line", (line) => void heard(JSON.parse(line)));
