// The JSON Schema of `mcp.yml`, of a project and of a user.
import { MAPPED_VERBS } from "../../core/notation/servers/argument-map.ts";
import { SERVER_ASKS, serverNameCharactersMax } from "../../core/notation/servers/server-file.ts";
import { capabilitiesSchema, grantDefinitions } from "./schema-grant.ts";
import { closedMap, listOf, type Schema, whole } from "./schema-value.ts";

const text: Schema = { type: "string" };

const place: Schema = {
  type: "string",
  pattern: "^\\$(\\.[A-Za-z_][A-Za-z0-9_-]*|\\[\\*\\])+\\??$",
  description: "a path into the arguments: $.path, $.files[*].path, or $.path? if it is optional",
};

const argumentMap: Schema = closedMap(
  Object.fromEntries(MAPPED_VERBS.map((verb) => [verb, { anyOf: [place, listOf(place, "several places")] }])),
  "which requests the arguments of a tool mean; {}: they name nothing outside the server",
);

const revealed: Schema = closedMap(
  { secret: { ...text, description: "the name of a stored secret" }, reveal: { const: true } },
  "the value of a secret, passed to the program in plain text",
  { required: ["secret", "reveal"] },
);

export function serversSchema(level: "project" | "user"): Schema {
  const isUser = level === "user";
  const both: Schema = {
    requires: capabilitiesSchema("the files and hosts its sandbox reaches; nothing else is reachable"),
    tools: { type: "object", description: "argument maps of its tools", additionalProperties: argumentMap },
    asks: {
      ...listOf(
        { enum: [...SERVER_ASKS] },
        "what it may request from the client during a call, if the agent's grants allow it",
      ),
    },
    enabled: { type: "boolean", description: "false: it is not started" },
    ...(isUser ? { clean: { type: "boolean", description: "its results do not count as untrusted data" } } : {}),
  };
  const program: Schema = {
    command: { ...listOf(text, "the program and its arguments; no shell interprets them"), minItems: 1 },
    package: {
      type: "object",
      description: "the package that contains its program, as `ambit mcp add NAME -- npx ...` or `uvx ...` pins it",
      properties: {
        npm: { type: "string", pattern: "^(@[a-z0-9][a-z0-9._~-]*/)?[a-z0-9][a-z0-9._~-]*@\\d+\\.\\d+\\.\\d+" },
        pypi: { type: "string", pattern: "^[a-z0-9][a-z0-9-]*(\\[[a-z0-9,-]*\\])?==[0-9]" },
        integrity: { type: "string", pattern: "^sha(256|384|512)-" },
        lock: { type: "string", pattern: "^sha256-[0-9a-f]{64}$" },
        scripts: { type: "boolean", description: "its install scripts ran, in a sandbox without network" },
      },
      required: ["integrity", "lock"],
      oneOf: [{ required: ["npm"] }, { required: ["pypi"] }],
      additionalProperties: false,
    },
    runtime: listOf(text, "folders of programs and libraries mounted in its sandbox, read-only"),
    env: {
      type: "object",
      description: "variables of its environment, which is otherwise empty",
      additionalProperties: isUser ? { anyOf: [text, revealed] } : text,
    },
  };
  const address: Schema = {
    url: { type: "string", pattern: "^https?://.", description: "its address, for streamable HTTP" },
    headers: {
      type: "object",
      description: "headers of each request; write a credential as {{secret:name}}",
      additionalProperties: text,
    },
  };
  const server: Schema = {
    description: "an MCP server: a program on this machine, or an address",
    anyOf: [
      closedMap({ ...program, ...both }, "a program that runs in a sandbox", { required: ["command"] }),
      closedMap({ ...address, ...both }, "a server at an address", { required: ["url"] }),
    ],
  };
  const servers: Schema = {
    type: ["object", "null"],
    description: "MCP servers by name",
    propertyNames: { pattern: `^[a-z][a-z0-9-]{0,${serverNameCharactersMax - 1}}$` },
    additionalProperties: server,
  };
  const [id, title] = isUser ? ["user-mcp", "ambit: the user's mcp.yml"] : ["mcp", "ambit: a project's mcp.yml"];
  const body = { properties: { servers }, additionalProperties: false, $defs: grantDefinitions() };
  return whole(id, title, { type: ["object", "null"], ...body });
}
