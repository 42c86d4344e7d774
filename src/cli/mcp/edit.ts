// `ambit mcp add`, `remove`, `enable` and `disable`: shows what a server would get, asks, and changes its file.
import type { ServerLevel } from "../../agents/disk/server-files.ts";
import { credentialIn, holdsCredential, isCredentialOption } from "../../clients/credential-patterns.ts";
import { pathText } from "../../core/authority/axes/path.ts";
import { compactText } from "../../core/notation/printer.ts";
import { type PackageCommandResult, packageCommand } from "../../core/notation/servers/package-command.ts";
import { endpointSecrets } from "../../core/notation/servers/server-endpoint.ts";
import { requiredRisk, type ServerAskKind, type WrittenServer } from "../../core/notation/servers/server-file.ts";
import { packageText } from "../../core/notation/servers/server-package.ts";
import type { Source } from "../../core/notation/source.ts";
import { editServers, type NewProgram, type NewServer, type ServerEdit } from "../../gateway/edit-servers.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { commandText } from "../terminal/command-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { type Paint, paintRisk } from "../terminal/paint.ts";
import { confirmation, fail } from "../terminal/problems.ts";
import { renderDiagnostic } from "../terminal/render.ts";
import { notAdmitted } from "../trust/admit.ts";
import { signOut } from "./login.ts";
import { fetchPackage, packageLines, releasePackage } from "./packages.ts";
import type { ServersPorts } from "./ports.ts";

export interface ServerEditOptions {
  readonly user: boolean;
  readonly yes: boolean;
  readonly json: boolean;
}

export interface AddOptions extends ServerEditOptions {
  readonly registry?: string;
  readonly runScripts?: boolean;
  readonly host?: readonly string[];
  readonly requires?: readonly string[];
  readonly runtime?: readonly string[];
  readonly env?: readonly string[];
  readonly reveal?: readonly string[];
  readonly url?: string;
  readonly header?: readonly string[];
  readonly asks?: readonly string[];
}

export async function mcpAdd(
  ports: ServersPorts,
  name: string,
  command: readonly string[],
  options: AddOptions,
): Promise<ExitCode> {
  const endpoint = newEndpoint(name, command, options);
  if ("message" in endpoint) return fail(ports, options, EXIT.usage, endpoint.message, endpoint.fix);
  const asks = options.asks ?? [];
  const server = { endpoint, requires: options.requires ?? [], ...(asks.length === 0 ? {} : { asks }) };
  const edit = { kind: "add" as const, name, server };
  const fetching = endpoint.kind === "program" ? packageCommand(endpoint.command) : null;
  if (fetching !== null) return addPackaged(ports, edit, fetching, options);
  if (options.runScripts === true || options.registry !== undefined || options.host !== undefined)
    return fail(
      ports,
      options,
      EXIT.usage,
      "`--registry`, `--host` and `--run-scripts` are for commands such as `npx` and `uvx`",
      null,
    );
  return change(ports, edit, options);
}

/** `npx` and the like: the package is fetched and shown before the question, and removed again without a yes. */
async function addPackaged(
  ports: ServersPorts,
  edit: Extract<ServerEdit, { kind: "add" }>,
  fetching: PackageCommandResult,
  options: AddOptions,
): Promise<ExitCode> {
  if (!fetching.ok) return fail(ports, options, EXIT.usage, fetching.message, fetching.fix);
  // Before the network is asked: whether an entry of this name can be added at all.
  const before = ports.servers.source(levelOf(ports, edit, options));
  const preview = before === null ? null : editServers(before, edit, ports.servers.tree);
  if (preview?.ok === false) return fail(ports, options, EXIT.error, preview.message, "ambit mcp list");
  const fetched = await fetchPackage(ports, fetching.value, options);
  if (!fetched.ok) return tellRefusal(ports, fetched, options.json);
  const { command, pin } = fetched.value;
  const endpoint = { ...edit.server.endpoint, command, package: pin } as NewProgram;
  const packaged = { ...edit, server: { ...edit.server, endpoint } };
  const done = await change(ports, packaged, options, packageLines(fetched.value, ports.paint));
  if (done !== EXIT.ok) await releasePackage(ports, pin);
  return done;
}

