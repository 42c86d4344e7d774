// `ambit compile <client>`: an agent's grants as native rules of a client, with a table of how exactly each grant is said there.
import type { Command } from "commander";
import type { LoadedAgent } from "../../agents/disk/loaded-agent.ts";
import { compileRules, RULE_CLIENTS, ruleDifferences } from "../../clients/rules/compile-rules.ts";
import { looserSettings, OTHER_FILES } from "../../clients/rules/looser-settings.ts";
import type { CompiledRules, Exactness, GrantRules } from "../../clients/rules/native-rules.ts";
import type { Json } from "../../core/base/json.ts";
import { compactText } from "../../core/notation/printer.ts";
import { place } from "../../core/notation/source.ts";
import type { ClientSettings } from "../connect/connect.ts";
import type { CliPorts } from "../ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail } from "../terminal/problems.ts";

export interface CompilePorts
  extends Pick<CliPorts, "loadAgent" | "agentIds" | "reading" | "paint" | "print" | "printError"> {
  readonly clientSettings: ClientSettings;
}

export interface CompileOptions {
  readonly json: boolean;
  readonly agent?: string;
  readonly check: boolean;
}

export function compileCommand(ports: CompilePorts, client: string, options: CompileOptions): ExitCode {
  const ids = ports.agentIds();
  const id = options.agent ?? (ids.length === 1 ? ids[0] : undefined);
  if (id === undefined)
    return fail(ports, options, EXIT.usage, "name the agent", `ambit compile ${client} --agent ${ids[0] ?? "coder"}`);
  const loaded = ports.loadAgent(id);
  if (!loaded.ok) return fail(ports, options, EXIT.error, loaded.message, loaded.fix);
  const { trust, source } = loaded.value;
  const standing = trust?.status.kind ?? "trusted";
  // A check compares texts, for which no trust is needed; rules to be used come from what is in effect.
  const agent = options.check ? (trust?.written ?? loaded.value.agent) : loaded.value.agent;
  if (!options.check && (standing === "untrusted" || standing === "waiting"))
    return fail(
      ports,
      options,
      EXIT.notTrusted,
      `the project's agent ${id} is not trusted in its current form`,
      "ambit trust",
    );
  if (agent.refused)
    return fail(ports, options, EXIT.invalidPolicy, `${id} has errors: it grants nothing`, "ambit doctor");
  const isHookOnly = agent.approvers !== null || agent.isUserRequired === true;
  const rules = compileRules(client, { grants: agent.grants, pathSettings: ports.reading.pathSettings, isHookOnly });
  if (rules === null)
    return fail(
      ports,
      options,
      EXIT.usage,
      `there is no client ${client} (${RULE_CLIENTS.join(", ")})`,
      "ambit compile claude --agent coder",
    );
  const rows = rules.rows.map((row) => shownRow(row, { agent, source }));
  if (options.check) return check(ports, rules, rows, options);
  if (options.json) ports.print(jsonLine({ ...data(id, rules, rows), text: rules.text }));
  else {
    // The rules alone on standard output, so that they can be written to a file.
    for (const line of table(rules, rows)) ports.printError(line);
    ports.print(rules.text.trimEnd());
  }
  return EXIT.ok;
}

/** The file may have more rules that ask or deny, and fewer that allow. */
function check(
  ports: CompilePorts,
  rules: CompiledRules,
  rows: readonly ShownRow[],
  options: CompileOptions,
): ExitCode {
  const { client, path } = rules;
  if (path === null || rules.value === null)
    return fail(
      ports,
      options,
      EXIT.usage,
      `${client} reads no rules from a project, so there is no file to check`,
      `ambit compile ${client}`,
    );
  const file = ports.clientSettings.pathOf("project", path);
  const found = file === null ? undefined : ports.clientSettings.value(file, []);
  const differences = ruleDifferences(rules, found);
  const looser = looserIn(ports, rules, path, found);
  const isCurrent = differences.length === 0 && looser.length === 0;
  if (options.json) ports.print(jsonLine({ ...data("", rules, rows), file, isCurrent, differences, looser }));
  else {
    for (const line of table(rules, rows)) ports.print(line);
    for (const line of differences)
      ports.print(`${ports.paint.bad("differs")}  ${visibleText(path)}: ${visibleText(line)}`);
    for (const one of looser)
      ports.print(`${ports.paint.bad("looser")}  ${visibleText(one.path)}: ${visibleText(one.what)}`);
    if (isCurrent)
      ports.print(
        `${ports.paint.good("ok")}: settings of this project allow no more than the record; your own and managed settings, and options of the client, are not compared`,
      );
    if (differences.length > 0) ports.print(`write them: ambit compile ${client}`);
  }
  return isCurrent ? EXIT.ok : EXIT.error;
}

