// JSON Schema of a grant in YAML: generated from the catalog, so that it includes every verb and key.

import type { Constraint } from "../../core/authority/axes/constraint.ts";
import { ROOT_WORDS } from "../../core/authority/axes/root-word.ts";
import { CATALOG, type ScopeKey, scopeKeys, type VerbEntry } from "../../core/authority/catalog.ts";
import { constrainedArgumentsMax, patternsPerScopeMax } from "../../core/base/limits.ts";
import { type ConditionKey, conditionKeys } from "../../core/notation/scope/conditions.ts";
import { closedMap, listOf, oneOfWords, reference, type Schema } from "./schema-value.ts";

/** For the `$defs` of a schema that uses `capabilitiesSchema`. */
export function grantDefinitions(): Schema {
  return {
    capability: {
      anyOf: [
        ...CATALOG.map(({ verb, effect, risk }) => ({ const: verb, description: `${effect} (${risk} risk)` })),
        { type: "string", pattern: specPattern(), description: 'a compact spec ("net.get{hosts=[x]}") or a token' },
        {
          type: "object",
          minProperties: 1,
          maxProperties: 1,
          properties: Object.fromEntries(CATALOG.map((entry) => [entry.verb, scopeSchema(entry)])),
          additionalProperties: false,
        },
      ],
    },
    ...Object.fromEntries(Object.entries(KEYS).map(([key, schema]) => [`scope-${key}`, schema])),
    ...Object.fromEntries(Object.entries(CONDITIONS).map(([key, schema]) => [`condition-${key}`, schema])),
    constraint: constraintSchema(),
  };
}

export function capabilitiesSchema(description: string): Schema {
  return {
    description,
    anyOf: [
      { type: "array", items: reference("capability") },
      { type: "string", description: "the same on one line, split at spaces and commas" },
      { type: "null" },
    ],
  };
}

function specPattern(): string {
  const names = CATALOG.map(({ verb }) => verb.replaceAll(".", "[.]"));
  return `^\\s*(${names.join("|")})\\s*([{:].*)?$`;
}

function scopeSchema(entry: VerbEntry): Schema {
  const { verb, effect, risk, family, axes } = entry;
  const bare =
    axes.length === 0
      ? "it must be written to be granted"
      : `bare means ${family === "internal" ? "everything" : "nothing"}`;
  const keys = scopeKeys(entry).map((key) => [key, reference(`scope-${key}`)] as const);
  const conditions = conditionKeys(entry).map((key) => [key, reference(`condition-${key}`)] as const);
  const properties = Object.fromEntries([...keys, ...conditions]);
  return {
    description: `${verb}: ${effect}; ${risk} risk, ${bare}`,
    anyOf: [closedMap(properties, `the scope of ${verb}`), { type: "null" }],
  };
}

function texts(description: string, pattern?: string): Schema {
  const items: Schema = pattern === undefined ? { type: "string" } : { type: "string", pattern };
  return { ...listOf(items, description), maxItems: patternsPerScopeMax };
}

const KEYS: Readonly<Record<ScopeKey, Schema>> = {
  in: {
    description: "the root: this folder and everything below it",
    anyOf: [{ type: "string" }, { type: "array", maxItems: 0 }],
  },
  paths: texts("paths or patterns below the root (records and agents: of ids): `*` one segment, `**` many"),
  hosts: texts("`x` exactly, `*.x` x and everything below, `+.x` strictly below, `*` any; an address or a CIDR"),
  ports: {
    ...listOf(
      {
        anyOf: [
          { type: "integer", minimum: 1, maximum: 65_535 },
          { type: "string", pattern: "^([*]|[1-9][0-9]{0,4}(-[1-9][0-9]{0,4})?)$" },
        ],
      },
      "numbers, ranges (8000-8100) or `*`",
    ),
    maxItems: patternsPerScopeMax,
  },
  private: texts("names that may resolve to private addresses: db.internal=10.1.0.0/16", "^[^=]+=.+$"),
  raw: {
    type: "boolean",
    description: "connections whose host name is not in their first bytes (no TLS SNI, no HTTP)",
  },
  cmds: texts("whole programs, with any arguments: [git]"),
  patterns: texts("argument vectors word by word: [git log **]"),
  root: oneOfWords(
    ROOT_WORDS,
    "ro: the root is read-only; rw: changes land when the process ends; live: changes land while it runs",
  ),
  classes: texts("classes of records"),
  id: { type: "string", description: "one agent's id, or a pattern" },
  ids: texts("ids of agents, or patterns"),
  keys: texts("keys of the memory, or patterns"),
  agents: texts("ids of agents, or patterns"),
  tools: texts("tools by name, or patterns; `builtin:**` is all built-in tools"),
  args: {
    type: "object",
    description: "constraints on the arguments of the call, one for each named argument",
    minProperties: 1,
    maxProperties: constrainedArgumentsMax,
    additionalProperties: reference("constraint"),
  },
  args_only: { type: "boolean", description: "only the arguments named in `args` are allowed" },
  names: texts("names of secrets, or patterns"),
  providers: texts("model providers: anthropic, openai, gemini"),
  servers: texts("MCP servers by name, or patterns"),
  uris: texts("URIs of resources, or patterns: `docs://pages/**`; a prompt is `prompt:NAME`"),
  models: texts("models by name, or patterns: [claude-*]"),
};

const CONDITIONS: Readonly<Record<ConditionKey, Schema>> = {
  ask: {
    enum: [true, false, "presence"],
    description: "a person approves each call; `presence`: with their passphrase",
  },
  calls: {
    type: "integer",
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "maximum number of calls in total",
  },
  tokens: {
    type: "integer",
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "maximum number of model tokens in total",
  },
  money: {
    type: "number",
    exclusiveMinimum: 0,
    description: "maximum price of the tokens in total, by the prices in your configuration",
  },
  rate: { type: "string", pattern: "^[1-9][0-9]{0,8}/(s|sec|min|h|hour|d|day)$", description: "maximum rate: 10/min" },
  per: { const: "user", description: "each user has a budget of their own" },
  expires: {
    type: "string",
    pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,3})?)?(Z|[+-][0-9]{2}:[0-9]{2})$",
    description: "expiry time: 2026-12-01T00:00:00Z",
  },
  users: texts("only in sessions for these users; `group:NAME` for a group, `*` for every user"),
  pass: oneOfWords(["use", "pass", "both"], "whether the grant can be used, delegated to other agents, or both"),
  clean: { type: "boolean", description: "only until the session has read untrusted content" },
};

function constraintSchema(): Schema {
  const single: Schema = { type: ["string", "number", "boolean", "null"] };
  const end: Schema = { type: ["number", "null"] };
  const kinds: Readonly<Record<Constraint["kind"], Schema>> = {
    values: listOf(single, "exactly one of these"),
    range: { ...listOf(end, "[low, high]; null is an open end"), minItems: 2, maxItems: 2 },
    max_length: { type: "integer", minimum: 0, description: "maximum number of characters" },
    text: texts("a pattern with `*`"),
    path: texts("paths, as in `paths`"),
    url: texts("URLs on these hosts, as in `hosts`"),
  };
  return closedMap(kinds, "one kind of constraint", { minProperties: 1, maxProperties: 1 });
}
