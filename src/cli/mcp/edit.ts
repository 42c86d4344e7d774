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
import type { ServersWorld } from "./world.ts";

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
  world: ServersWorld,
  name: string,
  command: readonly string[],
  options: AddOptions,
): Promise<ExitCode> {
  if (command.length === 0)
    return fail(
      world,
      options,
      EXIT.usage,
      "no command: write it behind `--`",
      `ambit mcp add ${name} -- node server.js`,
    );
  const variables = (options.env ?? []).map((text) => /^([^=]+)=(.*)$/s.exec(text));
  if (variables.some((one) => one === null))
    return fail(world, options, EXIT.usage, "`--env` is a name, `=` and a value", "--env LOG_LEVEL=debug");
  const environment = variables.map((one) => [one?.[1] ?? "", one?.[2] ?? ""] as const);
  const server = { command, requires: options.requires ?? [], runtime: options.runtime ?? [], environment };
  return change(world, { kind: "add", name, server }, options);
}

export async function mcpRemove(world: ServersWorld, name: string, options: ServerEditOptions): Promise<ExitCode> {
  return change(world, { kind: "remove", name }, options);
}

export async function mcpSwitch(
  world: ServersWorld,
  name: string,
  isEnabled: boolean,
  options: ServerEditOptions,
): Promise<ExitCode> {
  return change(world, { kind: "switch", name, isEnabled }, options);
}

async function change(world: ServersWorld, edit: ServerEdit, options: ServerEditOptions): Promise<ExitCode> {
  const level = levelOf(world, edit, options);
  const before = world.servers.source(level);
  if (before === null)
    return fail(world, options, EXIT.error, "this is no workspace", "ambit init, or write it for yourself: --user");
  const preview = editServers(before, edit, world.servers.tree);
  if (!preview.ok) return fail(world, options, EXIT.error, preview.message, "ambit mcp list");
  const after: Source = { name: before.name, text: preview.text };
  const file = world.servers.read(level, after);
  const server = file.servers.find(({ name }) => name === edit.name) ?? null;
  if (edit.kind === "add" && server === null) {
    if (!options.json) for (const one of file.diagnostics) world.printError(renderDiagnostic(one, after, world.paint));
    const [first] = file.diagnostics;
    return fail(
      world,
      options,
      EXIT.usage,
      first === undefined ? "the server cannot be read" : first.message,
      first?.fix ?? null,
    );
  }
  const isWidening = edit.kind === "add" || (edit.kind === "switch" && edit.isEnabled);
  if (!options.json && isWidening && server !== null)
    for (const line of serverLines(server, world.paint)) world.print(line);
  const refused = isWidening ? await refusedWidening(world, edit, options) : null;
  if (refused !== null) return refused;
  const done = world.servers.edit(level, (source) => {
    const now = editServers(source, edit, world.servers.tree);
    return now.ok ? { text: now.text } : { refusal: now.message };
  });
  if (done.kind !== "done") {
    const message = done.kind === "refused" ? done.refusal : `${before.name} ${done.message}`;
    return fail(world, options, EXIT.error, message, null);
  }
  tell(world, edit, { level, file: before.name, isTrusted: done.isTrusted }, options);
  return EXIT.ok;
}

/** A server that is there is changed where it is; a new one is the project's, unless `--user` says otherwise. */
function levelOf(world: ServersWorld, edit: ServerEdit, { user }: ServerEditOptions): ServerLevel {
  if (user) return "user";
  if (edit.kind === "add") return world.servers.source("project") === null ? "user" : "project";
  const found = world.servers.load().servers.find(({ server }) => server.name === edit.name);
  return found?.server.level ?? (world.servers.source("project") === null ? "user" : "project");
}

async function refusedWidening(
  world: ServersWorld,
  edit: ServerEdit,
  options: ServerEditOptions,
): Promise<ExitCode | null> {
  const command = edit.kind === "add" ? "mcp add" : "mcp enable";
  if (!options.yes) {
    if (!world.terminal.isInteractive || options.json)
      return fail(world, options, EXIT.usage, "confirmation needed, and no terminal to ask at", "add --yes");
    const question = edit.kind === "add" ? "Add this server?" : "Enable this server?";
    if (!(await world.terminal.confirm(question))) return fail(world, options, EXIT.error, "nothing was changed", null);
  }
  return notAdmitted(world, command, edit.name, options);
}

function tell(
  world: ServersWorld,
  edit: ServerEdit,
  written: { readonly level: ServerLevel; readonly file: string; readonly isTrusted: boolean },
  options: ServerEditOptions,
): void {
  if (options.json) {
    world.print(jsonLine({ name: edit.name, action: edit.kind, ...written }));
    return;
  }
  const word =
    edit.kind === "add" ? "added" : edit.kind === "remove" ? "removed" : edit.isEnabled ? "enabled" : "disabled";
  world.print(`${world.paint.good(word)} ${shown(edit.name)} in ${shown(written.file)}`);
  if (!written.isTrusted && edit.kind !== "remove") world.print("  no effect until you trust the project: ambit trust");
  if (edit.kind === "add") {
    world.print(world.paint.dim(`  its tools: ${commandText(["mcp", "show", edit.name])}`));
    const spec = `tool.invoke{tools=["${edit.name}__*"]}`;
    world.print(world.paint.dim(`  let an agent call them: ${commandText(["agents", "grant", "AGENT", spec])}`));
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