function newEndpoint(
  name: string,
  command: readonly string[],
  { url, header = [], env = [], reveal = [], runtime = [], user }: AddOptions,
): NewServer["endpoint"] | { readonly message: string; readonly fix: string | null } {
  const pairs = (texts: readonly string[], form: RegExp): readonly (readonly [string, string])[] | null => {
    const found = texts.map((text) => form.exec(text));
    return found.some((one) => one === null) ? null : found.map((one) => [one?.[1] ?? "", one?.[2] ?? ""]);
  };
  if (url !== undefined) {
    const headers = pairs(header, /^([^:]+):\s*(.*)$/s);
    if (command.length > 0 || env.length > 0 || reveal.length > 0 || runtime.length > 0)
      return { message: "a server with `--url` has no command, no variables and no folders", fix: null };
    const twice = twiceIn((headers ?? []).map(([one]) => one.toLowerCase()));
    if (twice !== null) return { message: `the header ${twice} is set twice`, fix: null };
    if (headers === null)
      return {
        message: "`--header` is a name, `:` and a value",
        fix: "--header 'Authorization: Bearer {{secret:example-token}}'",
      };
    const plain = headers.find(([, value]) => isPlainCredential(value))?.[0];
    if (plain !== undefined || isPlainCredential(url))
      return {
        message: `the ${plain === undefined ? "address" : `header ${plain}`} has a credential, which would be plain text in mcp.yml`,
        fix: `ambit secrets set NAME --tool mcp.${name} --host ${hostText(url)}, then {{secret:NAME}} in its place, in a header or in the query`,
      };
    return { kind: "http", url, headers };
  }
  if (header.length > 0) return { message: "`--header` is for a server with `--url`", fix: null };
  if (command.length === 0)
    return {
      message: "no command: write it after `--`, or an address with `--url`",
      fix: `ambit mcp add ${name} --runtime "$PWD" -- node "$PWD/server.js"`,
    };
  const texts = pairs(env, /^([^=]+)=(.*)$/s);
  if (texts === null) return { message: "`--env` is a name, `=` and a value", fix: "--env LOG_LEVEL=debug" };
  const secrets = pairs(reveal, /^([^=]+)=(.+)$/s);
  if (secrets === null)
    return {
      message: "`--reveal` is a variable, `=` and the name of a stored secret",
      fix: "--reveal API_KEY=api-key",
    };
  if (secrets.length > 0 && !user)
    return { message: "only a server in your own mcp.yml can receive the value of a secret", fix: "add --user" };
  const plain = env.find((text) => credentialIn(text));
  if (plain !== undefined) return plainCredential(name, plain.split("=", 1)[0] ?? "");
  const word = command.find((one, at) => credentialIn(one) || isCredentialOption(command[at - 1] ?? "", one));
  if (word !== undefined)
    return {
      message: "the command has a credential, which would be plain text in mcp.yml",
      fix: "pass it in a variable that the server reads: ambit secrets set NAME --tool mcp.SERVER, then --reveal VARIABLE=NAME --user",
    };
  const environment = [...texts, ...secrets.map(([variable, secret]) => [variable, { secret }] as const)];
  const twice = twiceIn(environment.map(([variable]) => variable));
  if (twice !== null) return { message: `the variable ${twice} is set twice`, fix: null };
  return { kind: "program", command, runtime, environment };
}

function plainCredential(server: string, variable: string): { readonly message: string; readonly fix: string } {
  const secret = variable.toLowerCase().replaceAll("_", "-");
  return {
    message: `the value of ${variable} is a credential, which would be plain text in mcp.yml`,
    fix: `ambit secrets set ${secret} --tool mcp.${server}, then --reveal ${variable}=${secret} --user in place of --env`,
  };
}

/** Beside handles of stored secrets. */
function isPlainCredential(text: string): boolean {
  return holdsCredential(text.replace(/\{\{secret:[^{}]*\}\}/g, ""));
}

