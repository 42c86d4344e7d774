// The user's and a project's config.yml: the outermost root, org tables, and what only the user may say.
import type { Grant } from "../../authority/grant.ts";
import { type Diagnostic, Diagnostics } from "../diagnostic.ts";
import { grantOf } from "../grants.ts";
import { parseInstant } from "../instant.ts";
import { NO_PLACES, type PolicyPlaces } from "../policy/outer-policies.ts";
import { type PolicyTable, readPolicyTable, rulingPlaces } from "../policy/policy-table.ts";
import type { Reading } from "../reading.ts";
import { readCapabilityList } from "../record/capabilities.ts";
import { readRoot } from "../record/hoist.ts";
import { flagOf, kindName, reportRefusal, type Text, textOf, textsOf } from "../scope/scope-values.ts";
import { type Entry, entryOf, type Mapping, type TreeNode } from "../tree.ts";
import { readAudit, type WrittenAudit } from "./audit-setting.ts";
import { type ConfigKey, type ConfigLevel, checkConfigKeys } from "./config-keys.ts";
import { type LandSetting, readLand } from "./land-setting.ts";
import { readModels, type WrittenModel } from "./model-setting.ts";
import { readOauth, type WrittenOauth } from "./oauth-setting.ts";
import {
  readEnvironmentNames,
  readLimits,
  readNotify,
  readPrograms,
  readResolvers,
  readSecrets,
  readTerminal,
  type TerminalPass,
  type WrittenLimits,
  type WrittenPrograms,
  type WrittenSecret,
} from "./run-settings.ts";
import { readSearch, type WrittenSearch } from "./search-setting.ts";
import { readTriggers, type WrittenTriggers } from "./trigger-setting.ts";

export interface Config {
  readonly level: ConfigLevel;
  /** The root nothing of this level leaves. */
  readonly sandbox: readonly string[] | null;
  /** The org's defaults. */
  readonly policy: PolicyTable | null;
  readonly agents: ReadonlyMap<string, PolicyTable>;
  /** Where both are written. */
  readonly places: PolicyPlaces;
  /** Folders every sandbox sees, read-only, beside the agent's root. */
  readonly runtime: readonly (readonly string[])[];
  /** npm packages of the workspace that are loaded as tools, each in a host of its own. */
  readonly tools: readonly string[];
  /** Workspaces whose tools are loaded as they stand, without being trusted again. The user's to say. */
  readonly development: readonly (readonly string[])[];
  /** Folders that a client's search path has besides known toolchains, and those it does not have. */
  readonly programs: WrittenPrograms;
  /** What widening and approving need. The user's to say. */
  readonly control: "ask" | "presence";
  readonly mode: "enforce" | "shadow";
  /** With `mode: shadow`: the end of the shadow mode of each agent, in milliseconds since 1970. The user's to say. */
  readonly shadow: ReadonlyMap<string, number>;
  /** Whether sessions are opened only for users that have a record. */
  readonly users: "optional" | "required";
  /** `ask`: what programs of any agent write waits for a person. */
  readonly land: LandSetting;
  /** Without a sandbox where the machine has none. The user's to say. */
  readonly bare: boolean;
  /** `required`: no program runs where a sandbox would have to do without namespaces. The user's to say. */
  readonly namespaces: "preferred" | "required";
  /** Whether the log has the prompts that are sent to models. The user's to say. */
  readonly prompts: "discard" | "keep";
  /** Variables of the user's environment that programs may see. The user's to say, like all that follows. */
  readonly environment: readonly string[];
  readonly limits: WrittenLimits;
  /** Who resolves names; the system where nothing is written. */
  readonly resolvers: readonly string[];
  /** Files of certificate authorities that git's hosts are trusted by, beside the system's. */
  readonly certificates: readonly (readonly string[])[];
  /** A program and its first arguments, run when a request is waiting for approval; by default none. */
  readonly notify: readonly string[];
  /** What the output of programs may do to the user's terminal besides drawing. */
  readonly terminal: readonly TerminalPass[];
  readonly secrets: readonly WrittenSecret[];
  /** Model providers that are asked elsewhere than at their own address. */
  readonly models: readonly WrittenModel[];
  /** The web search provider for agents; by default none. */
  readonly search: WrittenSearch | null;
  /** Where a second copy of the log is kept; nowhere where nothing is written. */
  readonly audit: WrittenAudit | null;
  /** Whose access tokens clients over HTTP may present; by default none. The user's to say. */
  readonly oauth: WrittenOauth | null;
  /** What no agent exceeds, whatever its record says; null is no such limit. The user's to say. */
  readonly ceiling: readonly Grant[] | null;
  /** Names that never land, land by ask or land freely, beside those that are built in; a project's are only stricter. */
  readonly triggers: WrittenTriggers;
  readonly diagnostics: readonly Diagnostic[];
  /** INVARIANT: with any error nothing of the level can be relied on, so nothing below it may be granted. */
  readonly broken: boolean;
}

