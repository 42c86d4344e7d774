// `ambit mcp add`, `remove`, `enable` and `disable`: shows what a server would get, asks, and changes its file.
import type { ServerLevel } from "../../agents/disk/server-files.ts";
import { pathText } from "../../core/authority/axes/path.ts";
import { compactText } from "../../core/notation/printer.ts";
import { requiredRisk, type WrittenServer } from "../../core/notation/servers/server-file.ts";
import type { Source } from "../../core/notation/source.ts";
import { editServers, type ServerEdit } from "../../gateway/edit-servers.ts";
import { shown } from "../terminal/cells.ts";
import { commandText } from "../terminal/command-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { type Paint, paintRisk } from "../terminal/paint.ts";
import { fail } from "../terminal/problems.ts";
import { renderDiagnostic } from "../terminal/render.ts";
import { notAdmitted } from "../trust/admit.ts";
import type { ServersPorts } from "./ports.ts";

export interface ServerEditOptions {
  readonly user: boolean;
  readonly yes: boolean;
  readonly json: boolean;
}

export interface AddOptions extends ServerEditOptions {
  readonly requires?: readonly string[];
  readonly runtime?: readonly string[];
  readonly env?: readonly string[];
}

export async function mcpAdd(
  ports: ServersPorts,
  name: string,
  command: readonly string[],
  options: AddOptions,
): Promise<ExitCode> {
  if (command.length === 0)
    return fail(
      ports,
      options,
      EXIT.usage,
      "no command: write it behind `--`",
      `ambit mcp add ${name} -- node server.js`,
    );
  const variables = (options.env ?? []).map((text) => /^([^=]+)=(.*)$/s.exec(text));
  if (variables.some((one) => one === null))
    return fail(ports, options, EXIT.usage, "`--env` is a name, `=` and a value", "--env LOG_LEVEL=debug");
  const environment = variables.map((one) => [one?.[1] ?? "", one?.[2] ?? ""] as const);
  const server = { command, requires: options.requires ?? [], runtime: options.runtime ?? [], environment };
  return change(ports, { kind: "add", name, server }, options);
}

export async function mcpRemove(ports: ServersPorts, name: string, options: ServerEditOptions): Promise<ExitCode> {
  return change(ports, { kind: "remove", name }, options);
}

export async function mcpSwitch(
  ports: ServersPorts,
  name: string,
  isEnabled: boolean,
  options: ServerEditOptions,
): Promise<ExitCode> {
  return change(ports, { kind: "switch", name, isEnabled }, options);
}

async function change(ports: ServersPorts, edit: ServerEdit, options: ServerEditOptions): Promise<ExitCode> {
  const level = levelOf(ports, edit, options);
  const before = ports.servers.source(level);
  if (before === null)
    return fail(ports, options, EXIT.error, "this is no workspace", "ambit init, or write it for yourself: --user");
  const preview = editServers(before, edit, ports.servers.tree);
  if (!preview.ok) return fail(ports, options, EXIT.error, preview.message, "ambit mcp list");
  const after: Source = { name: before.name, text: preview.text };
  const file = ports.servers.read(level, after);
  const server = file.servers.find(({ name }) => name === edit.name) ?? null;
  if (edit.kind === "add" && server === null) {
    if (!options.json) for (const one of file.diagnostics) ports.printError(renderDiagnostic(one, after, ports.paint));
    const [first] = file.diagnostics;
    return fail(
      ports,
      options,
      EXIT.usage,
      first === undefined ? "the server cannot be read" : first.message,
      first?.fix ?? null,
    );
  }
  const isWidening = edit.kind === "add" || (edit.kind === "switch" && edit.isEnabled);
  if (!options.json && isWidening && server !== null)
    for (const line of serverLines(server, ports.paint)) ports.print(line);
  const refused = isWidening ? await refusedWidening(ports, edit, options) : null;
  if (refused !== null) return refused;
  const done = ports.servers.edit(level, (source) => {
    const now = editServers(source, edit, ports.servers.tree);
    return now.ok ? { text: now.text } : { refusal: now.message };
  });
  if (done.kind !== "done") {
    const message = done.kind === "refused" ? done.refusal : `${before.name} ${done.message}`;
    return fail(ports, options, EXIT.error, message, null);
  }
  tell(ports, edit, { level, file: before.name, isTrusted: done.isTrusted }, options);
  return EXIT.ok;
}

/** A server that is there is changed where it is; a new one is the project's, unless `--user` says otherwise. */
function levelOf(ports: ServersPorts, edit: ServerEdit, { user }: ServerEditOptions): ServerLevel {
  if (user) return "user";
  if (edit.kind === "add") return ports.servers.source("project") === null ? "user" : "project";
  const found = ports.servers.load().servers.find(({ server }) => server.name === edit.name);
  return found?.server.level ?? (ports.servers.source("project") === null ? "user" : "project");
}

async function refusedWidening(
  ports: ServersPorts,
  edit: ServerEdit,
  options: ServerEditOptions,
): Promise<ExitCode | null> {
  const command = edit.kind === "add" ? "mcp add" : "mcp enable";
  if (!options.yes) {
    if (!ports.terminal.isInteractive || options.json)
      return fail(ports, options, EXIT.usage, "confirmation needed, and no terminal to ask at", "add --yes");
    const question = edit.kind === "add" ? "Add this server?" : "Enable this server?";
    if (!(await ports.terminal.confirm(question))) return fail(ports, options, EXIT.error, "nothing was changed", null);
  }
  return notAdmitted(ports, command, edit.name, options);
}

function tell(
  ports: ServersPorts,
  edit: ServerEdit,
  written: { readonly level: ServerLevel; readonly file: string; readonly isTrusted: boolean },
  options: ServerEditOptions,
): void {
  if (options.json) {
    ports.print(jsonLine({ name: edit.name, action: edit.kind, ...written }));
    return;
  }
  const word =
    edit.kind === "add" ? "added" : edit.kind === "remove" ? "removed" : edit.isEnabled ? "enabled" : "disabled";
  ports.print(`${ports.paint.good(word)} ${shown(edit.name)} in ${shown(written.file)}`);
  if (!written.isTrusted && edit.kind !== "remove") ports.print("  no effect until you trust the project: ambit trust");
  if (edit.kind === "add") {
    ports.print(ports.paint.dim(`  its tools: ${commandText(["mcp", "show", edit.name])}`));
    const spec = `tool.invoke{tools=["${edit.name}__*"]}`;
    ports.print(ports.paint.dim(`  let an agent call them: ${commandText(["agents", "grant", "AGENT", spec])}`));
  }
}

/** What a server would get, in words. */
export function serverLines(server: WrittenServer, paint: Paint): readonly string[] {
  const { name, command, requires, runtime, environment, isEnabled } = server;
  const walls = requires.length === 0 ? ["no files of yours, no network"] : requires.map((grant) => compactText(grant));
  return [
    `${paint.strong(shown(name))}  ${paintRisk(paint, requiredRisk(requires))} risk${isEnabled ? "" : "  disabled"}`,
    `  runs     ${shown(commandWords(command))}`,
    ...walls.map((text, at) => `  ${at === 0 ? "reaches " : "        "} ${shown(text)}`),
    ...(runtime.length === 0 ? [] : [`  programs ${runtime.map((tree) => shown(pathText(tree))).join(" ")}`]),
    ...(environment.length === 0 ? [] : [`  sets     ${environment.map(([variable]) => shown(variable)).join(" ")}`]),
  ];
}

export function commandWords(command: readonly string[]): string {
  return command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
}
