// `mcp.yml`: the MCP servers of a project or of a user. What each may reach is written in `requires`, by the same words as
// the capabilities of an agent; what is not written, its sandbox does not have.
import { destinationText } from "../../authority/axes/destination.ts";
import { verbEntry } from "../../authority/catalog.ts";
import type { Grant, Span } from "../../authority/grant.ts";
import type { Json } from "../../base/json.ts";
import { done, refuse } from "../../base/result.ts";
import { readCompact } from "../compact/compact.ts";
import type { ConfigLevel } from "../config/config-keys.ts";
import { type Diagnostic, Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { readCapabilityList } from "../record/capabilities.ts";
import { flagOf, kindName, readEach } from "../scope/scope-values.ts";
import { type Entry, entryOf, type Mapping, plainValue, type TreeNode } from "../tree.ts";
import { type ArgumentMap, readArgumentMap } from "./argument-map.ts";
import {
  ADDRESS_KEYS,
  PROGRAM_KEYS,
  readEndpoint,
  type ServerAddress,
  type ServerEndpoint,
} from "./server-endpoint.ts";

export interface WrittenServer {
  readonly name: string;
  readonly level: ConfigLevel;
  readonly endpoint: ServerEndpoint;
  /** What its sandbox, or the connection to its address, reaches: files and hosts. */
  readonly requires: readonly Grant[];
  /** By the name of the tool, as the server calls it. */
  readonly maps: ReadonlyMap<string, ArgumentMap>;
  readonly isEnabled: boolean;
  /** What it may ask for during a call, where the agent's grants allow it too. */
  readonly asks: ReadonlySet<ServerAskKind>;
  /** Its results do not mark a session as having read untrusted data. Only the user's own file can say so. */
  readonly isClean: boolean;
  readonly span: Span;
  /** Everything that is written about it but `enabled`, for comparison with a trusted version. */
  readonly written: Json;
}

export interface ServerFile {
  readonly servers: readonly WrittenServer[];
  readonly diagnostics: readonly Diagnostic[];
}

export type ServerAskKind = "elicitation" | "sampling";
export const SERVER_ASKS: readonly ServerAskKind[] = ["elicitation", "sampling"];

const serversMax = 128;
const toolsMax = 1_024;
export const serverNameCharactersMax = 32;

/** No `_`: in `server__tool` the first `__` ends the server's name. */
const NAME = /^[a-z][a-z0-9-]*$/;
export const SERVER_KEYS: readonly string[] = [
  ...PROGRAM_KEYS,
  ...ADDRESS_KEYS,
  "requires",
  "tools",
  "asks",
  "enabled",
  "clean",
];
/** Axes that a sandbox enforces. */
const REQUIRED_VERBS: readonly string[] = ["fs.read", "fs.write", "fs.delete", "net.connect"];

/** Why a text is no server's name; null where it is one. */
export function serverNameFault(name: string): string | null {
  if (name.length > serverNameCharactersMax) return `a server's name has at most ${serverNameCharactersMax} characters`;
  return NAME.test(name) ? null : "a server's name has lower-case letters, digits and -, and starts with a letter";
}

/** Two names that differ only in dashes are confusable. */
export function serverLikeness(name: string): string {
  return name.replaceAll("-", "");
}

/** INVARIANT: a server with an error in it is left out; one with an unknown key too, as that may be a misspelled limit. */
export function readServerFile(node: TreeNode, level: ConfigLevel, reading: Reading): ServerFile {
  const diagnostics = new Diagnostics();
  const servers: WrittenServer[] = [];
  for (const entry of serverEntries(node, diagnostics)) {
    const own = new Diagnostics();
    const server = readServer(entry, level, reading, own);
    const alike = servers.find(({ name }) => serverLikeness(name) === serverLikeness(entry.key));
    if (alike !== undefined)
      own.error(
        "bad_value",
        entry.keySpan,
        `${quoteText(entry.key)} looks like ${quoteText(alike.name)}: rename one of them`,
      );
    diagnostics.list.push(...own.list);
    if (server !== null && own.list.every(({ severity }) => severity !== "error")) servers.push(server);
  }
  return { servers, diagnostics: diagnostics.list };
}

function serverEntries(node: TreeNode, diagnostics: Diagnostics): readonly Entry[] {
  if (node.kind === "scalar" && node.value === null) return [];
  if (node.kind !== "map") {
    diagnostics.error("wrong_type", node.span, `this file is a map with the key \`servers\`, not ${kindName(node)}`, {
      fix: "servers: {}",
    });
    return [];
  }
  for (const { key, keySpan } of node.entries)
    if (key !== "servers")
      diagnostics.error("unknown_key", keySpan, `unknown key ${quoteText(key)}`, {
        suggestion: "servers",
        fix: "servers",
      });
  const value = entryOf(node, "servers")?.value;
  if (value === undefined || (value.kind === "scalar" && value.value === null)) return [];
  if (value.kind !== "map") {
    diagnostics.error("wrong_type", value.span, `\`servers\` is a map from names to servers, not ${kindName(value)}`, {
      fix: "servers: { docs: { command: [docs-server] } }",
    });
    return [];
  }
  if (value.entries.length <= serversMax) return value.entries;
  diagnostics.error("too_large", value.span, `there are more than ${serversMax} servers`);
  return [];
}

/** A name that could stand in its place. */
function usableName(name: string): string {
  const made = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^[^a-z]+|-+$/g, "");
  return made === "" || serverNameFault(made) !== null ? "docs" : made;
}

