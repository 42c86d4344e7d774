// JSON Schemas of files that people write: a record's frontmatter, config.yml and mcp.yml. For editors; the readers are
// authoritative.
import { DENIAL_CODES } from "../../core/authority/decision.ts";
import type { ConfigKey } from "../../core/notation/config/config-keys.ts";
import { LAND_WORDS } from "../../core/notation/config/land-setting.ts";
import { MODEL_PROVIDERS } from "../../core/notation/config/model-setting.ts";
import { LIMIT_KEYS, TERMINAL_PASSES } from "../../core/notation/config/run-settings.ts";
import { SEARCH_PROVIDERS } from "../../core/notation/config/search-setting.ts";
import { CAPABILITIES, type Ruling } from "../../core/notation/policy/policy-table.ts";
import { PRESETS } from "../../core/notation/record/presets.ts";
import type { AuthorityKey } from "../../core/notation/record/record-keys.ts";
import type { TestOutcome } from "../../core/notation/record/record-tests.ts";
import { capabilitiesSchema, grantDefinitions } from "./schema-grant.ts";
import { serversSchema } from "./schema-servers.ts";
import { closedMap, listOf, oneOfWords, reference, type Schema, whole } from "./schema-value.ts";

export type SchemaName = "record" | "config" | "user-config" | "mcp" | "user-mcp";
export const SCHEMA_NAMES: readonly SchemaName[] = ["record", "config", "user-config", "mcp", "user-mcp"];

export function schemaOf(name: SchemaName): Schema {
  switch (name) {
    case "record":
      return recordSchema();
    case "config":
      return configSchema("config", "ambit: a project's config.yml", PROJECT_CONFIG);
    case "user-config":
      return configSchema("user-config", "ambit: the user's config.yml", { ...PROJECT_CONFIG, ...USER_CONFIG });
    case "mcp":
      return serversSchema("project");
    case "user-mcp":
      return serversSchema("user");
    default:
      return name satisfies never;
  }
}

/** Where `ambit init` puts a schema, relative to the workspace. */
export function schemaPath(name: SchemaName): string {
  return `.ambit/schema/${name}.json`;
}

/** The comment that tells an editor the schema of a file. The path is relative to the file. */
export function modeline(path: string): string {
  return `# yaml-language-server: $schema=${path}`;
}

/** A record may have other keys too. */
function recordSchema(): Schema {
  const keys: Readonly<Record<AuthorityKey | "id" | "class", Schema>> = {
    id: { type: "string", description: "the agent's id; default: the file name" },
    class: { type: "string", description: "what kind of record this is" },
    capabilities: capabilitiesSchema("what the agent may do; [] is nothing"),
    access: oneOfWords(["r", "w", "rw"], "short for reading, writing, or both, of records"),
    sandbox: { type: "string", description: "the folder the agent works in; the root of fs.* and proc.* grants" },
    policy: reference("policy"),
    extends: {
      description: "presets whose grants are added; a preset never changes",
      anyOf: [preset, listOf(preset, "several presets")],
    },
    tests: {
      description: "requests with the outcome they must have; a record whose tests fail grants nothing",
      anyOf: [{ type: "array", items: reference("test") }, { type: "null" }],
    },
    mode: { type: "string", description: "reserved: has no effect yet, calls are enforced" },
    approvers: approversSchema(),
    land: landSchema,
    room: {
      type: "array",
      items: { type: "string" },
      description: "agents whose notes and denials it reads; short for obs.append and obs.query of them",
    },
  };
  const $defs = { policy, test: testSchema(), ...grantDefinitions() };
  return whole("record", "ambit: an agent's record", { type: "object", properties: keys, $defs });
}

