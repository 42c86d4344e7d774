// `ambit init`: looks at what the project has, writes a first agent, and leads to a first `can`.

import { agentPath, firstRequest, STARTERS, type Starter, starterFiles } from "../../agents/schema/starter.ts";
import type { Failure } from "../../core/base/result.ts";
import { nearestName } from "../../core/notation/nearest.ts";
import { newestPreset } from "../../core/notation/record/presets.ts";
import type { Surroundings } from "../../core/ports/surroundings.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail } from "../terminal/problems.ts";
import { type AdmitPorts, notAdmitted } from "../trust/admit.ts";

export interface InitOptions {
  readonly yes: boolean;
  readonly json: boolean;
  /** Also connect every client that was found, without a question. */
  readonly connect?: boolean;
  /** One name or several, split at commas. */
  readonly preset?: string | undefined;
}

export interface InitPorts extends AdmitPorts {
  /** Whether a person can be asked. */
  readonly isTerminal: boolean;
  /** The folder to begin in: the workspace around here, else the working directory. Null for a home folder or `/`. */
  readonly project: string | null;
  /** Whether there is an `.ambit` here already. */
  readonly isWorkspace: boolean;
  look(): Surroundings;
  /** Writes a file that is not there yet; the path is relative to the project. */
  write(path: string, text: string): InitFileResult;
  /** Keeps that the person who wrote these files trusts them; false where that could not be kept. */
  trust(): boolean;
}

/** What became of one client. */
export type ConnectOutcome = "connected" | "declined" | "failed";

/** Shows what connecting the client would change, asks unless `isAgreed`, and does it. */
export type ConnectClient = (client: string, agent: string, isAgreed: boolean) => Promise<ConnectOutcome>;

/** The same command, without the question. */
function initFix({ preset }: InitOptions): string {
  return preset === undefined ? "ambit init --yes" : `ambit init --yes --preset ${preset}`;
}

export type InitFileResult = { readonly ok: true; readonly kind: "written" | "kept" } | Failure;

export const INIT_EXAMPLES: string = `
Examples:
  ambit init                          detects the project and asks which agents to create
  ambit init --yes                    creates a reader without asking
  ambit init --yes --preset coder     an agent that reads and writes, and asks before it runs other programs
  ambit init --yes --preset coder --connect   also connects each agent client that was found
  ambit init --yes --preset reader,researcher --json

Existing files are never overwritten. On a terminal it asks for each client whether to connect it, after it has shown what would change.
Exit status: 0 done, 1 a file could not be written or a client not connected, 2 usage.`;

export async function init(ports: InitPorts, options: InitOptions, connect: ConnectClient): Promise<ExitCode> {
  const { project } = ports;
  if (project === null)
    return fail(
      ports,
      options,
      EXIT.usage,
      "this folder is too broad to be an agent's root",
      "cd into a project first",
    );
  const named = readNames(options.preset);
  if (!named.ok) return fail(ports, options, EXIT.usage, named.message, named.fix);
  const found = ports.look();
  const chosen = await choose(ports, options, named.names, found);
  if (chosen === "no terminal") return fail(ports, options, EXIT.usage, "no terminal to ask at", initFix(options));
  if (chosen === null) {
    ports.print("nothing was written");
    return EXIT.ok;
  }
  const refused = await notAdmitted(ports, "init", project, options);
  return refused ?? (await write(ports, options, { chosen, found }, connect));
}

type Names =
  | { readonly ok: true; readonly names: readonly Starter[] }
  | { readonly ok: false; readonly message: string; readonly fix: string };

function readNames(preset: string | undefined): Names {
  const words = preset === undefined ? [] : preset.split(",").map((word) => starterName(word.trim()));
  const known = STARTERS.map(({ name }) => name);
  const strange = words.find((word) => !known.some((name) => name === word));
  if (strange === undefined) return { ok: true, names: known.filter((name) => words.includes(name)) };
  const meant = nearestName(strange.replace(/^ambit:|@\d+$/g, ""), known);
  const fix = `--preset ${meant ?? known.join(",")}`;
  return { ok: false, message: `no preset called ${JSON.stringify(strange.slice(0, 80))}`, fix };
}

/** `coder` for `ambit:coder@2`. An older version stays as it is, and is refused: `init` writes the newest one. */
function starterName(word: string): string {
  const name = word.replace(/^ambit:|@\d+$/g, "");
  return word === newestPreset(name) ? name : word;
}

/** The narrowest preset by default. */
const DEFAULT: readonly Starter[] = ["reader"];