function readServer(
  entry: Entry,
  level: ConfigLevel,
  reading: Reading,
  diagnostics: Diagnostics,
): WrittenServer | null {
  const { key: name, keySpan, value } = entry;
  const fault = serverNameFault(name);
  if (fault !== null)
    diagnostics.error("bad_value", keySpan, `${quoteText(name)}: ${fault}`, { fix: usableName(name) });
  if (value.kind !== "map") {
    diagnostics.error("wrong_type", value.span, `a server is a map, not ${kindName(value)}`, {
      fix: `${name}: { command: [program, argument] }`,
    });
    return null;
  }
  checkKeys(value, diagnostics);
  const at = (key: string): Entry | null => entryOf(value, key);
  const read = <T>(key: string, otherwise: T, reader: (found: Entry) => T | null): T => {
    const found = at(key);
    return found === null ? otherwise : (reader(found) ?? otherwise);
  };
  const endpoint = readEndpoint(value, { name, span: keySpan, level }, reading, diagnostics);
  const clean = at("clean");
  if (clean !== null && level === "project")
    diagnostics.error("unknown_key", clean.keySpan, "`clean` is a setting of the user, not of a project", {
      fix: "write the server in your own mcp.yml: ambit mcp add --user",
    });
  const verbs = endpoint?.kind === "http" ? ["net.connect"] : REQUIRED_VERBS;
  const server = {
    requires: [
      ...(endpoint?.kind === "http" ? ownHost(endpoint, reading, keySpan) : []),
      ...read<readonly Grant[]>("requires", [], (found) => readRequires(found, verbs, reading, diagnostics)),
    ],
    maps: read<WrittenServer["maps"]>("tools", new Map(), (found) => readMaps(found, diagnostics)),
    asks: read<WrittenServer["asks"]>("asks", new Set(), (found) => readAsks(found, diagnostics)),
    isEnabled: read("enabled", true, (found) => flagOf(found, diagnostics, false)),
    isClean: read("clean", false, (found) => flagOf(found, diagnostics, false)),
  };
  if (endpoint === null) return null;
  const compared = value.entries.filter(({ key }) => key !== "enabled");
  return { name, level, endpoint, ...server, span: keySpan, written: plainValue({ ...value, entries: compared }) };
}