function hostText(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "HOST";
}

function twiceIn(names: readonly string[]): string | null {
  return names.find((name, at) => names.indexOf(name) !== at) ?? null;
}

/** What was stored for the server goes with it: its sign-in, its pin, its package. */
export async function mcpRemove(ports: ServersPorts, name: string, options: ServerEditOptions): Promise<ExitCode> {
  const edit = { kind: "remove" as const, name };
  const level = levelOf(ports, edit, options);
  const found = ports.servers.load().servers.find(({ server }) => server.name === name && server.level === level);
  const endpoint = found?.server.endpoint;
  // Its tokens are known by its entry.
  if (endpoint?.kind === "http" && found?.waits === null) await signOut(ports, name);
  const done = await change(ports, edit, options);
  if (done !== EXIT.ok) return done;
  if (endpoint?.kind === "program" && endpoint.package !== null) await releasePackage(ports, endpoint.package);
  const forgotten = await askOnce(ports, "servers.forget", { cwd: ports.cwd, name, level, presence: null });
  if (!forgotten.ok) ports.printError(`${ports.paint.warn("warning")}: ${visibleText(forgotten.message)}`);
  return done;
}

export async function mcpSwitch(
  ports: ServersPorts,
  name: string,
  isEnabled: boolean,
  options: ServerEditOptions,
): Promise<ExitCode> {
  return change(ports, { kind: "switch", name, isEnabled }, options);
}

/** `lines`: what else is shown before the question. */
export async function change(
  ports: ServersPorts,
  edit: ServerEdit,
  options: ServerEditOptions & { readonly isQuiet?: boolean },
  lines: readonly string[] = [],
): Promise<ExitCode> {
  const level = levelOf(ports, edit, options);
  const before = ports.servers.source(level);
  if (before === null)
    return fail(ports, options, EXIT.error, "this is not a workspace", "ambit init, or write it for yourself: --user");
  const preview = editServers(before, edit, ports.servers.tree);
  if (!preview.ok) return fail(ports, options, EXIT.error, preview.message, "ambit mcp list");
  // The file itself does not have these lines yet.
  const after: Source = { name: `${before.name} with this entry`, text: preview.text };
  const file = ports.servers.read(level, after);
  const server = file.servers.find(({ name }) => name === edit.name) ?? null;
  if ((edit.kind === "add" || edit.kind === "package") && server === null) {
    const [first] = file.diagnostics;
    if (!options.json && first !== undefined) {
      for (const one of file.diagnostics) ports.printError(renderDiagnostic(one, after, ports.paint));
      return EXIT.usage;
    }
    return fail(
      ports,
      options,
      EXIT.usage,
      first === undefined ? "the server cannot be parsed" : first.message,
      first?.fix ?? null,
    );
  }
  const isWidening = edit.kind !== "remove" && (edit.kind !== "switch" || edit.isEnabled);
  if (!options.json && isWidening && server !== null)
    for (const line of [...serverLines(server, ports.paint), ...lines]) ports.print(line);
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
  if (options.isQuiet !== true) tell(ports, edit, { level, file: before.name, isTrusted: done.isTrusted }, options);
  return EXIT.ok;
}

/** A server that is there is changed where it is; a new one is the project's, unless `--user` says otherwise. */
function levelOf(ports: ServersPorts, edit: ServerEdit, { user }: ServerEditOptions): ServerLevel {
  if (user) return "user";
  if (edit.kind === "add") return ports.servers.source("project") === null ? "user" : "project";
  const found = ports.servers.load().servers.find(({ server }) => server.name === edit.name);
  return found?.server.level ?? (ports.servers.source("project") === null ? "user" : "project");
}

const WIDENING = {
  add: ["mcp add", "Add this server?"],
  package: ["mcp fetch", "Run this package as the server?"],
  switch: ["mcp enable", "Enable this server?"],
} as const;

