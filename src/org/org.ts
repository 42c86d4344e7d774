// An org: its agents, who reports to whom, what each may do and where that is written, and what starts work.
import type { Span } from "../core/authority/grant.ts";
import { foldAgentId, idOfRole, parseAgentId } from "../core/base/agent-id.ts";
import type { Diagnostic } from "../core/notation/diagnostic.ts";
import { Diagnostics } from "../core/notation/diagnostic.ts";
import { nearestName } from "../core/notation/nearest.ts";
import {
  BASE_POLICY,
  CAPABILITIES,
  type Capability,
  type PolicyTable,
  placesOfRulings,
  type Ruling,
  type RulingPlaces,
  readRulings,
} from "../core/notation/policy/policy-table.ts";
import { quoteText } from "../core/notation/quote-text.ts";
import { kindName } from "../core/notation/scope/scope-values.ts";
import { type Entry, entryOf, type Mapping, type TreeNode } from "../core/notation/tree.ts";
import { type Budget, type OwnedBudget, readBudget, readTeamBudget } from "./budget.ts";
import { checkKeys, mapIn, type PlacedText, textIn } from "./org-fields.ts";
import { ORG_KEYS } from "./org-line.ts";
import type { OrgTree } from "./org-markdown.ts";
import { checkTriggers, type OrgTrigger, readTrigger } from "./org-trigger.ts";

export const orgAgentsMax = 500;
const orgTriggersMax = 100;
const ownCapabilitiesMax = 64;

/** The rulings of one table, and where each is written. */
export interface Rulings {
  readonly table: PolicyTable<string>;
  readonly places: RulingPlaces<string>;
}

const NO_RULINGS: Rulings = { table: new Map(), places: new Map() };

/** A capability that the org file defines: what it grants, and tools of clients that it stands for. */
export interface OwnCapability {
  readonly name: string;
  readonly grants: TreeNode | null;
  readonly tools: readonly string[];
  readonly span: Span;
}

/** A name in requests for the client's tools of a capability. INVARIANT: no tool has it, since names of tools have no slash. */
export function capabilityTool(capability: string): string {
  return `capability/${capability}`;
}

export interface OrgAgent {
  readonly id: string;
  readonly role: string;
  readonly span: Span;
  /** The id of the agent it reports to; null at the top of the tree. */
  readonly reportsTo: string | null;
  readonly client: PlacedText | null;
  readonly model: PlacedText | null;
  /** Its working folder, relative to the workspace. */
  readonly folder: Entry | null;
  readonly budget: Budget | null;
  /** Of the agent and everyone below it. */
  readonly teamBudget: Budget | null;
  readonly rulings: Rulings;
  readonly prompt: string;
  readonly diagnostics: readonly Diagnostic[];
}

export interface Org {
  readonly name: string;
  readonly description: string;
  readonly mission: string;
  readonly budget: Budget | null;
  readonly defaults: {
    readonly rulings: Rulings;
    readonly client: PlacedText | null;
    readonly model: PlacedText | null;
  };
  readonly capabilities: ReadonlyMap<string, OwnCapability>;
  readonly agents: readonly OrgAgent[];
  readonly triggers: readonly OrgTrigger[];
  /** Of the file as a whole. INVARIANT: with an error among them no agent of the file grants anything. */
  readonly diagnostics: readonly Diagnostic[];
}

const TOP_KEYS = [...ORG_KEYS.org, "mission", "agents", "triggers", "notes"];
const DEFAULT_KEYS = ["capabilities", "provider", "client", "model"];
const AGENT_KEYS = [...ORG_KEYS.agent.filter((key) => key !== "id"), "role", "prompt"];

