// `ambit mcp import <client>`: the client's own MCP servers as entries of your mcp.yml, with their credentials in the secret store.
// Nothing is changed before a yes.
import { type ClientServer, clientServers, SERVER_SETTINGS } from "../../clients/servers/client-servers.ts";
import { type ImportedServer, type ImportResult, importedServer } from "../../clients/servers/import-server.ts";
import { packageCommand } from "../../core/notation/servers/package-command.ts";
import { serverTool } from "../../core/notation/servers/server-endpoint.ts";
import type { Source } from "../../core/notation/source.ts";
import { editServers } from "../../gateway/edit-servers.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { commandText } from "../terminal/command-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail } from "../terminal/problems.ts";
import { notAdmitted } from "../trust/admit.ts";
import { serverLines } from "./edit.ts";
import { fetchPackage, type NewPackage, packageLines, releasePackage } from "./packages.ts";
import type { ServersPorts } from "./ports.ts";

export interface ImportServersOptions {
  /** Also the servers of the project's file. */
  readonly project: boolean;
  readonly yes: boolean;
  readonly json: boolean;
  /** Other hosts that registries have their files at. */
  readonly host?: readonly string[];
}

export async function mcpImport(
  ports: ServersPorts,
  client: string,
  names: readonly string[],
  options: ImportServersOptions,
): Promise<ExitCode> {
  const found = serversOf(ports, client);
  if ("message" in found) return fail(ports, options, EXIT.usage, found.message, found.fix);
  // INVARIANT: a project's file is not the user's: its servers are taken only by name or with --project, after the user's own.
  const isUsers = ({ file }: ClientServer): boolean => file.startsWith("~/");
  const ordered = [...found.servers.filter(isUsers), ...found.servers.filter((one) => !isUsers(one))];
  const wanted = ordered.filter((one) =>
    names.length === 0 ? options.project || isUsers(one) : names.includes(one.name),
  );
  const left = names.length === 0 && !options.project ? ordered.filter((one) => !isUsers(one)) : [];
  const missing = names.find((name) => !wanted.some((one) => one.name === name));
  if (missing !== undefined)
    return fail(ports, options, EXIT.error, `${client} has no server ${missing}`, `ambit mcp import ${client}`);
  if (!options.json)
    for (const { name, file } of left)
      ports.print(
        `${ports.paint.warn("left out")}  ${visibleText(name)}  ${visibleText(file)}\n    it belongs to the project; to import it for every project: ${commandText(["mcp", "import", client, name])}`,
      );
  if (wanted.length === 0)
    return left.length > 0
      ? EXIT.ok
      : fail(ports, options, EXIT.error, `${client} has no servers: ${found.files}`, null);
  const listed = await askOnce(ports, "secrets.list", {});
  if (!listed.ok) return tellRefusal(ports, listed, options.json);
  const before = ports.servers.source("user");
  if (before === null)
    return fail(ports, options, EXIT.error, "there is no configuration folder on this machine", null);
  const stored = new Set(listed.value.secrets.map(({ name }) => name));
  const { results, source, packages } = await withPackages(
    ports,
    converted(ports, wanted, stored, before),
    before,
    options,
  );
  const imported = results.flatMap((one) => (one.ok ? [one.value] : []));
  if (!options.json) tell(ports, results, source, packages);
  const isWanted = imported.length > 0 && (await isAgreed(ports, options, imported.length));
  if (isWanted) {
    const refused = await notAdmitted(ports, "mcp import", `servers of ${client}`, options);
    const failed = refused ?? (await apply(ports, imported, options));
    if (failed !== null) {
      for (const { pin } of packages.values()) await releasePackage(ports, pin);
      return failed;
    }
  } else for (const { pin } of packages.values()) await releasePackage(ports, pin);
  report(ports, [client, ...names, ...(options.project ? ["--project"] : [])], results, isWanted, options);
  return EXIT.ok;
}

type FoundServers =
  | { readonly servers: readonly ClientServer[]; readonly files: string }
  | { readonly message: string; readonly fix: string | null };

