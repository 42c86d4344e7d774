// The same in the newer era: a result says what the server needs first, and the call comes back with it.
import { acceptedContent, inputRequired, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const text = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
const form = (message) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  });

function factory() {
  const made = new McpServer(
    { name: "asking", version: "2" },
    { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } } },
  );
  made.registerTool("ask", { inputSchema: z.object({ message: z.string() }) }, async ({ message }, { mcpReq }) => {
    const content = acceptedContent(mcpReq.inputResponses, "who", z.object({ name: z.string() }));
    if (content !== undefined) return text({ action: "accept", content, state: mcpReq.requestState() });
    const given = mcpReq.inputResponses?.who;
    if (given !== undefined) return text(given);
    return inputRequired({ inputRequests: { who: form(message) }, requestState: "the server's own note" });
  });
  made.registerTool("ask_twice", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    const state = mcpReq.requestState();
    if (state === undefined)
      return inputRequired({ inputRequests: { first: form("first?") }, requestState: "1" });
    if (state === "1")
      return inputRequired({
        inputRequests: { second: form("second?") },
        requestState: JSON.stringify([mcpReq.inputResponses?.first?.content]),
      });
    return text([...JSON.parse(state), mcpReq.inputResponses?.second?.content]);
  });
  made.registerTool("sample", { inputSchema: z.object({ words: z.string() }) }, async ({ words }, { mcpReq }) => {
    const given = mcpReq.inputResponses?.model;
    if (given !== undefined) return text(given);
    const messages = [{ role: "user", content: { type: "text", text: words } }];
    return inputRequired({
      inputRequests: { model: inputRequired.createMessage({ messages, maxTokens: 50 }) },
      requestState: "-",
    });
  });
  made.registerTool("roots", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    const given = mcpReq.inputResponses?.roots;
    return given === undefined
      ? inputRequired({ inputRequests: { roots: inputRequired.listRoots() } })
      : text(given);
  });
  made.registerTool("steps", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [1, 2, 3])
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 3, message: `step\u202e ${progress}` },
        });
    return text(progressToken !== undefined);
  });
  made.registerTool("noise", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    for (const level of ["debug", "info", "error"]) await mcpReq.log(level, `noise-of-${level} \u001b[2J`, "own");
    return text("done");
  });
  made.registerTool("touch", { inputSchema: z.object({ uri: z.string() }) }, async ({ uri }) => {
    await made.server.sendResourceUpdated({ uri });
    return text("told");
  });
  made.registerTool("grow", { inputSchema: z.object({}) }, async () => {
    const read = async ({ href }) => ({ contents: [{ uri: href, text: "more" }] });
    made.registerResource(`more-${Math.random()}`, `notes://more/${Date.now()}`, {}, read);
    await made.server.sendResourceListChanged();
    return text("grown");
  });
  const asked = (mcpReq, message, answer) => {
    const given = acceptedContent(mcpReq.inputResponses, "who", z.object({ name: z.string() }));
    if (given !== undefined) return answer(given.name);
    return inputRequired({ inputRequests: { who: form(message) }, requestState: "read" });
  };
  made.registerResource("who", "notes://asks/who", {}, async ({ href }, { mcpReq }) =>
    asked(mcpReq, "who reads?", (name) => ({ contents: [{ uri: href, text: `for ${name}` }] })),
  );
  made.registerPrompt("who", {}, async ({ mcpReq }) =>
    asked(mcpReq, "who prompts?", (name) => ({
      messages: [{ role: "user", content: { type: "text", text: `from ${name}` } }],
    })),
  );
  const page = async ({ href }) => ({ contents: [{ uri: href, text: "page" }] });
  made.registerResource("page", new ResourceTemplate("notes://pages/{page}", { list: undefined }), {}, page);
  return made;
}

serveStdio(factory, { legacy: "reject" });
