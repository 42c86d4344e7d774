// `ambit connect <client>` and `ambit disconnect <client>`: puts our hook into a client's own settings, and takes it out again.
import type { Command } from "commander";
import type { EditableServers } from "../../agents/disk/server-files.ts";
import { CONNECTIONS, type ConnectScope, type SettingsFile } from "../../clients/connect/connections.ts";
import { serverFile } from "../../clients/connect/server-entry.ts";
import type { TrialOutcome } from "../../clients/trial/client-trials.ts";
import { isPlainJson, type Json } from "../../core/base/json.ts";
import type { Result } from "../../core/base/result.ts";
import type { CliPorts } from "../ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail } from "../terminal/problems.ts";
import { type AdmitPorts, notAdmitted } from "../trust/admit.ts";
import { askCanary, canaryText, isTriable } from "./canary.ts";
import { gatewayPlan } from "./gateway.ts";
import { chooseConnection, enforcementRows, filesOf, rulesToday, runsWhole } from "./plan.ts";
import { isUnheld, NO_SECONDS, trialText, tryHook, verifySeconds, verifySecondsUsual } from "./verify.ts";

/** Settings of clients on this machine. */
export interface ClientSettings {
  /** The absolute path of a file in a scope; null where there is no such folder. */
  pathOf(scope: ConnectScope, path: string): string | null;
  /** The file's text after the change. */
  preview(path: string, file: SettingsFile): Result<{ readonly before: string | null; readonly after: string }>;
  write(path: string, file: SettingsFile): Result<null>;
  /** Back to the bytes before, or without what is ours where the file was edited since. */
  restore(path: string, file: SettingsFile): Result<"absent" | "restored" | "merged">;
  /** Null where there is no such file. */
  text(path: string): Result<string> | null;
  /** Names of the files in a folder, sorted; none where there is no such folder. */
  names(folder: string): readonly string[];
  /** A value of a JSON file; undefined where there is none, or it is no JSON. */
  value(path: string, at: readonly string[]): Json | undefined;
  command(options: HookChoice): string | null;
  /** The words that start our MCP server for this agent. */
  server(options: Pick<HookChoice, "agent" | "user" | "folder">): readonly string[];
  /** Hooks of ours in settings of clients here, each with the line that the client runs. */
  hooks(): readonly ConnectedHook[];
  /** Ways around a hook that is in place; asks the client for its version. */
  gaps(hook: Pick<ConnectedHook, "client" | "scope" | "path">): Promise<readonly string[]>;
  /** Runs a hook's line as a client would. */
  run(command: string, input: string): Promise<{ readonly status: number | null; readonly err: string }>;
  /** Lets the client itself call a tool that the hook denies, against a scripted model. */
  trial(hook: Pick<ConnectedHook, "client" | "scope">, millisecondsMax: number): Promise<TrialOutcome>;
}

export interface ConnectedHook {
  readonly client: string;
  readonly scope: ConnectScope;
  readonly path: string;
  readonly command: string;
  /** Whether the line is as this ambit writes it. Another one is never run: it may come with a project. */
  readonly isOwn: boolean;
}

export interface HookChoice {
  readonly client: string;
  readonly agent: string;
  readonly user: string | null;
  readonly folder: string | null;
  readonly isConfined: boolean;
  /** Whether calls of our own server's tools are left to that server, which decides them itself. */
  readonly hasServer: boolean;
}

export interface ConnectPorts extends AdmitPorts, Pick<CliPorts, "loadAgent"> {
  readonly cwd: string;
  /** The MCP servers behind ambit. */
  readonly servers: Pick<EditableServers, "load">;
  readonly clientSettings: ClientSettings;
  workspaceAt?(folder?: string): string | null;
}

export interface ConnectOptions {
  readonly json: boolean;
  readonly agent?: string;
  readonly user?: boolean;
  readonly project?: boolean;
  readonly managed?: boolean;
  readonly as?: string;
  readonly sandbox: boolean;
  /** Our MCP server, besides the hook. */
  readonly mcp?: boolean;
  /** Our MCP server in place of all others of the file. */
  readonly gateway?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  /** Whether the hook is tried in the client itself. */
  readonly verify: boolean;
  readonly verifySeconds?: string;
}