/** All servers of a client, of the project and of the user. A file that cannot be read is no empty one. */
export function serversOf(
  { clientSettings, workspaceAt }: Pick<ServersPorts, "clientSettings" | "workspaceAt">,
  client: string,
): FoundServers {
  const settings = SERVER_SETTINGS.get(client);
  if (settings === undefined)
    return {
      message: `no servers of ${client} can be imported (${[...SERVER_SETTINGS.keys()].join(", ")})`,
      fix: "ambit mcp import claude",
    };
  const servers: ClientServer[] = [];
  const files: string[] = [];
  for (const one of settings) {
    const file = one.scope === "user" ? `~/${one.path}` : one.path;
    const path = clientSettings.pathOf(one.scope, one.path);
    files.push(file);
    const text = path === null ? null : clientSettings.text(path);
    if (path === null || text === null) continue;
    const value = text.ok ? clientSettings.value(path, []) : undefined;
    if (value === undefined)
      return { message: `${file}: ${text.ok ? "it cannot be parsed" : text.message}`, fix: "fix the file" };
    servers.push(...clientServers(one, value, file, workspaceAt?.() ?? null));
  }
  return { servers, files: files.join(", ") };
}

/** A server whose entry would be invalid is refused alone. */
function converted(
  { servers, reading }: ServersPorts,
  wanted: readonly ClientServer[],
  secrets: ReadonlySet<string>,
  before: Source,
): readonly ImportResult[] {
  const names = new Set(servers.load().servers.map(({ server }) => server.name));
  const taken = new Set(secrets);
  const isTaken = { server: (name: string) => names.has(name), secret: (name: string) => taken.has(name) };
  let source = before;
  return wanted.map((one): ImportResult => {
    const result = importedServer(one, isTaken, reading.toAscii);
    if (!result.ok) return result;
    const edited = withServer(source, result.value, servers.tree);
    const after = edited.ok ? { ...source, text: edited.text } : null;
    const file = after === null ? null : servers.read("user", after);
    const isRead = file?.servers.some(({ name }) => name === result.value.name) === true;
    if (after === null || !isRead) {
      const why = edited.ok ? (file?.diagnostics.at(-1)?.message ?? "its entry would be invalid") : edited.message;
      return { ok: false, name: one.name, file: one.file, why };
    }
    source = after;
    names.add(result.value.name);
    for (const { secret } of result.value.secrets) taken.add(secret);
    return result;
  });
}

/**
 * Servers that the client fetches at each start: each package is fetched now and pinned in its entry. One that cannot be fetched is
 * refused alone. Without a person who could say yes nothing is fetched.
 */
async function withPackages(
  ports: ServersPorts,
  results: readonly ImportResult[],
  before: Source,
  options: ImportServersOptions,
): Promise<{
  readonly results: readonly ImportResult[];
  readonly source: Source;
  readonly packages: ReadonlyMap<string, NewPackage>;
}> {
  const packages = new Map<string, NewPackage>();
  const isAsked = options.yes || (!options.json && ports.terminal.isInteractive);
  const pinned: ImportResult[] = [];
  let source = before;
  for (const result of results) {
    const one = result.ok && isAsked ? await packaged(ports, result.value, packages, options) : result;
    pinned.push(one);
    const edited = one.ok ? withServer(source, one.value, ports.servers.tree) : null;
    if (edited?.ok === true) source = { ...source, text: edited.text };
  }
  return { results: pinned, source, packages };
}

async function packaged(
  ports: ServersPorts,
  value: ImportedServer,
  packages: Map<string, NewPackage>,
  { json, host }: ImportServersOptions,
): Promise<ImportResult> {
  const { endpoint, name } = value;
  const fetching = endpoint.kind === "program" ? packageCommand(endpoint.command) : null;
  if (endpoint.kind !== "program" || fetching?.ok !== true) return { ok: true, value };
  const fetched = await fetchPackage(ports, fetching.value, { json, ...(host === undefined ? {} : { host }) });
  if (!fetched.ok) {
    const why = `its package cannot be fetched: ${fetched.message}${fetched.fix === null ? "" : `; ${fetched.fix}`}`;
    return { ok: false, name: value.from.name, file: value.from.file, why };
  }
  const { command, pin } = fetched.value;
  packages.set(name, fetched.value);
  return { ok: true, value: { ...value, endpoint: { ...endpoint, command, package: pin } } };
}

function withServer(
  source: Source,
  { name, endpoint }: ImportedServer,
  tree: ServersPorts["servers"]["tree"],
): ReturnType<typeof editServers> {
  return editServers(source, { kind: "add", name, server: { endpoint, requires: [] } }, tree);
}

async function isAgreed(
  { terminal }: ServersPorts,
  { yes, json }: ImportServersOptions,
  count: number,
): Promise<boolean> {
  if (yes) return true;
  if (json || !terminal.isInteractive) return false;
  return terminal.confirm(`Add ${count === 1 ? "this server" : `these ${count} servers`}, and store the secrets?`);
}