/** A text that is no YAML at all is a broken config too: `diagnostics` say why there is no tree. */
export function configRefused(level: ConfigLevel, diagnostics: readonly Diagnostic[]): Config {
  return { ...EMPTY, level, diagnostics, broken: true };
}

/** So is a file that is there and cannot be read: what it limits is not known. */
export function configUnreadable(level: ConfigLevel, name: string, message: string): Config {
  const diagnostics = new Diagnostics();
  diagnostics.error("not_understood", { source: name, start: 0, end: 0 }, `${name} ${message}`);
  return configRefused(level, diagnostics.list);
}

export function readConfig(node: TreeNode, level: ConfigLevel, reading: Reading): Config {
  const diagnostics = new Diagnostics();
  const config = readMap(node, level, { ...reading, ceiling: null }, diagnostics);
  const broken = diagnostics.list.some(({ severity }) => severity === "error");
  return { ...config, diagnostics: diagnostics.list, broken };
}

const EMPTY: Config = {
  level: "project",
  sandbox: null,
  policy: null,
  agents: new Map(),
  places: NO_PLACES,
  runtime: [],
  tools: [],
  development: [],
  programs: { add: [], remove: [] },
  control: "ask",
  mode: "enforce",
  shadow: new Map(),
  users: "optional",
  land: "auto",
  bare: false,
  namespaces: "preferred",
  prompts: "discard",
  environment: [],
  limits: {},
  resolvers: [],
  certificates: [],
  notify: [],
  terminal: [],
  secrets: [],
  models: [],
  search: null,
  audit: null,
  oauth: null,
  ceiling: null,
  triggers: { rules: [] },
  diagnostics: [],
  broken: false,
};

function readMap(node: TreeNode, level: ConfigLevel, reading: Reading, diagnostics: Diagnostics): Config {
  if (node.kind === "scalar" && node.value === null) return { ...EMPTY, level };
  if (node.kind !== "map") {
    diagnostics.error("wrong_type", node.span, `a configuration is a map, not ${kindName(node)}`, {
      fix: "sandbox: ~/work",
    });
    return { ...EMPTY, level };
  }
  checkConfigKeys(node, level, diagnostics);
  const at = (key: ConfigKey): Entry | null => entryOf(node, key);
  const read = <T>(key: ConfigKey, otherwise: T, reader: (entry: Entry) => T | null): T => {
    const entry = at(key);
    return entry === null ? otherwise : (reader(entry) ?? otherwise);
  };
  const text = (entry: Entry): Text | null => textOf(entry, diagnostics);
  const paths = (key: ConfigKey): readonly (readonly string[])[] =>
    read<readonly (readonly string[])[]>(key, [], (entry) =>
      (textsOf(entry, diagnostics) ?? []).flatMap((one) => {
        const root = rootOf(one, reading, diagnostics);
        return root === null ? [] : [root];
      }),
    );
  const sandbox = read<readonly string[] | null>("sandbox", null, (entry) => rootOf(text(entry), reading, diagnostics));
  return {
    ...EMPTY,
    level,
    sandbox,
    policy: read<PolicyTable | null>("policy", null, (entry) => readPolicyTable(entry.value, diagnostics)),
    agents: read("agents", EMPTY.agents, (entry) => readAgents(entry, diagnostics)),
    places: placesOf(at("policy"), at("agents")),
    runtime: paths("runtime"),
    tools: read("tools", EMPTY.tools, (entry) => textsOf(entry, diagnostics)?.map(({ text: one }) => one) ?? null),
    development: paths("development"),
    programs: read("programs", EMPTY.programs, (entry) =>
      readPrograms(entry, (one) => rootOf(one, reading, diagnostics), diagnostics),
    ),
    control: read("control", EMPTY.control, (entry) => wordOf(entry, ["ask", "presence"], diagnostics)),
    mode: read("mode", EMPTY.mode, (entry) => wordOf(entry, ["enforce", "shadow"], diagnostics)),
    shadow: level === "user" ? read("shadow", EMPTY.shadow, (entry) => readShadow(entry, diagnostics)) : EMPTY.shadow,
    users: read("users", EMPTY.users, (entry) => wordOf(entry, ["required", "optional"], diagnostics)),
    land: read("land", EMPTY.land, (entry) => readLand(entry, diagnostics)),
    bare: read("bare", EMPTY.bare, (entry) => flagOf(entry, diagnostics, false)),
    namespaces: read("namespaces", EMPTY.namespaces, (entry) => wordOf(entry, ["preferred", "required"], diagnostics)),
    prompts: read("prompts", EMPTY.prompts, (entry) => wordOf(entry, ["discard", "keep"], diagnostics)),
    environment: read("environment", EMPTY.environment, (entry) => readEnvironmentNames(entry, diagnostics)),
    limits: read("limits", EMPTY.limits, (entry) => readLimits(entry, diagnostics)),
    resolvers: read("resolver", EMPTY.resolvers, (entry) => readResolvers(entry, diagnostics)),
    certificates: paths("certificates"),
    notify: read("notify", EMPTY.notify, (entry) => readNotify(entry, diagnostics)),
    terminal: read("terminal", EMPTY.terminal, (entry) => readTerminal(entry, diagnostics)),
    secrets: read("secrets", EMPTY.secrets, (entry) => readSecrets(entry, diagnostics)),
    models: read("models", EMPTY.models, (entry) => readModels(entry, reading.toAscii, diagnostics)),
    search: read<WrittenSearch | null>("search", null, (entry) => readSearch(entry, reading.toAscii, diagnostics)),
    audit:
      level === "user"
        ? read<WrittenAudit | null>("audit", null, (entry) => readAudit(entry, reading, diagnostics))
        : null,
    oauth:
      level === "user"
        ? read<WrittenOauth | null>("oauth", null, (entry) => readOauth(entry, reading, diagnostics))
        : null,
    triggers: read("triggers", EMPTY.triggers, (entry) => readTriggers(entry, level, diagnostics)),
    ceiling: level === "user" ? readCeiling(node, sandbox, reading, diagnostics) : null,
  };
}

