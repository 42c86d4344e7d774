// A server of the older era on the protocol's own library: it asks the person, the model and for roots, reports progress, logs,
// completes, and tells of changes.
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

const made = new McpServer(
  { name: "asking", version: "1" },
  { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } } },
);
const { server } = made;
const text = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
const orError = (asked) => asked.then(text, (error) => text({ refused: error.message }));
const form = (message) => ({
  message,
  requestedSchema: { type: "object", properties: { name: { type: "string", title: "Na\u200bme" } }, required: ["name"] },
});

made.registerTool("ask", { inputSchema: { message: z.string() } }, ({ message }) =>
  orError(server.elicitInput(form(message))),
);
made.registerTool("ask_twice", {}, async () => {
  const first = await server.elicitInput(form("first?"));
  const second = await server.elicitInput(form("second?"));
  return text([first.content, second.content]);
});
made.registerTool("ask_both", {}, async () => {
  const [person, model] = await Promise.all([server.elicitInput(form("who?")), sampled("hi")]);
  return text([person.content, model.content]);
});
made.registerTool("ask_address", {}, () =>
  orError(server.elicitInput({ mode: "url", message: "go", url: "https://example.com/", elicitationId: "1" })),
);
made.registerTool("ask_often", {}, async () => {
  const asked = [];
  for (let at = 0; at < 30; at++) asked.push(await orError(server.elicitInput(form(`number ${at}`))));
  return text(asked.map(({ content }) => content[0].text));
});
const sampled = (words) =>
  server.createMessage({
    messages: [{ role: "user", content: { type: "text", text: words } }],
    systemPrompt: "Be brief.",
    includeContext: "allServers",
    maxTokens: 50,
  });
made.registerTool("sample", { inputSchema: { words: z.string() } }, ({ words }) => orError(sampled(words)));
made.registerTool("roots", {}, () => orError(server.listRoots()));
made.registerTool("declared", {}, async () => text(server.getClientCapabilities() ?? null));
made.registerTool("steps", {}, async (extra) => {
  const progressToken = extra._meta?.progressToken;
  for (const progress of [1, 2, 3])
    if (progressToken !== undefined)
      await extra.sendNotification({
        method: "notifications/progress",
        params: { progressToken, progress, total: 3, message: `step\u202e ${progress}` },
      });
  return text(progressToken !== undefined);
});
made.registerTool("noise", {}, async () => {
  for (const level of ["debug", "info", "error"])
    await server.sendLoggingMessage({ level, logger: "own", data: `noise-of-${level} \u001b[2J` });
  return text("done");
});
// Logs once `release` is called, which waits until it runs.
const gate = () => {
  const one = {};
  one.opened = new Promise((open) => Object.assign(one, { open }));
  return one;
};
const [began, released] = [gate(), gate()];
made.registerTool("noise_later", {}, async () => {
  began.open();
  await released.opened;
  await server.sendLoggingMessage({ level: "debug", logger: "later", data: "released" });
  return text("done");
});
made.registerTool("release", {}, async () => {
  await began.opened;
  released.open();
  return text("released");
});
made.registerTool("hang", {}, async ({ signal }) => {
  await new Promise((over) => signal.addEventListener("abort", over, { once: true }));
  cancelled++;
  return text("cancelled");
});
let cancelled = 0;
made.registerTool("cancelled", {}, async () => text(cancelled));
made.registerTool("touch", { inputSchema: { uri: z.string() } }, async ({ uri }) => {
  await server.sendResourceUpdated({ uri });
  return text([...watched]);
});
made.registerTool("grow", {}, async () => {
  made.registerResource(`more-${Math.random()}`, `notes://more/${Date.now()}`, {}, async ({ href }) => ({
    contents: [{ uri: href, text: "more" }],
  }));
  return text("grown");
});

const watched = new Set();
server.setRequestHandler(SubscribeRequestSchema, async ({ params }) => {
  watched.add(params.uri);
  return {};
});
server.setRequestHandler(UnsubscribeRequestSchema, async ({ params }) => {
  watched.delete(params.uri);
  return {};
});
made.registerResource(
  "page",
  new ResourceTemplate("notes://pages/{page}", {
    list: undefined,
    complete: { page: (value) => ["start", "stop", "secret"].filter((one) => one.startsWith(value)) },
  }),
  {},
  async ({ href }) => ({ contents: [{ uri: href, text: `page ${href}` }] }),
);
made.registerPrompt(
  "greet",
  { argsSchema: { name: completable(z.string(), (value) => ["Ada", "Alan"].filter((one) => one.startsWith(value))) } },
  async ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Hello ${name}` } }] }),
);
made.registerResource("who", "notes://asks/who", {}, async ({ href }) => {
  const { content } = await server.elicitInput(form("who reads?"));
  return { contents: [{ uri: href, text: `for ${content.name}` }] };
});
made.registerPrompt("who", {}, async () => {
  const { content } = await server.elicitInput(form("who prompts?"));
  return { messages: [{ role: "user", content: { type: "text", text: `from ${content.name}` } }] };
});

await made.connect(new StdioServerTransport());