export function readOrg({ tree, diagnostics: found }: OrgTree): Org {
  const diagnostics = new Diagnostics();
  for (const one of found) diagnostics.list.push(one);
  checkKeys(tree, TOP_KEYS, "an org file", diagnostics);
  const capabilities = readOwnCapabilities(entryOf(tree, "capabilities"), diagnostics);
  const names: readonly string[] = [...CAPABILITIES, ...capabilities.keys()];
  const defaults = mapIn(tree, "defaults", diagnostics);
  if (defaults !== null) checkKeys(defaults, DEFAULT_KEYS, "`defaults`", diagnostics);
  const entries = mapIn(tree, "agents", diagnostics)?.entries ?? [];
  if (entries.length > orgAgentsMax)
    diagnostics.error("too_large", tree.span, `an org file has at most ${orgAgentsMax} agents`);
  const ids = entries.map(({ key }) => key);
  const folds = new Map<string, string[]>();
  for (const id of ids) folds.set(foldAgentId(id), [...(folds.get(foldAgentId(id)) ?? []), id]);
  const agents = entries.slice(0, orgAgentsMax).map((entry) => readOrgAgent(entry, ids, entries, names, folds));
  const starts = mapIn(tree, "triggers", diagnostics)?.entries ?? [];
  if (starts.length > orgTriggersMax)
    diagnostics.error("too_large", tree.span, `an org file has at most ${orgTriggersMax} triggers`);
  const triggers = starts.slice(0, orgTriggersMax).flatMap((entry) => readTrigger(entry, ids, diagnostics) ?? []);
  checkTriggers(triggers, diagnostics);
  const budget = entryOf(tree, "budget");
  return {
    name: textIn(tree, "name", diagnostics)?.text ?? "",
    description: textIn(tree, "description", diagnostics)?.text ?? "",
    mission: textIn(tree, "mission", diagnostics)?.text ?? "",
    budget: budget === null ? null : readBudget(budget, diagnostics),
    defaults: {
      rulings: defaults === null ? NO_RULINGS : rulingsIn(defaults, names, diagnostics),
      ...(defaults === null ? { client: null, model: null } : clientIn(defaults, diagnostics)),
    },
    capabilities,
    agents: withoutCycles(agents),
    triggers,
    diagnostics: diagnostics.list,
  };
}

/**
 * An agent of the file, or of a record that has the same keys under `org`. `ids`: whom it may report to; `folds`: the same by
 * how they read.
 */
export function readOrgAgent(
  { key: id, keySpan, value }: Entry,
  ids: readonly string[],
  peers: readonly Entry[],
  names: readonly string[],
  folds: ReadonlyMap<string, readonly string[]>,
): OrgAgent {
  const diagnostics = new Diagnostics();
  const valid = parseAgentId(id);
  if (!valid.ok) diagnostics.error("bad_value", keySpan, valid.message);
  const alike = folds.get(foldAgentId(id))?.find((other) => other !== id);
  if (alike !== undefined) diagnostics.error("bad_value", keySpan, `${quoteText(id)} looks like ${quoteText(alike)}`);
  if (value.kind !== "map")
    diagnostics.error("wrong_type", value.span, `an agent is a map, not ${kindName(value)}`, { fix: `${id}: {}` });
  const map: Mapping = value.kind === "map" ? value : { kind: "map", entries: [], span: value.span };
  checkKeys(map, AGENT_KEYS, `the agent ${quoteText(id)}`, diagnostics);
  const budget = entryOf(map, "budget");
  return {
    id,
    role: textIn(map, "role", diagnostics)?.text ?? textIn(map, "name", diagnostics)?.text ?? id,
    span: keySpan,
    reportsTo: superiorIn(map, id, ids, peers, diagnostics),
    ...clientIn(map, diagnostics),
    folder: entryOf(map, "folder"),
    budget: budget === null ? null : readBudget(budget, diagnostics),
    teamBudget: budget === null ? null : readTeamBudget(budget, diagnostics),
    rulings: rulingsIn(map, names, diagnostics),
    prompt: textIn(map, "prompt", diagnostics)?.text ?? "",
    diagnostics: diagnostics.list,
  };
}

