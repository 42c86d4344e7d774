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

export interface McpWorld {
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

export async function serve(world: McpWorld, options: McpServeOptions): Promise<ExitCode> {
  const wait = Number(options.wait ?? 0);
  if (!(wait >= 0 && wait <= waitSecondsMax))
    return usage(world, `--wait must be a number of seconds, at most ${waitSecondsMax}`, "--wait 60");
  const cwd = options.in === undefined ? world.cwd : world.folderAt(options.in);
  if (cwd === null) return usage(world, `no folder ${JSON.stringify(options.in)}`, "--in /a/folder");
  const { agent, unconfined } = options;
  if (unconfined && agent !== undefined) return usage(world, "--agent and --unconfined cannot be combined", null);
  const caveats = agent !== undefined ? null : broughtCaveats(world, unconfined);
  if (agent === undefined && caveats === null) return EXIT.usage;
  return world.serveMcp({
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
function broughtCaveats(world: McpWorld, isUnconfined: boolean): string | null {
  const { paint } = world;
  const sources = world.caveats();
  const variable = sources.environment !== null ? "AMBIT_CAVEATS" : "AGENT_BRIDLE_CAVEATS";
  if (isUnconfined && (sources.environment ?? sources.otherEnvironment) !== null) {
    usage(world, `${variable} and --unconfined contradict each other: use only one`, `unset ${variable}`);
    return null;
  }
  if (isUnconfined) {
    world.printError(
      `${paint.bad("WARNING")}: running UNCONFINED: every client of this server can do whatever your user may do with ambit\n` +
        "  fix: ambit mcp serve --agent <id>, or set AMBIT_CAVEATS",
    );
    return UNCONFINED;
  }
  const { text, source, problem, hint } = chosenCaveats(sources);
  if (problem !== null) world.printError(`${paint.warn("warning")}: ${shown(problem)}: everything is denied`);
  if (source === null) world.printError("  fix: ambit mcp serve --agent <id>, or set AMBIT_CAVEATS");
  else world.printError(`ambit: no agent named; grants come from ${shown(source)}`);
  if (hint !== null) world.printError(`  hint: ${shown(hint)}`);
  return text;
}

function usage(world: McpWorld, message: string, fix: string | null): ExitCode {
  const hint = fix === null ? "" : `\n  fix: ${shown(fix)}`;
  world.printError(`${world.paint.bad("error")}: ${shown(message)}${hint}`);
  return EXIT.usage;
}
