// `ambit mcp serve`: an agent's tools for a client of the Model Context Protocol, over its pipes.
import type { OpenSessionRequest } from "../../core/ports/daemon/daemon-calls.ts";
import { shown } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import type { Paint } from "../terminal/paint.ts";
import { type CaveatsSources, chosenCaveats, UNCONFINED } from "./caveats.ts";

/** What is served, as it was asked for on the command line. */
export interface McpServed {
  readonly opening: Pick<OpenSessionRequest, "agent" | "user" | "pledge" | "cwd"> & { readonly caveats: string | null };
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
  serveMcp(served: McpServed): Promise<ExitCode>;
}

export interface McpServeOptions {
  readonly agent?: string;
  readonly user?: string;
  readonly pledge?: readonly string[];
  readonly wait?: string;
  readonly in?: string;
  readonly unconfined: boolean;
}

const waitSecondsMax = 86_400;

export async function serve(ports: McpPorts, options: McpServeOptions): Promise<ExitCode> {
  const wait = Number(options.wait ?? 0);
  if (!(wait >= 0 && wait <= waitSecondsMax))
    return usage(ports, `--wait must be a number of seconds, at most ${waitSecondsMax}`, "--wait 60");
  const cwd = options.in === undefined ? ports.cwd : ports.folderAt(options.in);
  if (cwd === null) return usage(ports, `no folder ${JSON.stringify(options.in)}`, "--in /a/folder");
  const { agent, unconfined } = options;
  if (unconfined && agent !== undefined) return usage(ports, "--agent and --unconfined cannot be combined", null);
  const caveats = agent !== undefined ? null : broughtCaveats(ports, unconfined);
  if (agent === undefined && caveats === null) return EXIT.usage;
  return ports.serveMcp({
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

/** Null where it is not clear what is meant; that is told. */
function broughtCaveats(ports: McpPorts, isUnconfined: boolean): string | null {
  const { paint } = ports;
  const sources = ports.caveats();
  const variable = sources.environment !== null ? "AMBIT_CAVEATS" : "AGENT_BRIDLE_CAVEATS";
  if (isUnconfined && (sources.environment ?? sources.otherEnvironment) !== null) {
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
  if (problem !== null) ports.printError(`${paint.warn("warning")}: ${shown(problem)}: everything is denied`);
  if (source === null) ports.printError("  fix: ambit mcp serve --agent <id>, or set AMBIT_CAVEATS");
  else ports.printError(`ambit: no agent named; grants come from ${shown(source)}`);
  if (hint !== null) ports.printError(`  hint: ${shown(hint)}`);
  return text;
}

function usage(ports: McpPorts, message: string, fix: string | null): ExitCode {
  const hint = fix === null ? "" : `\n  fix: ${shown(fix)}`;
  ports.printError(`${ports.paint.bad("error")}: ${shown(message)}${hint}`);
  return EXIT.usage;
}
