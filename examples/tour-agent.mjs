// A scripted agent for the tour: what a model would say, sent to `ambit mcp serve` by an MCP client of a few lines. It is a
// process of its own, without input and terminal of the tour: what shares them with an agent's client cannot approve anything.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const answerMillisecondsMax = 60_000;

/** The agent's process: `ask("tools")` and `ask("call", name, arguments)`. */
export function startAgent(words, options) {
  const stdio = ["ignore", "inherit", "inherit", "ipc"];
  const child = fork(fileURLToPath(import.meta.url), words, { ...options, stdio, detached: true });
  const ended = once(child, "exit").then(() => [{ error: "the agent's process has ended" }]);
  return {
    ask: async (...what) => {
      child.send(what, () => {});
      const [answer] = await Promise.race([once(child, "message"), ended]);
      if (answer.error !== undefined) throw new Error(answer.error);
      return answer.value;
    },
    close: async () => {
      child.send(["close"], () => {});
      await ended;
    },
  };
}

if (process.send !== undefined) {
  // The tour's own end.
  process.on("disconnect", () => process.exit());
  const [command, ...words] = process.argv.slice(2);
  const client = await connectAgent(command, words);
  process.on("message", async ([what, ...given]) => {
    try {
      const value = await client[what](...given);
      if (what === "close") process.disconnect();
      else process.send({ value });
    } catch (problem) {
      process.send({ error: String(problem) });
    }
  });
}

/** Starts the server and greets it, as any client does. */
async function connectAgent(command, words) {
  const child = spawn(command, words, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  let last = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  child.on("close", () => {
    for (const resolve of waiting.values()) resolve({ error: { message: "the server has ended" } });
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = async (method, params) => {
    const id = ++last;
    const answer = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${method}`)), answerMillisecondsMax);
      waiting.set(id, (message) => {
        clearTimeout(timer);
        resolve(message);
      });
    });
    send({ id, method, params });
    const { result, error } = await answer;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  await ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "tour", version: "1" },
  });
  send({ method: "notifications/initialized" });
  return {
    tools: async () => (await ask("tools/list", {})).tools.map(({ name }) => name),
    call: (name, given) => ask("tools/call", { name, arguments: given }),
    close: () =>
      new Promise((resolve) => {
        child.on("close", resolve);
        child.stdin.end();
      }),
  };
}

/** A result in a few lines: the verdict, what was refused, what held it. */
export function shownResult({ isError, content, structuredContent }) {
  const text = content.map((one) => one.text ?? "").join("\n");
  const code = structuredContent?.code;
  if (isError) return { verdict: code ?? "failed", lines: text, approval: structuredContent?.approval };
  const { ending, stdout, stderr, enforcement } = structuredContent ?? {};
  if (ending === undefined) return { verdict: "done", lines: text };
  const held = (enforcement ?? []).map(({ axis, strength }) => `${axis} ${strength}`).join(", ");
  const ended = ending.kind === "exited" ? `exit ${ending.status}` : ending.kind;
  return { verdict: `exit ${ending.status ?? ending.kind}`, lines: `${ended}\n${stdout}${stderr}enforced by: ${held}` };
}