/** By its id, or by its role as it is written in the heading. */
function superiorIn(
  map: Mapping,
  id: string,
  ids: readonly string[],
  peers: readonly Entry[],
  diagnostics: Diagnostics,
): string | null {
  const written = textIn(map, "reportsTo", diagnostics);
  if (written === null) return null;
  const roleOf = ({ value }: Entry): string | null => {
    const role = value.kind === "map" ? entryOf(value, "role")?.value : undefined;
    return role?.kind === "scalar" && typeof role.value === "string" ? role.value : null;
  };
  const wanted = idOfRole(written.text);
  const found =
    ids.find((one) => one === written.text) ??
    peers.find((peer) => roleOf(peer) === written.text)?.key ??
    ids.find((one) => idOfRole(one) === wanted) ??
    null;
  if (found === null)
    diagnostics.error("bad_value", written.span, `there is no agent ${quoteText(written.text)} to report to`, {
      suggestion: nearestName(wanted, ids),
    });
  else if (found === id) diagnostics.error("bad_value", written.span, `${quoteText(id)} cannot report to itself`);
  return found === id ? null : found;
}

/** Agents that report to each other in a circle have no top: each of them is refused. */
function withoutCycles(agents: readonly OrgAgent[]): readonly OrgAgent[] {
  const superiors = new Map(agents.map(({ id, reportsTo }) => [id, reportsTo]));
  return agents.map((agent) => {
    let above = agent.reportsTo;
    for (let step = 0; above !== null && above !== agent.id && step <= agents.length; step++)
      above = superiors.get(above) ?? null;
    if (above !== agent.id) return agent;
    const diagnostics = new Diagnostics();
    diagnostics.error("bad_value", agent.span, `${quoteText(agent.id)} reports to itself through its managers`);
    return { ...agent, reportsTo: null, diagnostics: [...agent.diagnostics, ...diagnostics.list] };
  });
}

/** `client` and `model`, or the same as `provider: { type, model }`. */
function clientIn(map: Mapping, diagnostics: Diagnostics): Pick<OrgAgent, "client" | "model"> {
  const provider = mapIn(map, "provider", diagnostics);
  const client =
    textIn(map, "client", diagnostics) ?? (provider === null ? null : textIn(provider, "type", diagnostics));
  const model =
    textIn(map, "model", diagnostics) ?? (provider === null ? null : textIn(provider, "model", diagnostics));
  if (client !== null && !/^[A-Za-z0-9_][A-Za-z0-9._+-]{0,99}$/.test(client.text))
    diagnostics.error("bad_value", client.span, "`client` is the name of a program on PATH", { fix: "client: claude" });
  if (model !== null && (model.text === "" || /[*\s]/.test(model.text)))
    diagnostics.error("bad_value", model.span, "`model` is the name of one model; without it the client chooses");
  return { client, model };
}

function rulingsIn(map: Mapping, names: readonly string[], diagnostics: Diagnostics): Rulings {
  const entry = entryOf(map, "capabilities");
  if (entry === null) return NO_RULINGS;
  const table = readRulings(entry.value, names, diagnostics);
  return table === null ? NO_RULINGS : { table, places: placesOfRulings(entry.value, names) };
}

const CAPABILITY_NAME = /^[a-z][a-z0-9_-]{0,63}$/;