/** Also in files that the client reads besides the one with the rules. */
function looserIn(
  { clientSettings }: CompilePorts,
  rules: CompiledRules,
  path: string,
  found: Json | undefined,
): readonly { readonly path: string; readonly what: string }[] {
  const files = OTHER_FILES.get(rules.client) ?? [];
  const others = files.flatMap((name) => {
    const file = clientSettings.pathOf("project", name);
    const text = file === null ? null : clientSettings.text(file);
    if (file === null || text === null) return [];
    const value = text.ok ? clientSettings.value(file, []) : undefined;
    const lines = value === undefined ? ["it is not valid JSON"] : looserSettings(rules, value, false);
    return lines.map((what) => ({ path: name, what }));
  });
  const own = found === undefined ? [] : looserSettings(rules, found, true);
  return [...own.map((what) => ({ path, what })), ...others];
}

interface ShownRow {
  readonly exactness: Exactness;
  readonly grant: string;
  readonly at: string | null;
  readonly rules: readonly string[];
  readonly why: string;
}

/** With the line that says it: of the record, or of a configuration around it. */
function shownRow({ grant, exactness, rules, why }: GrantRules, { agent, source }: LoadedAgent): ShownRow {
  const { span } = grant;
  const text = [source, ...(agent.around ?? [])].find(({ name }) => name === span?.source);
  const at = span === null || text === undefined ? null : `${text.name}:${place(text, span.start).line}`;
  return { exactness, grant: compactText(grant), at: at ?? grant.implied, rules, why };
}

const WORDS: Readonly<Record<Exactness, string>> = {
  exact: "exact",
  stricter: "stricter",
  hook: "by the hook only",
  impossible: "impossible",
};

function table({ client, denied, notes }: CompiledRules, rows: readonly ShownRow[]): readonly string[] {
  const counts = (Object.keys(WORDS) as Exactness[]).map(
    (one) => `${rows.filter(({ exactness }) => exactness === one).length} ${WORDS[one]}`,
  );
  return [
    `${client}: ${counts.join(", ")}`,
    ...rows.map(({ exactness, grant, at, rules, why }) => {
      const said = [...rules, ...(why === "" ? [] : [why])].map(visibleText).join("; ");
      return `  ${WORDS[exactness].padEnd(16)}  ${visibleText(at ?? "")}  ${visibleText(grant)}\n      ${said}`;
    }),
    ...(denied.length === 0 ? [] : [`  denied by the client itself: ${denied.map(visibleText).join(", ")}`]),
    ...notes.map((note) => `  note: ${note}`),
  ];
}

function data(agent: string, { client, path, denied, notes }: CompiledRules, rows: readonly ShownRow[]): object {
  return { client, ...(agent === "" ? {} : { agent }), path, rows, denied, notes };
}

export function addCompile(program: Command, ports: CompilePorts, end: (exit: ExitCode) => void): void {
  program
    .command("compile")
    .description("print an agent's grants as native rules of a client, never looser than the record")
    .argument("<client>", RULE_CLIENTS.join(", "))
    .option("--agent <agent>", "the agent; default: the only one of the workspace")
    .option("--check", "compare with the client's settings in this project, for CI", false)
    .option("--json", "print one JSON object", false)
    .addHelpText("after", EXAMPLES)
    .action((client: string, options: CompileOptions) => end(compileCommand(ports, client, options)));
}

const EXAMPLES = `
Examples:
  ambit compile claude --agent coder
  ambit compile claude --agent coder --check
  ambit compile opencode --agent coder --json

Each grant is exact, stricter, by the hook only (\`ambit connect\`), or impossible in the client; the table goes to standard error.
Exit status: 0 done or up to date, 1 the client's settings differ, 3 the record is not valid, 2 usage.`;