export async function connect(ports: ConnectPorts, client: string, options: ConnectOptions): Promise<ExitCode> {
  const found = chooseConnection(ports, client, options);
  if (typeof found === "number") return found;
  const { connection, scope } = found;
  const { agent } = options;
  const seconds = verifySeconds(options.verifySeconds);
  if (seconds === null)
    return fail(ports, options, EXIT.usage, NO_SECONDS, `ambit connect ${client} --agent coder --no-verify`);
  if (agent === undefined)
    return fail(
      ports,
      options,
      EXIT.usage,
      "name the agent whose grants decide",
      `ambit connect ${client} --agent coder`,
    );
  const loaded = ports.loadAgent(agent);
  if (!loaded.ok) return fail(ports, options, EXIT.error, loaded.message, loaded.fix);
  const folder = scope === "project" ? (ports.workspaceAt?.() ?? ports.cwd) : null;
  const isAlone = options.gateway === true;
  const [user, hasServer] = [options.as ?? null, options.mcp === true || isAlone];
  const command = ports.clientSettings.command({
    ...{ client, agent, user, folder, isConfined: options.sandbox, hasServer },
  });
  if (command === null) return fail(ports, options, EXIT.error, "there is no state folder on this machine", null);
  const server = hasServer ? ports.clientSettings.server({ agent, user, folder }) : null;
  if (server !== null && serverFile(client, scope, server) === null)
    return fail(
      ports,
      options,
      EXIT.usage,
      `${connection.title} cannot add an MCP server with --${scope} without disabling your other servers`,
      `ambit connect ${client} --agent ${agent} --user --mcp`,
    );
  const gateway = isAlone ? gatewayPlan(ports, client, scope) : null;
  if (gateway?.ok === false) return fail(ports, options, EXIT.error, gateway.message, gateway.fix);
  const direct = (gateway?.direct ?? []).map(({ name, file }) => ({ name, file }));
  const files = filesOf(ports, connection, scope, command, server, isAlone);
  if (files === null) return fail(ports, options, EXIT.error, `there is no folder for --${scope} here`, null);
  const changes: { readonly path: string; readonly isNew: boolean; readonly isChanged: boolean }[] = [];
  for (const { path, file } of files) {
    const preview = ports.clientSettings.preview(path, file);
    if (!preview.ok)
      return fail(ports, options, EXIT.error, `${path}: ${preview.message}`, "correct the file, or move it away");
    const { before, after } = preview.value;
    if (connection.isStrictJson && path.endsWith(".json") && !isPlainJson(after))
      return fail(
        ports,
        options,
        EXIT.error,
        `${path}: it has comments or a trailing comma, and ${connection.title} loads nothing of such a file`,
        "remove them",
      );
    changes.push({ path, isNew: before === null, isChanged: before !== after });
  }
  const today = rulesToday(ports, connection, scope);
  if (!options.json) {
    for (const line of today) ports.print(line);
    for (const { path, isNew, isChanged } of changes)
      ports.print(`${isNew ? "create" : isChanged ? "change" : "keep"}  ${visibleText(path)}`);
    if (server !== null) ports.print(`MCP server ambit: ${visibleText(server.join(" "))}`);
    for (const { name, file } of direct)
      ports.print(
        `${ports.paint.warn("direct")}  ${visibleText(name)} in ${visibleText(file)}: the client still starts it directly`,
      );
    if (options.dryRun) ports.print(`hook: ${visibleText(command)}`);
  }
  if (options.dryRun) {
    if (options.json)
      ports.print(jsonLine({ client, scope, agent, today, files: changes, command, server, direct, isWritten: false }));
    return EXIT.ok;
  }
  const isAsked = options.yes !== true && !options.json && ports.terminal.isInteractive;
  if (isAsked && !(await ports.terminal.confirm(`Connect ${connection.title} to ${agent}?`))) return EXIT.error;
  const refused = await notAdmitted(ports, "connect", `connect ${client} to ${agent} (${scope})`, options);
  if (refused !== null) return refused;
  for (const [index, { path, file }] of files.entries()) {
    const written = ports.clientSettings.write(path, file);
    if (written.ok) continue;
    for (const one of files.slice(0, index)) ports.clientSettings.restore(one.path, one.file);
    const fix =
      scope === "managed"
        ? `as root: ambit connect ${client} --agent ${agent} --managed`
        : "make the file and its folder writable, then run the command again";
    return fail(ports, options, EXIT.error, `${path}: ${written.message}`, fix);
  }
  const canary = await askCanary(ports, client, command);
  const trial = isTriable(canary) && options.verify ? await tryHook(ports, found, options.json, seconds) : null;
  const held = isUnheld(trial) ? [] : enforcementRows(connection, options.sandbox);
  if (options.json)
    ports.print(
      jsonLine({
        ...{ client, scope, agent, today, files: changes, command, server, direct, isWritten: true },
        ...{ canary, isVerifiedInClient: trial?.kind === "held", trial, held, notes: connection.notes },
      }),
    );
  else {
    ports.print(canaryText(ports.paint, canary));
    if (isTriable(canary)) ports.print(trialText(ports.paint, connection.title, trial));
    for (const { what, by } of held) ports.print(`  ${what}: ${by}`);
    const notes = [...connection.notes, ...(server === null ? [] : connection.serverNotes)];
    for (const note of notes) ports.print(`  note: ${note}`);
    if (!connection.isClosed && runsWhole(connection))
      ports.print(`  the whole client in the sandbox: ambit run ${agent} ${connection.programs[0]}`);
  }
  return canary === "failed" || isUnheld(trial) ? EXIT.error : EXIT.ok;
}

