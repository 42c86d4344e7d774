// A server with what the official suite calls: its tools, resources and prompts by their names, on the protocol's newer library, which
// serves both eras. The suite is run against it directly and through the gateway.
import { completable, fromJsonSchema, inputRequired, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
const text = (value) => ({ content: [{ type: "text", text: value }] });
const picture = { type: "image", data: PICTURE, mimeType: "image/png" };
const sound = { type: "audio", data: SOUND, mimeType: "audio/wav" };
const resource = (uri) => ({ type: "resource", resource: { uri, mimeType: "text/plain", text: "an embedded resource" } });
const pause = () => new Promise((over) => setTimeout(over, 50));

function factory({ era }) {
  const made = new McpServer(
    { name: "reference", version: "1" },
    { capabilities: { logging: {}, tools: { listChanged: true }, resources: { subscribe: era === "legacy", listChanged: true } } },
  );
  const tool = (name, act, inputSchema = z.object({})) =>
    made.registerTool(name, { description: `For the scenario of ${name}.`, inputSchema }, act);
  tool("test_simple_text", async () => text("This is a simple text response for testing."));
  tool("test_image_content", async () => ({ content: [picture] }));
  tool("test_audio_content", async () => ({ content: [sound] }));
  tool("test_embedded_resource", async () => ({ content: [resource("test://embedded-resource")] }));
  tool("test_multiple_content_types", async () => ({
    content: [{ type: "text", text: "Multiple content types test:" }, picture, resource("test://mixed-content-resource")],
  }));
  tool("test_error_handling", async () => ({
    isError: true,
    content: [{ type: "text", text: "This tool intentionally returns an error for testing" }],
  }));
  tool("test_tool_with_logging", async (_, { mcpReq }) => {
    for (const words of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await mcpReq.log("info", words);
      await pause();
    }
    return text("Tool with logging executed successfully");
  });
  tool("test_tool_with_progress", async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
      await pause();
    }
    return text(String(progressToken));
  });
  const asking = (name, key, request, inputSchema) =>
    tool(
      name,
      async (input, { mcpReq }) => {
        const given = mcpReq.inputResponses?.[key];
        return given === undefined
          ? inputRequired({ inputRequests: { [key]: request(input) } })
          : text(`response: ${JSON.stringify(given)}`);
      },
      inputSchema,
    );
  const asked = (words) => ({ messages: [{ role: "user", content: { type: "text", text: words } }], maxTokens: 100 });
  const form = (message, properties, required = []) =>
    inputRequired.elicit({ message, requestedSchema: { type: "object", properties, required } });
  const person = { name: { type: "string", description: "User's name" } };
  asking("test_sampling", "sampled", ({ prompt }) => inputRequired.createMessage(asked(prompt)), z.object({ prompt: z.string() }));
  asking(
    "test_elicitation",
    "elicited",
    ({ message }) => form(message, { username: { type: "string", description: "User's response" } }, ["username"]),
    z.object({ message: z.string() }),
  );
  asking("test_elicitation_sep1034_defaults", "elicited", () =>
    form("Please review and update the form fields with defaults", {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    }),
  );
  const titled = [1, 2, 3].map((at) => ({ const: `value${at}`, title: `Option ${at}` }));
  asking("test_elicitation_sep1330_enums", "elicited", () =>
    form("Please choose", {
      untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
      titledSingle: { type: "string", oneOf: titled },
      legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
      untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
      titledMulti: { type: "array", items: { anyOf: titled } },
    }),
  );
  asking("test_input_required_result_elicitation", "user_name", () => form("What is your name?", person, ["name"]));
  asking("test_input_required_result_sampling", "capital_question", () =>
    inputRequired.createMessage(asked("What is the capital of France?")),
  );
  asking("test_input_required_result_list_roots", "client_roots", () => inputRequired.listRoots());
  tool("test_input_required_result_request_state", async (_, { mcpReq }) =>
    mcpReq.requestState() === undefined || mcpReq.inputResponses === undefined
      ? inputRequired({ inputRequests: { confirm: form("Confirm", { ok: { type: "boolean" } }, ["ok"]) }, requestState: "state" })
      : text(mcpReq.requestState() === "state" ? "state-ok" : "state-wrong"),
  );
  made.registerTool(
    "json_schema_2020_12_tool",
    {
      description: "A tool whose schema has keywords of JSON Schema 2020-12.",
      inputSchema: fromJsonSchema({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        $defs: { address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
        properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
        additionalProperties: false,
      }),
    },
    async () => text("checked"),
  );
  const contents = (uri, more) => async () => ({ contents: [{ uri, ...more }] });
  const fixed = (name, uri, more) => made.registerResource(name, uri, more, contents(uri, more));
  fixed("static-text", "test://static-text", { mimeType: "text/plain", text: "This is the content of the static text resource." });
  fixed("static-binary", "test://static-binary", { mimeType: "image/png", blob: PICTURE });
  fixed("watched", "test://watched-resource", { mimeType: "text/plain", text: "Watched." });
  made.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { mimeType: "application/json" },
    async ({ href }, { id }) => ({
      contents: [{ uri: href, mimeType: "application/json", text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }],
    }),
  );
  if (era === "legacy")
    for (const method of ["resources/subscribe", "resources/unsubscribe"]) made.server.setRequestHandler(method, async () => ({}));
  const prompt = (name, messages, argsSchema) =>
    made.registerPrompt(name, { description: `For ${name}.`, ...(argsSchema === undefined ? {} : { argsSchema }) }, async (given) => ({
      messages: messages(given).map((content) => ({ role: "user", content })),
    }));
  prompt("test_simple_prompt", () => [{ type: "text", text: "This is a simple prompt for testing." }]);
  prompt(
    "test_prompt_with_arguments",
    ({ arg1, arg2 }) => [{ type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }],
    z.object({
      arg1: completable(z.string(), (value) => ["paris", "park", "party"].filter((one) => one.startsWith(value))),
      arg2: z.string(),
    }),
  );
  prompt(
    "test_prompt_with_embedded_resource",
    ({ resourceUri }) => [resource(resourceUri), { type: "text", text: "Please process the embedded resource above." }],
    z.object({ resourceUri: z.string() }),
  );
  prompt("test_prompt_with_image", () => [picture, { type: "text", text: "Please analyze the image above." }]);
  return made;
}

// A gateway that may choose speaks the older era with it.
serveStdio(factory, { legacy: process.argv[2] === "newer" ? "reject" : "serve" });
