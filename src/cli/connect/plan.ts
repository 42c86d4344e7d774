// What `connect` would write: which client and scope, which files, what its settings allow today, and what holds afterwards.
import {
  type ClientConnection,
  CONNECTIONS,
  type ConnectScope,
  connectionOf,
  type SettingsFile,
} from "../../clients/connect/connections.ts";
import { serverFile } from "../../clients/connect/server-entry.ts";
import { dialectOf } from "../../clients/hooks/dialects.ts";
import { PLAIN_PROFILE, profileOfProgram } from "../../clients/profiles.ts";
import { isJsonList, isJsonObject } from "../../core/base/json.ts";
import { nearestName } from "../../core/notation/nearest.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { fail } from "../terminal/problems.ts";
import type { ConnectOptions, ConnectPorts } from "./connect.ts";

export interface PlannedFile {
  readonly path: string;
  readonly file: SettingsFile;
  /** False for one that has our server alone. */
  readonly isHook: boolean;
}

export interface ClientChoice {
  readonly connection: ClientConnection;
  readonly scope: ConnectScope;
}

export function chooseConnection(
  ports: ConnectPorts,
  client: string,
  options: ConnectOptions,
): ClientChoice | ExitCode {
  const connection = connectionOf(client);
  if (connection === null) {
    const names = CONNECTIONS.map((one) => one.client);
    const meant = nearestName(client, names);
    const fix = meant === null ? null : `did you mean ${meant}?`;
    return fail(ports, options, EXIT.usage, `there is no client ${client} (${names.join(", ")})`, fix);
  }
  const scopes = (["project", "user", "managed"] as const).filter((scope) => options[scope] === true);
  const isProject = (ports.workspaceAt?.() ?? null) !== null;
  const [scope = isProject && connection.scopes.includes("project") ? "project" : "user", ...more] = scopes;
  if (more.length > 0) return fail(ports, options, EXIT.usage, "choose one of --project, --user and --managed", null);
  if (!connection.scopes.includes(scope))
    return fail(
      ports,
      options,
      EXIT.usage,
      `${connection.title} has no settings for --${scope}`,
      `--${connection.scopes[0]}`,
    );
  return { connection, scope };
}

/** `server`: the words that start our MCP server; null for the hook alone. `isAlone`: the client's other servers leave its file. Null where there is no such folder. */
export function filesOf(
  ports: ConnectPorts,
  connection: ClientConnection,
  scope: ConnectScope,
  command: string,
  server: readonly string[] | null,
  isAlone = false,
): readonly PlannedFile[] | null {
  const files = new Map<string, PlannedFile>();
  const added = server === null ? null : serverFile(connection.client, scope, server, isAlone);
  for (const file of [...connection.files(scope, command), ...(added === null ? [] : [added])]) {
    const path = ports.clientSettings.pathOf(scope, file.path);
    if (path === null) return null;
    const before = files.get(path);
    files.set(path, before === undefined ? { path, file, isHook: file !== added } : both(before, file));
  }
  return [...files.values()];
}

/** One edit of a file that has the hook and the server. */
function both(planned: PlannedFile, { change: other }: SettingsFile): PlannedFile {
  const { path, file } = planned;
  const one = file.change;
  if (one.kind !== "json" || other.kind !== "json") throw new Error(`${path} has two changes`);
  const elements = [...one.elements, ...other.elements];
  const members = [...one.members, ...other.members];
  return { ...planned, file: { ...file, change: { kind: "json", elements, members } } };
}

/** What the client's own settings let it do now. */
export function rulesToday(
  ports: ConnectPorts,
  { title, rules }: ClientConnection,
  scope: ConnectScope,
): readonly string[] {
  const lines: string[] = [];
  for (const where of scope === "project" ? (["project", "user"] as const) : (["user"] as const))
    for (const { path, at } of rules) {
      const file = ports.clientSettings.pathOf(where, path);
      const value = file === null ? undefined : ports.clientSettings.value(file, at);
      if (value === undefined) continue;
      const members = isJsonObject(value) ? Object.entries(value) : [[at.join("."), value] as const];
      const counted = members.map(
        ([key, one]) =>
          `${key}: ${isJsonList(one) ? `${one.length} ${one.length === 1 ? "rule" : "rules"}` : JSON.stringify(one)}`,
      );
      lines.push(
        `today  ${visibleText(file ?? path)}: ${counted.map((one) => visibleText(one.slice(0, 100))).join(", ")}`,
      );
    }
  return lines.length === 0 ? [`today  ${title}: no rules of its own found; its defaults apply`] : lines;
}

/** Whether `ambit run` has a profile of it. */
export function runsWhole({ programs: [program = ""] }: ClientConnection): boolean {
  return profileOfProgram(program) !== PLAIN_PROFILE;
}

/** What holds each kind of call from now on. */
export function enforcementRows(
  connection: ClientConnection,
  isConfined: boolean,
): readonly { readonly what: string; readonly by: string }[] {
  const { client, isClosed } = connection;
  const open = `nothing: the client may run the tool${runsWhole(connection) ? "; use `ambit run`" : ""}`;
  const isKernel = isConfined && (dialectOf(client)?.rewrites ?? null) !== null;
  return [
    {
      what: "shell commands",
      by: isKernel ? "kernel: they run in the agent's sandbox" : "hook: checked, then run as you",
    },
    { what: "file, web and MCP tools", by: "hook: checked, then run as you" },
    {
      what: "a hook that fails or times out",
      by: isClosed ? "blocks the call" : open,
    },
  ];
}