export async function disconnect(ports: ConnectPorts, client: string, options: ConnectOptions): Promise<ExitCode> {
  const found = chooseConnection(ports, client, options);
  if (typeof found === "number") return found;
  const { connection, scope } = found;
  // Without the hook the client decides alone: that widens.
  const refused = await notAdmitted(ports, "disconnect", `disconnect ${client} (${scope})`, options);
  if (refused !== null) return refused;
  const files = filesOf(ports, connection, scope, "", []);
  if (files === null) return fail(ports, options, EXIT.error, `there is no folder for --${scope} here`, null);
  const results: { readonly path: string; readonly result: string }[] = [];
  for (const { path, file, isHook } of files) {
    const restored = ports.clientSettings.restore(path, file);
    if (!restored.ok)
      return fail(ports, options, EXIT.error, `${path}: ${restored.message}`, "correct the file, then run it again");
    // A server is added only where it was wanted.
    if (isHook || restored.value !== "absent") results.push({ path, result: restored.value });
  }
  if (options.json) ports.print(jsonLine({ client, scope, files: results }));
  else for (const { path, result } of results) ports.print(`${RESULTS[result] ?? result}  ${visibleText(path)}`);
  return EXIT.ok;
}

const RESULTS: Readonly<Record<string, string>> = {
  absent: "no hook of ambit in",
  restored: "restored",
  merged: "edited since, so only ambit's additions were removed from",
};

export function addConnect(program: Command, ports: ConnectPorts, end: (exit: ExitCode) => void): void {
  const scoped = (command: Command): Command =>
    command
      .argument("<client>", CONNECTIONS.map((one) => one.client).join(", "))
      .option("--project", "the client's settings in this project; the default in a workspace")
      .option("--user", "your own settings of the client")
      .option("--managed", "the machine's settings of the client, which override its other settings")
      .option("--json", "print one JSON object", false);
  scoped(
    program
      .command("connect")
      .description("add ambit's hook, and optionally its MCP server, to the settings of an agent client"),
  )
    .option("--agent <agent>", "the agent whose grants decide")
    .option("--as <user>", "act for this user; the user's record, if any, limits the grants further")
    .option("--no-sandbox", "check shell commands and let the client run them, instead of running them in the sandbox")
    .option("--mcp", "also add ambit's MCP server, which serves the agent's tools to the client", false)
    .option(
      "--gateway",
      "like --mcp, and remove the client's other MCP servers from its file; import them first (ambit mcp import)",
      false,
    )
    .option("--no-verify", "do not start the client to try the hook in it")
    .option("--verify-seconds <seconds>", "how long to wait for the client", verifySecondsUsual)
    .option("--dry-run", "show what would be written", false)
    .option("-y, --yes", "do not ask for confirmation", false)
    .addHelpText("after", CONNECT_EXAMPLES)
    .action(async (client: string, options: ConnectOptions) => end(await connect(ports, client, options)));
  scoped(
    program
      .command("disconnect")
      .description("remove ambit's hook and MCP server from the settings of an agent client"),
  )
    .addHelpText("after", DISCONNECT_EXAMPLES)
    .action(async (client: string, options: ConnectOptions) =>
      end(await disconnect(ports, client, { ...options, sandbox: true, verify: false })),
    );
}

const CONNECT_EXAMPLES = `
Examples:
  ambit connect claude --agent coder
  ambit connect claude --agent coder --user --dry-run
  ambit connect codex --agent coder --mcp --user
  ambit connect cursor --agent coder --gateway
  ambit connect gemini --agent coder --json --no-verify

No rule of the client allows anything in advance: the hook decides each call by the agent's record. Comments and formatting of the file stay.
Claude Code, Codex, opencode, Gemini CLI and Copilot CLI are then started once, in a scratch folder without network and
without your credentials, to see that they obey the hook.
Exit status: 0 connected and the hook denies a canary call, 1 error or the client ran a denied call, 4 the daemon refused: only a person may do this, 2 usage.`;

const DISCONNECT_EXAMPLES = `
Examples:
  ambit disconnect claude
  ambit disconnect claude --user --json

Files are restored byte for byte, unless they were edited since: then only the hook and the MCP server are removed.
Exit status: 0 done, 1 error, 4 the daemon refused: only a person may do this, 2 usage.`;