function approversSchema(): Schema {
  const need: Schema = {
    type: "integer",
    minimum: 1,
    maximum: 10,
    description: "how many different people must approve",
  };
  const of = listOf({ type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$" }, "the people who may approve");
  return {
    description: "who approves requests of the agent; default: any one person",
    anyOf: [need, closedMap({ need, of }, "a number of named people", { required: ["need"] })],
  };
}

const landSchema: Schema = oneOfWords(LAND_WORDS, "ask: changes of programs need approval before they land");

const preset: Schema = { enum: [...PRESETS.keys()] };

const RULINGS: readonly Ruling[] = ["allow", "ask", "deny"];
const policy: Schema = closedMap(
  Object.fromEntries(CAPABILITIES.map((capability) => [capability, { enum: [...RULINGS] }])),
  "allow, ask or deny for each capability; omitted capabilities are not granted",
);

const OUTCOMES: readonly TestOutcome[] = ["allow", "ask", "deny"];

function testSchema(): Schema {
  const request: Schema = { type: "string", minLength: 1, description: "net.get https://api.github.com/x" };
  return {
    description: "a request and the decision it must have",
    anyOf: OUTCOMES.map((outcome) => {
      const code = outcome === "deny" ? { code: oneOfWords(DENIAL_CODES, "the code the denial must have") } : {};
      return closedMap({ [outcome]: request, ...code }, `${outcome} this request`, { required: [outcome] });
    }),
  };
}

type UserKey =
  | "ceiling"
  | "capabilities"
  | "control"
  | "shadow"
  | "bare"
  | "namespaces"
  | "secrets"
  | "environment"
  | "limits"
  | "resolver"
  | "certificates"
  | "notify"
  | "terminal"
  | "search"
  | "models"
  | "prompts"
  | "development"
  | "programs"
  | "audit"
  | "oauth";

function triggersSchema(classes: readonly string[]): Schema {
  return closedMap(
    Object.fromEntries(classes.map((key) => [key, listOf({ type: "string" }, TRIGGER_CLASSES[key] ?? key)])),
    "file names that tools run or obey, in addition to the built-in list",
  );
}

const TRIGGER_CLASSES: Readonly<Record<string, string>> = {
  never: "changes to them by agents never land",
  ask: "changes to them by agents need approval",
  allow: "ordinary files",
};

const PROJECT_CONFIG: Readonly<Record<Exclude<ConfigKey, UserKey>, Schema>> = {
  sandbox: { type: "string", description: "the root that contains all roots of this level" },
  policy: reference("policy"),
  agents: { type: "object", description: "policies by agent", additionalProperties: reference("policy") },
  runtime: listOf({ type: "string" }, "folders every sandbox sees, read-only"),
  mode: oneOfWords(["enforce"], "a project can only set enforcing"),
  tools: listOf({ type: "string" }, "npm packages to load as tools, each in its own sandbox"),
  triggers: triggersSchema(["never", "ask"]),
  users: oneOfWords(["required", "optional"], "required: sessions are opened only for users that have a record"),
  land: landSchema,
};

const secretPlace: Schema = { type: "string", pattern: "^(env|file):." };
const SECRET: Readonly<Record<string, Schema>> = {
  from: secretPlace,
  hosts: listOf({ type: "string" }, "the hosts it may be sent to"),
  username: { type: "string", description: "the username sent with it" },
};
const ceiling = capabilitiesSchema("grants that no agent can exceed, whatever its record grants");
const USER_CONFIG: Readonly<Record<UserKey | "mode" | "triggers", Schema>> = {
  triggers: triggersSchema(["never", "ask", "allow"]),
  mode: oneOfWords(
    ["enforce", "shadow"],
    "shadow: calls of clients are recorded and not blocked, for the agents in `shadow`",
  ),
  shadow: {
    type: "object",
    description: "agents in shadow mode, each with the moment it ends",
    additionalProperties: { type: "string", description: "such as 2026-12-01T00:00:00Z" },
  },
  ceiling,
  capabilities: ceiling,
  control: oneOfWords(["ask", "presence"], "what widening and approving require"),
  bare: { type: "boolean", description: "run programs without a sandbox if the machine has none" },
  namespaces: oneOfWords(["preferred", "required"], "required: refuse programs if the sandbox cannot use namespaces"),
  secrets: {
    type: "object",
    description: "secrets by name: the source of each, never its value",
    additionalProperties: {
      anyOf: [secretPlace, closedMap(SECRET, "a secret and the hosts it is for", { required: ["from"] })],
    },
  },
  environment: listOf({ type: "string" }, "variables of your environment that programs may see"),
  limits: closedMap(
    Object.fromEntries(LIMIT_KEYS.map((key) => [key, { type: "integer", minimum: 1 }])),
    "resource limits of one command",
  ),
  resolver: {
    description: "the resolver of host names for programs; default: the system's",
    anyOf: [{ type: "string" }, listOf({ type: "string" }, "several, in order")],
  },
  certificates: listOf({ type: "string" }, "files of certificate authorities that git's hosts are trusted by, too"),
  notify: listOf(
    { type: "string" },
    "the absolute path of a program and its first arguments; run when a request needs your approval",
  ),
  terminal: listOf(
    oneOfWords(TERMINAL_PASSES, "what passes"),
    "which terminal features besides drawing the output of programs may use",
  ),
  prompts: oneOfWords(["discard", "keep"], "keep: log the end of each conversation that is sent to a model"),
  models: closedMap(
    Object.fromEntries(
      MODEL_PROVIDERS.map((provider) => [
        provider,
        closedMap(
          {
            url: { type: "string", pattern: "^https?://.", description: "where it is asked" },
            prices: {
              type: "object",
              description: "price of a million tokens, by model name or pattern",
              additionalProperties: closedMap(
                Object.fromEntries(
                  ["input", "output", "cache_read", "cache_write"].map((key) => [key, { type: "number", minimum: 0 }]),
                ),
                "prices of a million tokens",
                { required: ["input", "output"] },
              ),
            },
          },
          "a provider with another address, or with prices for budgets",
        ),
      ]),
    ),
    "model providers with another address, such as a gateway",
  ),
  search: closedMap(
    {
      provider: oneOfWords(SEARCH_PROVIDERS, "the API of the provider"),
      url: { type: "string", pattern: "^https?://.", description: "its address; required for searxng" },
      secret: { type: "string", description: "the name of the secret sent with every query" },
    },
    "the web search provider for agents; by default none",
    { required: ["provider"] },
  ),
  development: listOf({ type: "string" }, "workspaces whose tools are loaded without trusting each change"),
  programs: closedMap(
    {
      add: listOf({ type: "string" }, "folders mounted read-only for clients and added to their PATH"),
      remove: listOf({ type: "string" }, "folders of your PATH that clients do not get"),
    },
    "changes to the toolchains available in `ambit run`",
  ),
  oauth: closedMap(
    {
      resource: { type: "string", description: "the address that `ambit mcp serve --http` prints" },
      issuers: listOf(
        closedMap(
          {
            issuer: { type: "string", pattern: "^https?://.", description: "the issuer, as written in its tokens" },
            jwks: {
              type: "string",
              pattern: "^https?://.",
              description: "the address of its keys, if not at its origin",
            },
            scopes: listOf({ type: "string" }, "scopes that a token must have"),
            clients: listOf(
              closedMap(
                {
                  claims: {
                    type: "object",
                    description: "required claims of a token",
                    additionalProperties: { type: "string" },
                  },
                  agent: { type: "string", description: "the agent of its sessions" },
                  in: { type: "string", description: "the folder of its sessions" },
                  user: { type: "string", description: "the user its sessions act for" },
                },
                "claims, and the agent they map to",
                { required: ["claims", "agent", "in"] },
              ),
              "mapping from claims to agents",
            ),
          },
          "an authorization server",
          { required: ["issuer", "clients"] },
        ),
        "authorization servers",
      ),
    },
    "issuers whose access tokens are accepted from clients over HTTP; default: none",
    { required: ["resource", "issuers"] },
  ),
  audit: closedMap(
    {
      sink: {
        type: "string",
        pattern: "^(unix:)?(~/|/).*[^/]$",
        description: "the absolute path of a file, or unix: and the path of a collector's socket",
      },
      timeout: {
        type: "string",
        pattern: "^[0-9]+(ms|s)$",
        description: "how long a call waits for the copy; default: 2s",
      },
    },
    "the second copy of the log; if it is unavailable, every call is denied",
    { required: ["sink"] },
  ),
};

function configSchema(id: string, title: string, properties: Schema): Schema {
  const $defs = { policy, ...grantDefinitions() };
  return whole(id, title, { type: ["object", "null"], properties, additionalProperties: false, $defs });
}
