// `ambit org import` and `ambit org export`: an org file as records or in its other form, and back.

import { isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import type { FixableFailure } from "../../core/base/result.ts";
import { CAPABILITIES } from "../../core/notation/policy/policy-table.ts";
import { type Org, type OrgAgent, orgErrors, orgRulings, readOrg } from "../../org/org.ts";
import { clientOf, modelProviders } from "../../org/org-client.ts";
import { isSameValue, jsonOfTree, mapAt, orgMarkdown, orgRecord, orgYaml } from "../../org/org-text.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption, printProblems, showProblem } from "../terminal/problems.ts";
import type { NewFile, OrgPorts } from "./ports.ts";
import { NO_ORG, NO_ORG_FIX } from "./show.ts";

export interface ImportOptions extends JsonOption {
  readonly to: string;
  readonly dryRun: boolean;
}

const RECORDS = "records";
const TARGETS: Readonly<Record<string, string>> = { markdown: ".ambit/org.md", yaml: ".ambit/org.yml" };

function targetOf(form: string): string | null {
  return Object.hasOwn(TARGETS, form) ? (TARGETS[form] ?? null) : null;
}

export function orgImport(ports: OrgPorts, path: string, options: ImportOptions): ExitCode {
  const target = targetOf(options.to);
  if (options.to !== RECORDS && target === null)
    return fail(
      ports,
      options,
      EXIT.usage,
      "--to is records, markdown or yaml",
      "ambit org import QUORUM.md --to yaml",
    );
  const found = ports.orgs.read(path);
  if (!found.ok) return fail(ports, options, EXIT.error, found.message, "ambit org import QUORUM.md");
  const source = found.value;
  const read = ports.orgs.parse(source);
  const org = readOrg(read);
  const problems = [...org.diagnostics, ...org.agents.flatMap((agent) => agent.diagnostics)];
  if (problems.some(({ severity }) => severity === "error")) {
    const listed = problems.map((diagnostic) => ({ diagnostic, source }));
    if (options.json) ports.print(jsonLine({ problems: listed.map(showProblem) }));
    else printProblems(ports, listed);
    return EXIT.invalidPolicy;
  }
  const value = jsonOfTree(read.tree);
  if (!isJsonObject(value)) return fail(ports, options, EXIT.error, "this is not an org file", null);
  const made = target === null ? recordFiles(ports, org, value) : orgFile(ports, value, options.to, target);
  if (!made.ok) return fail(ports, options, EXIT.error, made.message, made.fix);
  const written = options.dryRun ? ({ ok: true } as const) : ports.orgs.write(made.files);
  if (!written.ok) return fail(ports, options, EXIT.error, written.message, "delete it, or import with another --to");
  const paths = made.files.map((file) => file.path);
  if (options.json) ports.print(jsonLine({ files: options.dryRun ? made.files : paths, notes: made.notes }));
  else {
    for (const file of made.files)
      ports.print(options.dryRun ? `${visibleText(file.path)}:\n${file.text}` : `wrote ${visibleText(file.path)}`);
    for (const note of made.notes) ports.printError(`note: ${visibleText(note)}`);
    if (!options.dryRun) ports.print("it has no effect until you run: ambit trust");
  }
  return EXIT.ok;
}

type Made =
  | { readonly ok: true; readonly files: readonly NewFile[]; readonly notes: readonly string[] }
  | FixableFailure;

function orgFile(ports: OrgPorts, value: JsonObject, to: string, path: string): Made {
  const text = textIn(ports, value, to);
  if (text === null) return { ok: false, message: cannotBe(to), fix: "ambit org import FILE --to yaml" };
  return { ok: true, files: [{ path, text }], notes: [] };
}

/** Null where the text would not say the same. */
function textIn(ports: OrgPorts, value: JsonObject, to: string): string | null {
  const [text, name] = to === "markdown" ? [orgMarkdown(value), "org.md"] : [orgYaml(value), "org.yml"];
  const read = ports.orgs.parse({ name, text });
  return read.diagnostics.length === 0 && isSameValue(jsonOfTree(read.tree), value) ? text : null;
}

function cannotBe(form: string): string {
  return `a text of this org would be parsed differently in ${form}: it contains a line like \`- budget: 5\` or a heading`;
}

/** One record for each agent, and an org file with what is left. */
function recordFiles(ports: OrgPorts, org: Org, value: JsonObject): Made {
  const { agents: _agents, ...rest } = value;
  const notes: string[] = [];
  const files: NewFile[] = [];
  for (const agent of org.agents) {
    const own = [...org.capabilities.values()].find(
      ({ name, grants }) =>
        grants !== null && orgRulings(org, agent).some((one) => one.capability === name && one.ruling !== "deny"),
    );
    if (own !== undefined)
      return {
        ok: false,
        message: `a record cannot express the capability ${own.name} of this org file`,
        fix: "ambit org import FILE --to yaml",
      };
    const written = mapAt(mapAt(value, "agents"), agent.id);
    const policy = policyOf(org, agent);
    const text = orgRecord({ role: agent.role, ...written }, policy, clientSpecs(org, agent));
    const path = `.ambit/agents/${agent.id}.md`;
    const back = ports.orgs.parseRecord({ name: path, text }, agent.id);
    const same = back === null ? null : writtenAgent(jsonOfTree(back.entry.value), back.imported, org);
    if (!isSameValue(same ?? undefined, { role: agent.role, ...written }))
      return { ok: false, message: `${agent.id}: ${cannotBe("a record")}`, fix: "ambit org import FILE --to yaml" };
    files.push({ path, text });
    if (policy["code"] !== "allow")
      notes.push(
        `${agent.id}: a record whose policy does not allow code cannot start its client; --to yaml keeps it an agent of the org file, which can`,
      );
  }
  for (const { name, agent, kind } of org.triggers)
    if (agent === null && kind !== "process")
      notes.push(
        `the trigger ${JSON.stringify(name)} names no agent, and records have no order: it waits until you add \`agent: ID\` to it`,
      );
  if (Object.keys(rest).length > 0) {
    const text = textIn(ports, rest, "yaml");
    if (text === null) return { ok: false, message: cannotBe("yaml"), fix: null };
    files.push({ path: ".ambit/org.yml", text });
  }
  return { ok: true, files, notes };
}

/** What resolves for the agent, the base included: a record has no base. */
function policyOf(org: Org, agent: OrgAgent): Readonly<Record<string, string>> {
  const names: readonly string[] = CAPABILITIES;
  const rulings = orgRulings(org, agent).filter(({ capability }) => names.includes(capability));
  return Object.fromEntries(rulings.map(({ capability, ruling }) => [capability, ruling]));
}

function clientSpecs(org: Org, agent: OrgAgent): readonly string[] {
  const { client, model } = clientOf(org, agent);
  const models = model === null ? "" : `,models=[${model.text}]`;
  return [
    `proc.exec{cmds=[${client.name}],root=live}`,
    ...modelProviders(client.name).map((provider) => `model.use{providers=[${provider}]${models}}`),
  ];
}

/** An agent as an org file would write it: the rulings it was imported with, unless its record says others by now. */
function writtenAgent(agent: Json, before: JsonObject | null, org: Org): JsonObject | null {
  if (!isJsonObject(agent)) return null;
  if (before === null) return agent;
  const { capabilities, ...rest } = agent;
  const defaults = Object.fromEntries(org.defaults.rulings.table);
  const base: Record<string, Json> = Object.fromEntries(
    CAPABILITIES.map((one) => [one, one === "crm" ? "ask" : "allow"]),
  );
  const resolved = { ...base, ...withoutOwn(defaults), ...withoutOwn(before) };
  const kept = isSameValue(resolved, capabilities) ? before : capabilities;
  const isEmpty = kept !== undefined && isJsonObject(kept) && Object.keys(kept).length === 0;
  return kept === undefined || isEmpty ? rest : { ...rest, capabilities: kept };
}

function withoutOwn(table: JsonObject): JsonObject {
  const names: readonly string[] = CAPABILITIES;
  return Object.fromEntries(Object.entries(table).filter(([name]) => names.includes(name)));
}

export interface ExportOptions extends JsonOption {
  readonly to: string;
}

export function orgExport(ports: OrgPorts, options: ExportOptions): ExitCode {
  if (targetOf(options.to) === null)
    return fail(ports, options, EXIT.usage, "--to is markdown or yaml", "ambit org export --to yaml");
  const whole = ports.orgs.whole();
  if (whole === null) return fail(ports, options, EXIT.error, NO_ORG, NO_ORG_FIX);
  const { org, tree, imported, sources } = whole;
  const broken = org.agents.find((agent) => orgErrors(org, agent).length > 0);
  if (broken !== undefined || orgErrors(org, null).length > 0)
    return fail(ports, options, EXIT.invalidPolicy, "the org has errors", "ambit org show");
  const value = jsonOfTree(tree);
  if (!isJsonObject(value) || sources.size === 0) return fail(ports, options, EXIT.error, NO_ORG, NO_ORG_FIX);
  const agents = Object.fromEntries(
    org.agents.map(({ id }) => [
      id,
      writtenAgent(mapAt(mapAt(value, "agents"), id), imported.get(id) ?? null, org) ?? {},
    ]),
  );
  const text = textIn(ports, { ...value, agents }, options.to);
  if (text === null) return fail(ports, options, EXIT.error, cannotBe(options.to), "ambit org export --to yaml");
  ports.print(options.json ? jsonLine({ form: options.to, text }) : text.trimEnd());
  return EXIT.ok;
}
