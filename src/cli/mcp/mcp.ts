// `ambit mcp serve`: an agent's tools for a client of the Model Context Protocol, over its pipes, or for many over HTTP.
import type { OpenSessionRequest } from "../../core/ports/daemon/daemon-calls.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import type { Paint } from "../terminal/paint.ts";
import { type CaveatsSources, chosenCaveats, UNCONFINED } from "./caveats.ts";

/** What is served, as it was asked for on the command line. */
export interface McpServeRequest {
  readonly opening: Pick<OpenSessionRequest, "agent" | "user" | "pledge" | "cwd"> & { readonly caveats: string | null };
  readonly waitMilliseconds: number;
  /** Also the tool for Claude Code's `--permission-prompt-tool`. */
  readonly isPrompting?: boolean;
}

/** What is served over HTTP: the agent and its folder are those of each client's token. */
export interface McpHttpRequest {
  readonly host: string;
  readonly port: number;
  readonly pledge: readonly string[] | null;
  readonly waitMilliseconds: number;
}

export interface McpPorts {
  readonly cwd: string;
  readonly paint: Paint;
  /** Nothing but the protocol goes to the output: everything for people goes here. */
  printError(text: string): void;
  /** An absolute path of a folder that is there; null where there is none. */
  folderAt(path: string): string | null;
  caveats(): CaveatsSources;
  /** Until the client is gone. */
  serveMcp(served: McpServeRequest): Promise<ExitCode>;
  /** Until a signal ends it. */
  serveHttp(served: McpHttpRequest): Promise<ExitCode>;
}

export interface McpServeOptions {
  readonly agent?: string;
  readonly user?: string;
  readonly pledge?: readonly string[];
  readonly wait?: string;
  readonly in?: string;
  readonly unconfined: boolean;
  readonly http?: string;
  readonly promptTool?: boolean;
}

const waitSecondsMax = 86_400;
const portMax = 65_535;

export async function serve(ports: McpPorts, options: McpServeOptions): Promise<ExitCode> {
  const wait = Number(options.wait ?? 0);
  if (!(wait >= 0 && wait <= waitSecondsMax))
    return usage(ports, `--wait must be a number of seconds, at most ${waitSecondsMax}`, "--wait 60");
  if (options.http !== undefined) return serveHttp(ports, options, options.http, Math.ceil(wait * 1000));
  const cwd = options.in === undefined ? ports.cwd : ports.folderAt(options.in);
  if (cwd === null) return usage(ports, `no folder ${JSON.stringify(options.in)}`, "--in /a/folder");
  const { agent, unconfined } = options;
  if (unconfined && agent !== undefined) return usage(ports, "--agent and --unconfined cannot be combined", null);
  const caveats = agent !== undefined ? null : broughtCaveats(ports, unconfined);
  if (agent === undefined && caveats === null) return EXIT.usage;
  const variable = agent === undefined ? null : caveatsVariable(ports.caveats());
  if (variable !== null)
    ports.printError(`ambit: ${variable} has no effect beside --agent: grants come from the record`);
  if (options.promptTool === true && agent === undefined)
    return usage(ports, "--prompt-tool needs the agent whose grants decide", "--agent coder");
  if (options.promptTool === true && options.pledge !== undefined)
    return usage(ports, "--prompt-tool answers by the whole record: it cannot be combined with --pledge", null);
  return ports.serveMcp({
    isPrompting: options.promptTool === true,
    opening: {
      cwd,
      agent: agent ?? "anonymous",
      user: options.user ?? null,
      pledge: options.pledge ?? null,
      caveats,
    },
    waitMilliseconds: Math.ceil(wait * 1000),
  });
}

async function serveHttp(
  ports: McpPorts,
  { agent, user, in: folder, unconfined, pledge }: McpServeOptions,
  address: string,
  waitMilliseconds: number,
): Promise<ExitCode> {
  const given = agent !== undefined || user !== undefined || folder !== undefined || unconfined;
  if (given)
    return usage(
      ports,
      "--http takes the agent, the user and the folder from each client's token",
      "ambit tokens add AGENT && ambit mcp serve --http 127.0.0.1:8484",
    );
  const [, host = "", port = ""] = /^(localhost|127\.0\.0\.1|\[::1\]):(\d{1,5})$/.exec(address) ?? [];
  if (host === "" || Number(port) > portMax)
    return usage(
      ports,
      "--http must be a loopback address and a port: tokens are sent unencrypted",
      "--http 127.0.0.1:8484",
    );
  const name = host === "[::1]" ? "::1" : host;
  return ports.serveHttp({ host: name, port: Number(port), pledge: pledge ?? null, waitMilliseconds });
}

/** The variable with Caveats that is set; null if none is. */
function caveatsVariable({ environment, otherEnvironment }: ReturnType<McpPorts["caveats"]>): string | null {
  if (environment !== null) return "AMBIT_CAVEATS";
  return otherEnvironment === null ? null : "AGENT_BRIDLE_CAVEATS";
}

/** Null where it is not clear what is meant; that is told. */
function broughtCaveats(ports: McpPorts, isUnconfined: boolean): string | null {
  const { paint } = ports;
  const sources = ports.caveats();
  const variable = caveatsVariable(sources);
  if (isUnconfined && variable !== null) {
    usage(ports, `${variable} and --unconfined contradict each other: use only one`, `unset ${variable}`);
    return null;
  }
  if (isUnconfined) {
    ports.printError(
      `${paint.bad("WARNING")}: running UNCONFINED: every client of this server can do whatever your user may do with ambit\n` +
        "  fix: ambit mcp serve --agent <id>, or set AMBIT_CAVEATS",
    );
    return UNCONFINED;
  }
  const { text, source, problem, hint } = chosenCaveats(sources);
  if (problem !== null) ports.printError(`${paint.warn("warning")}: ${visibleText(problem)}: everything is denied`);
  if (source === null) ports.printError("  fix: ambit mcp serve --agent <id>, or set AMBIT_CAVEATS");
  else ports.printError(`ambit: no agent named; grants come from ${visibleText(source)}`);
  if (hint !== null) ports.printError(`  hint: ${visibleText(hint)}`);
  return text;
}

function usage(ports: McpPorts, message: string, fix: string | null): ExitCode {
  const hint = fix === null ? "" : `\n  fix: ${visibleText(fix)}`;
  ports.printError(`${ports.paint.bad("error")}: ${visibleText(message)}${hint}`);
  return EXIT.usage;
}
