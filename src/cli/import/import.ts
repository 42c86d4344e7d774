// `ambit import <client>`: a client's own rules as a record, with what is wrong with them. Nothing is written before a person agrees,
// and nothing is in effect before `ambit trust`.
import type { Command } from "commander";
import type { ConnectScope } from "../../clients/connect/connections.ts";
import { type ImportedGrant, importRules, type RuleFinding } from "../../clients/rules/import-rules.ts";
import { codexRules, codexSettings, vscodeRules } from "../../clients/rules/read-editor-rules.ts";
import { geminiPolicy, geminiRules } from "../../clients/rules/read-gemini-rules.ts";
import { claudeRules, cursorRules, mapRules, type NativeRule } from "../../clients/rules/read-rules.ts";
import type { Json } from "../../core/base/json.ts";
import type { ClientSettings } from "../connect/connect.ts";
import type { OrgPorts } from "../org/ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { commandText } from "../terminal/command-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail } from "../terminal/problems.ts";
import type { AdmitPorts } from "../trust/admit.ts";

export interface ImportPorts extends OrgPorts, Pick<AdmitPorts, "terminal"> {
  readonly clientSettings: ClientSettings;
}

export interface ImportRulesOptions {
  readonly json: boolean;
  readonly agent: string;
  readonly user: boolean;
  readonly yes: boolean;
}

interface RuleFiles {
  /** A star stands for every name with that ending. */
  readonly project: readonly string[];
  readonly user: readonly string[];
  /** Of the machine: what they deny or ask holds for everybody, and nothing that they allow is imported. */
  readonly managed?: readonly string[];
  readonly read:
    | { readonly kind: "json"; of(value: Json, file: string): readonly NativeRule[] }
    | { readonly kind: "text"; of(text: string, file: string): readonly NativeRule[] };
}

const both = (path: string): Pick<RuleFiles, "project" | "user"> => ({ project: [path], user: [path] });

const CLIENTS: ReadonlyMap<string, readonly RuleFiles[]> = new Map<string, readonly RuleFiles[]>([
  [
    "claude",
    [
      {
        project: [".claude/settings.json", ".claude/settings.local.json"],
        user: [".claude/settings.json"],
        read: { kind: "json", of: claudeRules },
      },
    ],
  ],
  [
    "codex",
    [
      { ...both(".codex/rules/*.rules"), read: { kind: "text", of: codexRules } },
      { ...both(".codex/config.toml"), read: { kind: "text", of: codexSettings } },
    ],
  ],
  [
    "opencode",
    [
      {
        project: ["opencode.json", "opencode.jsonc"],
        user: [".config/opencode/opencode.json"],
        read: { kind: "json", of: mapRules },
      },
    ],
  ],
  [
    "gemini",
    [
      {
        ...both(".gemini/settings.json"),
        managed: ["/etc/gemini-cli/settings.json"],
        read: { kind: "json", of: geminiRules },
      },
      { project: [".gemini/policies/*.toml"], user: [], read: { kind: "json", of: geminiPolicy("project") } },
      { project: [], user: [".gemini/policies/*.toml"], read: { kind: "json", of: geminiPolicy("user") } },
      {
        ...{ project: [], user: [], managed: ["/etc/gemini-cli/policies/*.toml"] },
        read: { kind: "json", of: geminiPolicy("managed") },
      },
    ],
  ],
  [
    "cursor",
    [{ project: [".cursor/cli.json"], user: [".cursor/cli-config.json"], read: { kind: "json", of: cursorRules } }],
  ],
  [
    "vscode",
    [
      {
        project: [".vscode/settings.json"],
        user: [".config/Code/User/settings.json"],
        read: { kind: "json", of: vscodeRules },
      },
    ],
  ],
  [
    "rulesync",
    [
      {
        project: [".rulesync/permissions.jsonc", ".rulesync/permissions.json"],
        user: [],
        read: { kind: "json", of: mapRules },
      },
    ],
  ],
]);

export async function importCommand(
  ports: ImportPorts,
  client: string,
  options: ImportRulesOptions,
): Promise<ExitCode> {
  const files = CLIENTS.get(client);
  const names = [...CLIENTS.keys()].join(", ");
  if (files === undefined)
    return fail(ports, options, EXIT.usage, `no rules of ${client} can be imported (${names})`, "ambit import claude");
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(options.agent))
    return fail(
      ports,
      options,
      EXIT.usage,
      "the agent's id has lower-case letters, digits and hyphens",
      "--agent coder",
    );
  const rules = rulesIn(ports, files, options.user);
  if ("message" in rules) return fail(ports, options, EXIT.error, rules.message, "correct the file, or move it away");
  if (rules.found.length === 0) {
    const where = files
      .flatMap(({ project, user }) => [...project, ...(options.user ? user.map((path) => `~/${path}`) : [])])
      .join(", ");
    return fail(
      ports,
      options,
      EXIT.error,
      `there are no rules in ${where}`,
      options.user ? null : `ambit import ${client} --user`,
    );
  }
  const isThere = ports.agentIds().includes(options.agent);
  const loaded = isThere ? ports.loadAgent(options.agent) : null;
  if (loaded !== null && !loaded.ok) return fail(ports, options, EXIT.error, loaded.message, loaded.fix);
  const held = loaded === null ? [] : (loaded.value.trust?.written ?? loaded.value.agent).authority;
  const { grants, findings } = importRules(rules.found, ports.reading, held);
  const path = `.ambit/agents/${options.agent}.md`;
  const text = isThere || grants.length === 0 ? null : recordText(client, grants);
  if (!options.json) tell(ports, { client, path, isThere, grants, findings, agent: options.agent });
  const isWanted = text !== null && (await isAgreed(ports, options, path));
  if (text !== null && isWanted) {
    const written = ports.orgs.write([{ path, text }]);
    if (!written.ok) return fail(ports, options, EXIT.error, written.message, null);
  }
  if (options.json)
    ports.print(jsonLine({ client, agent: options.agent, path, grants, findings, text, isWritten: isWanted }));
  else if (isWanted) ports.print(`wrote ${path}\nit has no effect until you run: ambit trust`);
  else if (text !== null)
    ports.print(`nothing was written; to write it: ambit import ${client} --agent ${options.agent} --yes`);
  return EXIT.ok;
}