function rootOf(written: Text | null, reading: Reading, diagnostics: Diagnostics): readonly string[] | null {
  if (written === null) return null;
  const root = readRoot(written.text, reading);
  if (root.ok) return root.value;
  reportRefusal(root, written.span, diagnostics);
  return null;
}

function wordOf<T extends string>({ key, value }: Entry, words: readonly T[], diagnostics: Diagnostics): T | null {
  const written = value.kind === "scalar" ? value.value : null;
  const word = words.find((one) => one === written);
  if (word !== undefined) return word;
  diagnostics.error("bad_value", value.span, `\`${key}\` is ${words.join(" or ")}`, { fix: `${key}: ${words[0]}` });
  return null;
}

/** Each agent with an end: shadow mode is never forgotten. */
function readShadow({ value }: Entry, diagnostics: Diagnostics): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  const fix = "shadow: { coder: 2026-12-01T00:00:00Z }";
  if (value.kind !== "map") {
    diagnostics.error(
      "wrong_type",
      value.span,
      `\`shadow\` is a map from agents to end times, not ${kindName(value)}`,
      {
        fix,
      },
    );
    return ends;
  }
  for (const { key, value: written } of value.entries) {
    const end = written.kind === "scalar" && typeof written.value === "string" ? parseInstant(written.value) : null;
    if (end === null)
      diagnostics.error("bad_value", written.span, "the end of shadow mode is a time with a time zone", { fix });
    else ends.set(key, end);
  }
  return ends;
}

function readAgents({ value }: Entry, diagnostics: Diagnostics): ReadonlyMap<string, PolicyTable> {
  const tables = new Map<string, PolicyTable>();
  if (value.kind !== "map") {
    diagnostics.error("wrong_type", value.span, `\`agents\` is a map from agents to policies, not ${kindName(value)}`, {
      fix: "agents: { scout: { web: ask } }",
    });
    return tables;
  }
  for (const { key, value: written } of value.entries) {
    const table = readPolicyTable(written, diagnostics);
    if (table !== null) tables.set(key, table);
  }
  return tables;
}

function placesOf(org: Entry | null, agents: Entry | null): PolicyPlaces {
  const tables = agents?.value.kind === "map" ? agents.value.entries : [];
  return {
    org: rulingPlaces(org?.value),
    agents: new Map(tables.map(({ key, value }) => [key, rulingPlaces(value)])),
  };
}

/** A ceiling that never speaks of tools is none for them: which tools there are is not what it was written about. */
function readCeiling(
  node: Mapping,
  root: readonly string[] | null,
  reading: Reading,
  diagnostics: Diagnostics,
): readonly Grant[] | null {
  const [entry, second] = [entryOf(node, "ceiling"), entryOf(node, "capabilities")].filter((one) => one !== null);
  if (entry === undefined) return null;
  if (second !== undefined)
    diagnostics.error("unknown_key", second.keySpan, "`capabilities` is an alias of `ceiling`: use only one of them");
  const list = readCapabilityList(entry.value, { reading, diagnostics, root });
  if (list.mentioned === null || list.mentioned.has("tool.invoke")) return list.grants;
  return [...list.grants, grantOf("tool.invoke", {}, { span: entry.keySpan, implied: "default" })];
}