/** Secrets first: an entry whose secret is not stored would be of no use, a stored secret that nothing names does no harm. */
async function apply(
  ports: ServersPorts,
  imported: readonly ImportedServer[],
  options: ImportServersOptions,
): Promise<ExitCode | null> {
  for (const { name, secrets } of imported)
    for (const { secret, value, host } of secrets) {
      if (value === null) continue;
      const binding = { tools: [serverTool(name)], hosts: host === null ? [] : [host], uses: null };
      const stored = await askOnce(ports, "secrets.set", {
        ...{ name: secret, value, binding, username: null, isCanary: false, isRotation: false, presence: null },
      });
      if (!stored.ok) return tellRefusal(ports, stored, options.json);
    }
  const done = ports.servers.edit("user", (source) => {
    let now: Source = source;
    for (const one of imported) {
      const edited = withServer(now, one, ports.servers.tree);
      if (!edited.ok) return { refusal: edited.message };
      now = { ...now, text: edited.text };
    }
    return { text: now.text };
  });
  if (done.kind === "done") return null;
  return fail(ports, options, EXIT.error, done.kind === "refused" ? done.refusal : done.message, null);
}

function tell(
  ports: ServersPorts,
  results: readonly ImportResult[],
  source: Source,
  packages: ReadonlyMap<string, NewPackage>,
): void {
  const { paint } = ports;
  const entries = ports.servers.read("user", source).servers;
  for (const result of results) {
    if (!result.ok) {
      ports.print(
        `${paint.warn("not imported")}  ${visibleText(result.name)}  ${visibleText(result.file)}\n    ${visibleText(result.why)}`,
      );
      continue;
    }
    const { name, from, secrets, notes } = result.value;
    const entry = entries.find((one) => one.name === name);
    if (entry !== undefined) for (const line of serverLines(entry, paint)) ports.print(line);
    const fetched = packages.get(name);
    if (fetched !== undefined) for (const line of packageLines(fetched, paint)) ports.print(line);
    ports.print(paint.dim(`  from     ${visibleText(from.file)}`));
    for (const { secret, at, value, variable, host } of secrets)
      ports.print(
        value === null
          ? `  ${paint.warn("store it")} ${visibleText(variable === null ? `the client asks you for the ${at}` : `${at} comes from your variable ${variable}`)}: ${setCommand(name, secret, variable, host)}`
          : `  ${paint.strong("stores  ")} the value of the ${visibleText(at)} as the secret ${visibleText(secret)}`,
      );
    for (const note of notes) ports.print(`  note     ${visibleText(note)}`);
  }
}

function setCommand(server: string, secret: string, variable: string | null, host: string | null): string {
  const from = variable === null ? [] : ["--from", `env:${variable}`];
  return commandText([
    "secrets",
    "set",
    secret,
    "--tool",
    serverTool(server),
    ...(host === null ? [] : ["--host", host]),
    ...from,
  ]);
}

function report(
  ports: ServersPorts,
  [client, ...words]: readonly [string, ...string[]],
  results: readonly ImportResult[],
  isWritten: boolean,
  { json }: ImportServersOptions,
): void {
  const imported = results.flatMap((one) => (one.ok ? [one.value] : []));
  if (json) {
    const servers = imported.map(({ name, from, endpoint, secrets, notes }) => ({
      ...{ name, file: from.file, endpoint, notes },
      // Values stay where they are.
      secrets: secrets.map(({ secret, at, variable, host }) => ({ secret, at, variable, host })),
    }));
    const refused = results.flatMap((one) => (one.ok ? [] : [{ name: one.name, file: one.file, why: one.why }]));
    ports.print(jsonLine({ client, servers, refused, isWritten }));
    return;
  }
  if (!isWritten) {
    if (imported.length > 0)
      ports.print(`nothing was changed; to import: ${commandText(["mcp", "import", client, ...words, "--yes"])}`);
    return;
  }
  ports.print(`${ports.paint.good("imported")} ${imported.map(({ name }) => visibleText(name)).join(", ")}`);
  const files = [
    ...new Set(
      imported.filter(({ secrets }) => secrets.some(({ value }) => value !== null)).map(({ from }) => from.file),
    ),
  ];
  for (const file of files) ports.print(`  the values are still in ${visibleText(file)}: remove them there`);
  ports.print(
    ports.paint.dim(`  one server for ${client}: ${commandText(["connect", client, "--agent", "AGENT", "--gateway"])}`),
  );
}
