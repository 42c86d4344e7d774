// `mcp.yml`: the MCP servers of a project or of a user. What each may reach is written in `requires`, by the same words as
// the capabilities of an agent; what is not written, its sandbox does not have.
import { verbEntry } from "../../authority/catalog.ts";
import type { Grant, Span } from "../../authority/grant.ts";
import type { Json } from "../../base/json.ts";
import type { ConfigLevel } from "../config/config-keys.ts";
import { type Diagnostic, Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoted } from "../quoted.ts";
import type { Reading } from "../reading.ts";
import { readCapabilityList } from "../record/capabilities.ts";
import { readRoot } from "../record/hoist.ts";
import { flagOf, kindName, refused, textsOf } from "../scope/scope-values.ts";
import { type Entry, entryOf, type Mapping, plainValue, type TreeNode } from "../tree.ts";
import { type ArgumentMap, readArgumentMap } from "./argument-map.ts";

export interface WrittenServer {
  readonly name: string;
  readonly level: ConfigLevel;
  /** The program and its arguments. Nothing in it is read by a shell. */
  readonly command: readonly [string, ...string[]];
  /** What its sandbox reaches: files and hosts. */
  readonly requires: readonly Grant[];
  /** Folders of programs and libraries that it sees, read-only. */
  readonly runtime: readonly (readonly string[])[];
  /** Added to an environment that is otherwise ambit's own. */
  readonly environment: readonly (readonly [name: string, value: string])[];
  /** By the name of the tool, as the server calls it. */
  readonly maps: ReadonlyMap<string, ArgumentMap>;
  readonly isEnabled: boolean;
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

const serversMax = 128;
const wordsMax = 256;
const wordCharactersMax = 4_096;
const variablesMax = 64;
const toolsMax = 1_024;
export const serverNameCharactersMax = 32;

/** No `_`: in `server__tool` the first `__` ends the server's name. */
const NAME = /^[a-z][a-z0-9-]*$/;
const KEYS: readonly string[] = ["command", "requires", "runtime", "env", "tools", "enabled", "clean"];
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
        `${quoted(entry.key)} reads like ${quoted(alike.name)}: rename one of them`,
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
      diagnostics.error("unknown_key", keySpan, `unknown key ${quoted(key)}`, {
        suggestion: "servers",
        fix: "servers:",
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

function readServer(
  entry: Entry,
  level: ConfigLevel,
  reading: Reading,
  diagnostics: Diagnostics,
): WrittenServer | null {
  const { key: name, keySpan, value } = entry;
  const fault = serverNameFault(name);
  if (fault !== null) diagnostics.error("bad_value", keySpan, `${quoted(name)}: ${fault}`, { fix: "docs:" });
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
  const command = readCommand(at("command"), keySpan, name, diagnostics);
  const clean = at("clean");
  if (clean !== null && level === "project")
    diagnostics.error("unknown_key", clean.keySpan, "`clean` is the user's to say, never a project's", {
      fix: "write the server in your own mcp.yml",
    });
  const server = {
    requires: read<readonly Grant[]>("requires", [], (found) => readRequires(found, reading, diagnostics)),
    runtime: read<WrittenServer["runtime"]>("runtime", [], (found) => readRuntime(found, level, reading, diagnostics)),
    environment: read<WrittenServer["environment"]>("env", [], (found) => readVariables(found, diagnostics)),
    maps: read<WrittenServer["maps"]>("tools", new Map(), (found) => readMaps(found, diagnostics)),
    isEnabled: read("enabled", true, (found) => flagOf(found, diagnostics)),
    isClean: read("clean", false, (found) => flagOf(found, diagnostics)),
  };
  if (command === null) return null;
  const compared = value.entries.filter(({ key }) => key !== "enabled");
  return { name, level, command, ...server, span: keySpan, written: plainValue({ ...value, entries: compared }) };
}

function checkKeys(node: Mapping, diagnostics: Diagnostics): void {
  for (const { key, keySpan } of node.entries) {
    if (KEYS.includes(key)) continue;
    const suggestion = MEANT.get(key) ?? nearestName(key, KEYS);
    diagnostics.error("unknown_key", keySpan, `unknown key ${quoted(key)}`, { suggestion, fix: suggestion });
  }
}

/** Words of clients' own configurations for the same. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ["args", "command"],
  ["cmd", "command"],
  ["environment", "env"],
  ["capabilities", "requires"],
  ["disabled", "enabled"],
]);

function readCommand(
  entry: Entry | null,
  span: Span,
  name: string,
  diagnostics: Diagnostics,
): WrittenServer["command"] | null {
  const fix = { fix: "command: [program, argument]" };
  if (entry === null) {
    diagnostics.error("missing_field", span, `${quoted(name)} does not say how it is started`, fix);
    return null;
  }
  const words = textsOf(entry, diagnostics);
  if (words === null) return null;
  const [program, ...rest] = words.map(({ text }) => text);
  const wrong = words.find(({ text }) => text.includes("\0") || text.length > wordCharactersMax);
  if (program === undefined || program === "" || words.length > wordsMax || wrong !== undefined) {
    const message = `a command has 1 to ${wordsMax} words of at most ${wordCharactersMax} characters, the program first`;
    diagnostics.error("bad_value", wrong?.span ?? entry.value.span, message, fix);
    return null;
  }
  return [program, ...rest];
}

function readRequires({ value }: Entry, reading: Reading, diagnostics: Diagnostics): readonly Grant[] | null {
  if (value.kind !== "list") {
    diagnostics.error("wrong_type", value.span, `\`requires\` must be a list, not ${kindName(value)}`, {
      fix: "requires: [fs.read: { in: docs }]",
    });
    return null;
  }
  const { grants } = readCapabilityList(value, { reading, diagnostics, root: reading.pathSettings.base });
  for (const { verb, span, conditions } of grants) {
    const at = span ?? value.span;
    if (!REQUIRED_VERBS.includes(verb.verb))
      diagnostics.error(
        "bad_value",
        at,
        `a server's sandbox cannot give \`${verb.verb}\`; it gives ${REQUIRED_VERBS.join(", ")}`,
        {
          fix: verb.verb.startsWith("net.") ? "net.connect: { hosts: [api.example.com], ports: [443] }" : null,
        },
      );
    if (conditions.ask !== 0 || conditions.calls !== null || conditions.rate !== null)
      diagnostics.error(
        "bad_value",
        at,
        "a server runs for many calls: `ask`, `calls` and `rate` belong into the agent's `tool.invoke`",
      );
  }
  return grants;
}

/** A project's server sees programs of the project; others are the user's to show. */
function readRuntime(
  entry: Entry,
  level: ConfigLevel,
  reading: Reading,
  diagnostics: Diagnostics,
): WrittenServer["runtime"] | null {
  const { ceiling } = reading;
  return (textsOf(entry, diagnostics) ?? []).flatMap(({ text, span }) => {
    const root = readRoot(text, reading);
    if (!root.ok) refused(root, span, diagnostics);
    else if (level === "project" && ceiling?.every((name, at) => root.value[at] === name) !== true)
      diagnostics.error("escapes_root", span, `${quoted(text)} is outside the project`, {
        fix: "write the server in your own mcp.yml",
      });
    else return [root.value];
    return [];
  });
}

/** They would change the programs of the sandbox itself, or what its own variables say. */
const REFUSED_VARIABLES =
  /^(?:LD_|DYLD_|GLIBC_|GCONV_|MALLOC_|AMBIT_|BWRAP_|(?:PATH|HOME|TMPDIR|USER|LOGNAME|SHELL|ENV|BASH_ENV|IFS)$)/;

function readVariables({ value }: Entry, diagnostics: Diagnostics): WrittenServer["environment"] | null {
  if (value.kind !== "map" || value.entries.length > variablesMax) {
    const message =
      value.kind === "map"
        ? `\`env\` has at most ${variablesMax} variables`
        : `\`env\` is a map from variables to texts, not ${kindName(value)}`;
    diagnostics.error(value.kind === "map" ? "too_large" : "wrong_type", value.span, message, {
      fix: 'env: { LOG_LEVEL: "debug" }',
    });
    return null;
  }
  return value.entries.flatMap(({ key, keySpan, value: written }) => {
    const text = written.kind === "scalar" && typeof written.value === "string" ? written.value : null;
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(key) || REFUSED_VARIABLES.test(key))
      diagnostics.error("bad_value", keySpan, `${quoted(key)} is set by the sandbox, or is no name of a variable`);
    else if (text === null || text.includes("\0") || text.length > wordCharactersMax)
      diagnostics.error(
        "wrong_type",
        written.span,
        `the value of ${key} is text of at most ${wordCharactersMax} characters`,
        {
          fix: `${key}: "value"`,
        },
      );
    else return [[key, text] as const];
    return [];
  });
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