async function refusedWidening(
  ports: ServersPorts,
  edit: ServerEdit,
  options: ServerEditOptions,
): Promise<ExitCode | null> {
  const [command, question] = WIDENING[edit.kind === "add" || edit.kind === "package" ? edit.kind : "switch"];
  const refused = await confirmation(ports, options, question, "add --yes");
  if (refused !== null) return refused;
  return notAdmitted(ports, command, edit.name, options);
}

const WORDS = { add: "added", remove: "removed", package: "pinned the package of" } as const;

function tell(
  ports: ServersPorts,
  edit: ServerEdit,
  written: { readonly level: ServerLevel; readonly file: string; readonly isTrusted: boolean },
  options: ServerEditOptions,
): void {
  if (options.json) {
    const pin =
      edit.kind === "package"
        ? edit.package
        : edit.kind === "add" && edit.server.endpoint.kind === "program"
          ? edit.server.endpoint.package
          : undefined;
    ports.print(
      jsonLine({
        ...{ name: edit.name, action: edit.kind, ...written },
        ...(edit.kind === "switch" ? { isEnabled: edit.isEnabled } : {}),
        ...(pin === undefined ? {} : { package: pin }),
      }),
    );
    return;
  }
  const word = edit.kind === "switch" ? (edit.isEnabled ? "enabled" : "disabled") : WORDS[edit.kind];
  ports.print(`${ports.paint.good(word)} ${visibleText(edit.name)} in ${visibleText(written.file)}`);
  if (!written.isTrusted && edit.kind !== "remove") ports.print("  no effect until you trust the project: ambit trust");
  if (edit.kind === "add") {
    ports.print(ports.paint.dim(`  its tools: ${commandText(["mcp", "show", edit.name])}`));
    const spec = `tool.invoke{tools=["${edit.name}__*"]}`;
    ports.print(ports.paint.dim(`  let an agent call them: ${commandText(["agents", "grant", "AGENT", spec])}`));
  }
}

/** What a server would get, in words. */
export function serverLines(server: WrittenServer, paint: Paint): readonly string[] {
  const { name, endpoint, requires, isEnabled, asks } = server;
  const walls = requires.length === 0 ? ["no files, no network"] : requires.map((grant) => compactText(grant));
  const reached = walls.map((text, at) => `  ${at === 0 ? "reaches " : "        "} ${visibleText(text)}`);
  const secrets = endpointSecrets(endpoint).map(
    ({ name: secret, at, isRevealed }) =>
      `  ${isRevealed ? paint.warn("reveals ") : "sends   "} ${visibleText(secret)} in the ${visibleText(at)}`,
  );
  const questions = asks.size === 0 ? [] : [`  may ask  ${[...asks].map((kind) => ASKED[kind]).join(", ")}`];
  const head = `${paint.strong(visibleText(name))}  ${paintRisk(paint, requiredRisk(requires))} risk${isEnabled ? "" : "  disabled"}`;
  if (endpoint.kind === "http") {
    const headers = endpoint.headers.map(([header]) => visibleText(header)).join(" ");
    const sets = headers === "" ? [] : [`  headers  ${headers}`];
    return [head, `  calls    ${visibleText(endpoint.address)}`, ...reached, ...sets, ...secrets, ...questions];
  }
  const { command, runtime, environment, package: pinned } = endpoint;
  return [
    head,
    `  runs     ${visibleText(commandWords(command))}`,
    ...(pinned === null ? [] : [`  package  ${visibleText(packageText(pinned))}`]),
    ...reached,
    ...(runtime.length === 0 ? [] : [`  programs ${runtime.map((tree) => visibleText(pathText(tree))).join(" ")}`]),
    ...(environment.length === 0 ? [] : [`  sets     ${environment.map((one) => visibleText(one.name)).join(" ")}`]),
    ...secrets,
    ...questions,
  ];
}

/** Where an agent's grant and the client allow it too. */
const ASKED: Readonly<Record<ServerAskKind, string>> = {
  elicitation: "you, by a form in the client (elicitation)",
  sampling: "the client's model (sampling)",
};

export function commandWords(command: readonly string[]): string {
  return command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
}