async function isAgreed(ports: ImportPorts, options: ImportRulesOptions, path: string): Promise<boolean> {
  if (options.yes) return true;
  if (options.json || !ports.terminal.isInteractive) return false;
  return ports.terminal.confirm(`Write ${path}?`);
}

type FoundRules = { readonly found: readonly NativeRule[] } | { readonly message: string };

function rulesIn({ clientSettings }: ImportPorts, files: readonly RuleFiles[], isUser: boolean): FoundRules {
  const found: NativeRule[] = [];
  const places = files.flatMap(({ project, user, managed = [], read }) => [
    ...project
      .flatMap((path) => namesAt(clientSettings, "project", path))
      .map((path) => ["project", path, path, read] as const),
    ...user
      .flatMap((path) => namesAt(clientSettings, "user", path))
      .map((path) => ["user", path, `~/${path}`, read] as const),
    ...managed
      .flatMap((path) => namesAt(clientSettings, "managed", path))
      .map((path) => ["managed", path, path, read] as const),
  ]);
  for (const [scope, path, name, read] of places) {
    const file = clientSettings.pathOf(scope, path);
    const text = file === null ? null : clientSettings.text(file);
    if (file === null || text === null) continue;
    if (!text.ok) return { message: `${name}: ${text.message}` };
    const value = read.kind === "text" ? undefined : clientSettings.value(file, []);
    if (read.kind !== "text" && value === undefined)
      return { message: `${name} is not valid ${name.endsWith(".toml") ? "TOML" : "JSON"}` };
    const rules = read.kind === "text" ? read.of(text.value, name) : read.of(value ?? null, name);
    // What the user's own settings deny holds in every project.
    const isWhole = scope === "project" || (scope === "user" && isUser);
    found.push(...(isWhole ? rules : rules.filter(({ action }) => action !== "allow")));
  }
  return { found };
}

/** The path, or those that its star stands for. */
function namesAt(settings: ClientSettings, scope: ConnectScope, path: string): readonly string[] {
  const [folder = "", ending] = path.split("/*");
  const place = ending === undefined ? null : settings.pathOf(scope, folder);
  if (ending === undefined) return [path];
  return place === null
    ? []
    : settings
        .names(place)
        .filter((name) => name.endsWith(ending))
        .map((name) => `${folder}/${name}`);
}

/** Each grant with the rule it comes from. */
function recordText(client: string, grants: readonly ImportedGrant[]): string {
  const lines = grants.map(
    ({ spec, rule }) => `  - ${JSON.stringify(spec)} # ${rule.replaceAll(/[^\x20-\x7e]/g, "?")}`,
  );
  return `---\ncapabilities:\n${lines.join("\n")}\n---\n\nImported from rules of ${client}.\n`;
}

interface Report {
  readonly client: string;
  readonly agent: string;
  readonly path: string;
  readonly isThere: boolean;
  readonly grants: readonly ImportedGrant[];
  readonly findings: readonly RuleFinding[];
}

const KINDS: Readonly<Record<RuleFinding["kind"], string>> = {
  dead: "does nothing",
  broad: "too broad",
  unreachable: "unreachable",
  unreadable: "not imported",
  meaning: "means less",
};

function tell(ports: ImportPorts, { agent, path, isThere, grants, findings }: Report): void {
  const { paint } = ports;
  for (const { kind, rule, file, text } of findings)
    ports.print(
      `${paint.warn(KINDS[kind].padEnd(12))}  ${visibleText(file)}  ${visibleText(rule)}\n    ${visibleText(text)}`,
    );
  if (grants.length === 0) {
    ports.print(
      isThere ? `${path}: no rule grants more than the agent has` : "these rules cannot be written as grants",
    );
    return;
  }
  ports.print(`${isThere ? "changes of" : "new file"} ${path}:`);
  for (const { spec, rule } of grants)
    ports.print(`${paint.good("+")} ${visibleText(spec)}  ${paint.dim(visibleText(rule))}`);
  if (isThere) {
    ports.print("to accept one of them:");
    for (const { spec } of grants) ports.print(`  ${commandText(["agents", "grant", agent, spec])}`);
  }
}

export function addImport(program: Command, ports: ImportPorts, end: (exit: ExitCode) => void): void {
  program
    .command("import")
    .description("turn the rules of a client into a record, and show rules that do nothing or too much")
    .argument("<client>", [...CLIENTS.keys()].join(", "))
    .option("--agent <id>", "the agent to write", "imported")
    .option("--user", "also the rules of your own settings", false)
    .option("-y, --yes", "write the record without asking", false)
    .option("--json", "print one JSON object", false)
    .addHelpText("after", EXAMPLES)
    .action(async (client: string, options: ImportRulesOptions) => end(await importCommand(ports, client, options)));
}

const EXAMPLES = `
Examples:
  ambit import claude
  ambit import claude --agent coder --user --yes
  ambit import rulesync --json

The record allows nothing that the rules deny or require approval for. It has no effect until \`ambit trust\`.
Exit status: 0 done, 1 no rules or a file that cannot be read, 2 usage.`;
