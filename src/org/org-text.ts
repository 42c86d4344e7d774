// An org as text: Markdown as the seed writes it, YAML, and one record for each agent. INVARIANT: a command that writes
// one of these reads it again and compares: a text that would not say the same is not written.
import { idOfRole } from "../core/base/agent-id.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../core/base/json.ts";
import type { TreeNode } from "../core/notation/tree.ts";

/** A tree as a value. Objects have no prototype: every key is a key. */
export function jsonOfTree(node: TreeNode): Json {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map(jsonOfTree);
    case "map": {
      const object: Record<string, Json> = Object.create(null);
      for (const { key, value } of node.entries) object[key] = jsonOfTree(value);
      return object;
    }
  }
}

/** Equal values, whatever the order of their keys. */
export function isSameValue(left: Json | undefined, right: Json | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  if (isJsonList(left))
    return isJsonList(right) && left.length === right.length && left.every((one, at) => isSameValue(one, right[at]));
  if (!isJsonObject(left)) return left === right;
  const keys = Object.keys(left);
  return (
    isJsonObject(right) &&
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSameValue(left[key], right[key]))
  );
}

export function orgMarkdown(org: JsonObject): string {
  const lines = [`# ${textAt(org, "name")}`, ""];
  if (textAt(org, "description") !== "") lines.push(textAt(org, "description"), "");
  lines.push(...metadata(org, ["budget", "defaults", "capabilities"]));
  if (textAt(org, "mission") !== "") lines.push("## Mission", "", textAt(org, "mission"), "");
  for (const [heading, key] of [
    ["Agents", "agents"],
    ["Triggers", "triggers"],
  ] as const) {
    const items = Object.entries(mapAt(org, key));
    if (items.length > 0) lines.push(`## ${heading}`, "");
    for (const [id, item] of items) {
      if (!isJsonObject(item)) continue;
      const title = key === "agents" ? textAt(item, "role") || id : id;
      const isNamed = key === "agents" && idOfRole(title) !== id;
      const { role: _role, prompt: _prompt, ...rest } = item;
      lines.push(`### ${title}`, "");
      lines.push(...metadata({ ...(isNamed ? { id } : {}), ...rest }, null));
      if (textAt(item, "prompt") !== "") lines.push(textAt(item, "prompt"), "");
    }
  }
  for (const [heading, text] of Object.entries(mapAt(org, "notes"))) lines.push(`## ${heading}`, "", String(text), "");
  return `${lines.join("\n").trimEnd()}\n`;
}

function metadata(map: JsonObject, keys: readonly string[] | null): readonly string[] {
  const lines = Object.entries(map)
    .filter(([key]) => keys === null || keys.includes(key))
    .map(([key, value]) => `- ${keyText(key)}: ${isPlainWord(value) ? value : JSON.stringify(value)}`);
  return lines.length === 0 ? [] : [...lines, ""];
}

function keyText(key: string): string {
  return key === "reportsTo" ? "reports to" : key;
}

/** A text that reads as itself and not as JSON. */
function isPlainWord(value: Json): value is string {
  return (
    typeof value === "string" && /^[A-Za-z0-9./~][^\n\r]*$/.test(value) && value.trim() === value && !isJson(value)
  );
}

function isJson(text: string): boolean {
  return /^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(text);
}

/** Maps of the first two levels as blocks, everything below as one line. */
export function orgYaml(org: JsonObject): string {
  return blockLines(org, 2, "")
    .map((line) => `${line}\n`)
    .join("");
}

function blockLines(map: JsonObject, depth: number, indent: string): readonly string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    const head = `${indent}${yamlKey(key)}:`;
    if (isJsonObject(value) && depth > 0 && Object.keys(value).length > 0)
      return [head, ...blockLines(value, depth - 1, `${indent}  `)];
    if (typeof value === "string" && isBlockText(value))
      return [`${head} |-`, ...value.split("\n").map((line) => (line === "" ? "" : `${indent}  ${line}`))];
    return [`${head} ${typeof value === "string" ? yamlText(value) : flow(value)}`];
  });
}

/** JSON with spaces, which YAML reads as the same value. */
function flow(value: Json): string {
  if (isJsonList(value)) return `[${value.map(flow).join(", ")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${flow(one)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

const WORD = /^[A-Za-z][\w./@+ -]*[\w./@+]$/;
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null|~)$/i;

function yamlKey(key: string): string {
  return WORD.test(key) && !key.includes(" ") && !RESERVED.test(key) ? key : JSON.stringify(key);
}

function yamlText(text: string): string {
  return WORD.test(text) && !RESERVED.test(text) ? text : JSON.stringify(text);
}

/** Several lines that a block keeps as they are. */
function isBlockText(text: string): boolean {
  return (
    text.includes("\n") &&
    /^[^\s]/.test(text) &&
    /[^\s]$/.test(text) &&
    !/[\r\t\u0080-\u009f\u2028\u2029]| \n/.test(text)
  );
}

/**
 * The record of one agent: `policy` is what it may do, `org` what the file says of it besides. `client` and `models` become
 * grants of the record.
 */
export function orgRecord(
  agent: JsonObject,
  policy: Readonly<Record<string, string>>,
  grants: readonly string[],
): string {
  const { prompt: _prompt, ...org } = agent;
  const folder = textAt(agent, "folder");
  const head = blockLines(
    {
      title: textAt(agent, "role"),
      sandbox: folder === "" ? "." : folder,
      ...(grants.length === 0 ? {} : { capabilities: grants }),
      policy,
      org,
    },
    1,
    "",
  );
  return `---\n${head.join("\n")}\n---\n\n${textAt(agent, "prompt")}\n`;
}

export function textAt(map: JsonObject, key: string): string {
  const value = map[key];
  return typeof value === "string" ? value : "";
}

export function mapAt(map: JsonObject, key: string): JsonObject {
  const value = map[key];
  return value !== undefined && isJsonObject(value) ? value : {};
}