function readOwnCapabilities(entry: Entry | null, diagnostics: Diagnostics): ReadonlyMap<string, OwnCapability> {
  const own = new Map<string, OwnCapability>();
  if (entry === null) return own;
  if (entry.value.kind !== "map") {
    const message = `\`capabilities\` is a map of names to what each grants, not ${kindName(entry.value)}`;
    diagnostics.error("wrong_type", entry.value.span, message, { fix: "capabilities: {}" });
    return own;
  }
  if (entry.value.entries.length > ownCapabilitiesMax)
    diagnostics.error("too_large", entry.value.span, `an org file defines at most ${ownCapabilitiesMax} capabilities`);
  for (const { key: name, keySpan, value } of entry.value.entries.slice(0, ownCapabilitiesMax)) {
    if (CAPABILITIES.some((one) => one === name))
      diagnostics.error(
        "bad_value",
        keySpan,
        `${quoteText(name)} is built in: delete it here, and set its ruling with \`defaults: { capabilities: { ${name}: ask } }\``,
      );
    else if (!CAPABILITY_NAME.test(name))
      diagnostics.error(
        "bad_value",
        keySpan,
        `${quoteText(name)} is not a valid name: use lower case letters, digits, - and _`,
      );
    else if (value.kind !== "map")
      diagnostics.error("wrong_type", value.span, `${quoteText(name)} is a map, not ${kindName(value)}`, {
        fix: `${name}: { grants: [] }`,
      });
    else {
      checkKeys(value, ["grants", "tools", "about"], `the capability ${quoteText(name)}`, diagnostics);
      const grants = entryOf(value, "grants")?.value ?? null;
      own.set(name, { name, grants, tools: namesIn(value, "tools", diagnostics), span: keySpan });
    }
  }
  return own;
}

function namesIn(map: Mapping, key: string, diagnostics: Diagnostics): readonly string[] {
  const entry = entryOf(map, key);
  if (entry === null) return [];
  const items = entry.value.kind === "list" ? entry.value.items : null;
  const names = (items ?? []).flatMap((item) =>
    item.kind === "scalar" && typeof item.value === "string" && /^[A-Za-z][\w.:()*-]{0,199}$/.test(item.value)
      ? [item.value]
      : [],
  );
  if (items === null || names.length !== items.length || names.length > ownCapabilitiesMax)
    diagnostics.error("wrong_type", entry.value.span, `\`${key}\` is a list of names of tools`, { fix: `${key}: []` });
  return names;
}

/** Where a ruling comes from: the agent's own line, a line of `defaults`, or the built-in base. */
export interface OrgRuling {
  readonly capability: string;
  readonly ruling: Ruling;
  readonly from: "agent" | "org" | "base";
  /** Null for the base, which no line says. */
  readonly span: Span | null;
}

/** Each capability as the file says it. What a configuration adds to it is not part of the file. */
export function orgRulings(org: Org, agent: OrgAgent): readonly OrgRuling[] {
  const names: readonly string[] = [...CAPABILITIES, ...org.capabilities.keys()];
  return names.map((capability) => {
    for (const [from, { table, places }] of [
      ["agent", agent.rulings],
      ["org", org.defaults.rulings],
    ] as const) {
      const ruling = table.get(capability);
      if (ruling !== undefined) return { capability, ruling, from, span: places.get(capability) ?? null };
    }
    // An own capability is not in the base: it is for those the file gives it to.
    return { capability, ruling: BASE_POLICY.get(capability as Capability) ?? "deny", from: "base", span: null };
  });
}

/** Every budget that an agent's spending counts for: its own, those of the teams it is in, and the org's. */
export function orgBudgets(org: Org, agent: OrgAgent): readonly OwnedBudget[] {
  const budgets: OwnedBudget[] = [];
  const add = (owner: string, budget: Budget | null): void => {
    if (budget !== null && budget.size > 0) budgets.push({ owner, budget });
  };
  add(`agent ${agent.id}`, agent.budget);
  let member: OrgAgent | undefined = agent;
  for (let step = 0; member !== undefined && step <= org.agents.length; step++) {
    add(`team ${member.id}`, member.teamBudget);
    const superior: string | null = member.reportsTo;
    member = org.agents.find(({ id }) => id === superior);
  }
  add("org", org.budget);
  return budgets;
}

/** What a file says, and cannot mean: its own errors, and those of the agent. */
export function orgErrors(org: Org, agent: OrgAgent | null): readonly Diagnostic[] {
  const all = [...org.diagnostics, ...(agent?.diagnostics ?? [])];
  return all.filter(({ severity }) => severity === "error");
}