function checkKeys(node: Mapping, diagnostics: Diagnostics): void {
  for (const { key, keySpan } of node.entries) {
    if (SERVER_KEYS.includes(key)) continue;
    const suggestion = MEANT.get(key) ?? nearestName(key, SERVER_KEYS);
    diagnostics.error("unknown_key", keySpan, `unknown key ${quoteText(key)}`, { suggestion, fix: suggestion });
  }
}

/** Words of clients' own configurations for the same. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ["args", "command"],
  ["cmd", "command"],
  ["environment", "env"],
  ["http", "url"],
  ["header", "headers"],
  ["capabilities", "requires"],
  ["disabled", "enabled"],
]);

/** The host and the port of the address, and no other. */
function ownHost({ url: { host, port } }: ServerAddress, reading: Reading, span: Span): readonly Grant[] {
  const text = `net.connect{hosts=["${destinationText(host)}"],ports=[${port}]}`;
  const grant = readCompact(text, { reading, diagnostics: new Diagnostics(), span, root: null });
  return grant === null ? [] : [grant];
}

function readRequires(
  { value }: Entry,
  verbs: readonly string[],
  reading: Reading,
  diagnostics: Diagnostics,
): readonly Grant[] | null {
  if (value.kind !== "list") {
    diagnostics.error("wrong_type", value.span, `\`requires\` must be a list, not ${kindName(value)}`, {
      fix: "requires: [fs.read: { in: docs }]",
    });
    return null;
  }
  const { grants } = readCapabilityList(value, { reading, diagnostics, root: reading.pathSettings.base });
  for (const { verb, span, conditions } of grants) {
    const at = span ?? value.span;
    if (!verbs.includes(verb.verb))
      diagnostics.error(
        "bad_value",
        at,
        verbs.length === 1
          ? `a server with a \`url\` can have only ${verbs.join(", ")}, not \`${verb.verb}\``
          : `a server's sandbox cannot provide \`${verb.verb}\`; it provides ${verbs.join(", ")}`,
        {
          fix: verb.verb.startsWith("net.") ? "net.connect{hosts=[api.example.com],ports=[443]}" : null,
        },
      );
    if (conditions.ask !== 0 || conditions.calls !== null || conditions.rate !== null)
      diagnostics.error(
        "bad_value",
        at,
        "a server runs for many calls: `ask`, `calls` and `rate` belong in the agent's `tool.invoke`",
      );
  }
  return grants;
}

function readAsks(entry: Entry, diagnostics: Diagnostics): WrittenServer["asks"] | null {
  const kinds = readEach(entry, diagnostics, (text) => {
    const kind = SERVER_ASKS.find((one) => one === text);
    return kind === undefined
      ? refuse("bad_value", `a server asks for ${SERVER_ASKS.join(" or ")}, not ${quoteText(text)}`, "elicitation")
      : done([kind]);
  });
  return kinds === null ? null : new Set(kinds);
}

function readMaps({ value }: Entry, diagnostics: Diagnostics): WrittenServer["maps"] | null {
  if (value.kind !== "map" || value.entries.length > toolsMax) {
    diagnostics.error("wrong_type", value.span, `\`tools\` is a map from at most ${toolsMax} tools to argument maps`, {
      fix: "tools: { read_file: { fs.read: $.path } }",
    });
    return null;
  }
  const maps = new Map<string, ArgumentMap>();
  for (const { key, value: written } of value.entries) {
    const map = readArgumentMap(written, diagnostics);
    if (map !== null) maps.set(key, map);
  }
  return maps;
}

/** For a person: what the sandbox reaches, the most consequential first. */
export function requiredRisk(grants: readonly Grant[]): "high" | "medium" | "low" {
  const risks = grants.map(({ verb }) => verbEntry(verb.verb)?.risk ?? "high");
  return risks.includes("high") ? "high" : risks.includes("medium") ? "medium" : "low";
}