async function choose(
  ports: InitPorts,
  options: InitOptions,
  names: readonly Starter[],
  found: Surroundings,
): Promise<readonly Starter[] | "no terminal" | null> {
  if (options.yes) return names.length > 0 ? names : DEFAULT;
  if (!ports.isTerminal || options.json) return "no terminal";
  const { askStarters } = await import("./prompts.ts");
  return askStarters(foundLines(found), names.length > 0 ? names : DEFAULT);
}

interface Outcome {
  readonly path: string;
  readonly result: InitFileResult;
}

async function write(
  ports: InitPorts,
  options: InitOptions,
  { chosen, found }: { readonly chosen: readonly Starter[]; readonly found: Surroundings },
  connect: ConnectClient,
): Promise<ExitCode> {
  const outcomes: readonly Outcome[] = starterFiles(chosen, found).map(({ path, text }) => ({
    path,
    result: ports.write(path, text),
  }));
  const failed = outcomes.flatMap(({ path, result }) => (result.ok ? [] : [`${path} ${result.message}`]));
  const of = (kind: "written" | "kept"): readonly string[] =>
    outcomes.flatMap(({ path, result }) => (result.ok && result.kind === kind ? [path] : []));
  // Only what this person has just had written is theirs; what lay here before is read and trusted by `ambit trust`.
  const isOwn = !ports.isWorkspace && failed.length === 0 && of("kept").length === 0;
  const trusted = isOwn && ports.trust();
  const name = chosen[0] ?? "reader";
  // A client that edits and runs programs gets the agent that may.
  const agent = chosen.includes("coder") ? "coder" : name;
  const clients = found.clients.map(({ client }) => client);
  const canAsk = ports.isTerminal && !options.json && !options.yes;
  const isOffered = trusted && clients.length > 0 && (options.connect === true || canAsk);
  if (!options.json) printFiles(ports, { found, written: of("written"), kept: of("kept"), failed });
  const connected = new Map<string, ConnectOutcome>();
  if (isOffered)
    for (const client of clients) connected.set(client, await connect(client, agent, options.connect === true));
  const next = [
    ...(trusted ? [] : ["ambit trust"]),
    `ambit can ${name} ${firstRequest(name, found)}`,
    // Clients that were found, under the same grants.
    ...clients.flatMap((client) =>
      connected.get(client) === "connected" ? [] : [`ambit connect ${client} --agent ${agent}`],
    ),
  ];
  if (options.json)
    ports.print(
      jsonLine({
        ...{ project: ports.project, found, written: of("written"), kept: of("kept"), failed, trusted },
        ...{ connected: Object.fromEntries(connected), next },
      }),
    );
  else {
    const { paint } = ports;
    ports.print(`\nNow try:\n${next.map((line) => `  ${paint.strong(visibleText(line))}`).join("\n")}`);
  }
  return failed.length > 0 || [...connected.values()].includes("failed") ? EXIT.error : EXIT.ok;
}

interface FilesResult {
  readonly found: Surroundings;
  readonly written: readonly string[];
  readonly kept: readonly string[];
  readonly failed: readonly string[];
}

function printFiles(ports: InitPorts, { found, written, kept, failed }: FilesResult): void {
  const { paint } = ports;
  for (const line of foundLines(found)) ports.print(paint.dim(visibleText(line)));
  for (const path of written) {
    const starter = STARTERS.find(({ name }) => path === agentPath(name));
    ports.print(`${paint.good("wrote")} ${path}${starter === undefined ? "" : `  ${paint.dim(starter.does)}`}`);
  }
  for (const path of kept) ports.print(`${paint.warn("kept")}  ${path}  ${paint.dim("(already exists)")}`);
  for (const message of failed) ports.printError(`${paint.bad("error")}: ${visibleText(message)}`);
}

/** What was found, one line a kind. */
function foundLines({ clients, servers, toolchains, isGit }: Surroundings): readonly string[] {
  const names = clients.map(({ client }) => client);
  const tools = toolchains.map(({ name, keeper }) => (keeper === null ? name : `${name} (${keeper.name})`));
  return [
    ...(names.length === 0 ? [] : [`found agent clients: ${names.join(", ")}`]),
    ...(servers.length === 0 ? [] : [`found MCP servers: ${servers.map(({ name }) => name).join(", ")}`]),
    ...(tools.length === 0 ? [] : [`found toolchains: ${tools.join(", ")}`]),
    ...(isGit ? [] : ["not a git repository: changes of these files will not be visible in a history"]),
  ];
}
