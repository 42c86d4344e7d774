// The composition root of the MCP server: its pipes, the daemon, and the user's caveats.
import { realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { readCaveatsToml } from "../agents/disk/caveats.ts";
import { findWorkspace } from "../agents/disk/workspace.ts";
import type { CaveatsFile } from "../cli/mcp/caveats.ts";
import type { McpPorts, McpServeRequest } from "../cli/mcp/mcp.ts";
import { visibleText } from "../cli/terminal/cells.ts";
import { EXIT, type ExitCode } from "../cli/terminal/exit.ts";
import { isTerminal } from "../cli/terminal/output.ts";
import { COLOURS, PLAIN } from "../cli/terminal/paint.ts";
import { VERSION } from "../core/base/version.ts";
import type { Refusal } from "../core/ports/daemon/exchange.ts";
import { daemonClient } from "../daemon/rpc/connect.ts";
import { InboundMessages } from "../mcp/inbound-messages.ts";
import { ListenedResources } from "../mcp/listened-resources.ts";
import { ReconnectingSession } from "../mcp/reconnecting-session.ts";
import { ServerFactory } from "../mcp/server.ts";
import { StdioTransport } from "../mcp/stdio-transport.ts";
import { readTextFile } from "../platform/files.ts";
import { type UserFolders, userFolders } from "../platform/folders.ts";
import { namedFolder } from "../platform/passed-environment.ts";
import { homeFolder } from "../platform/path-settings.ts";
import { outOfReach } from "../platform/path-target.ts";
import { sourceCharactersMax } from "../text/read.ts";
import { WEB_FETCH } from "../tools/web/definition.ts";
import { waitingPageProcess } from "../tools/web/page-process.ts";
import { presentWith } from "../tools/web/present-result.ts";
import { serveHttp } from "./mcp-http.ts";
import { standardInput } from "./mcp-input.ts";
import { clientLevel, isClientGone } from "./mcp-parent.ts";

/** How long a headless client waits for a person, unless `--wait` says otherwise. */
const promptMilliseconds = 600_000;

export interface McpMachine {
  readonly cwd: string;
  readonly colour: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder of our own package. */
  readonly program: string;
  printError(text: string): void;
}

export function composeMcp(machine: McpMachine): McpPorts {
  const { cwd, environment, printError } = machine;
  const home = homeFolder();
  const folders = userFolders({ environment, home, workspace: findWorkspace(cwd) });
  const paint = machine.colour ? COLOURS : PLAIN;
  return {
    cwd,
    paint,
    printError,
    folderAt: (path) => folderAt(resolve(cwd, path)),
    caveats: () => ({
      environment: environment["AMBIT_CAVEATS"] ?? null,
      otherEnvironment: environment["AGENT_BRIDLE_CAVEATS"] ?? null,
      file: folders.config === null ? null : caveatsFile(join(folders.config, "caveats.toml")),
      otherFile: home === null ? null : caveatsFile(join(home, ".agent-bridle", "config.toml")),
    }),
    serveHttp: (served) => serveHttp(served, { home, folders, program: machine.program, printError }),
    serveMcp: (served) => serveMcp(machine, home, folders, served, (text) => printError(`ambit: ${visibleText(text)}`)),
  };
}

async function serveMcp(
  { program, environment, printError }: McpMachine,
  home: string | null,
  folders: UserFolders,
  { opening, waitMilliseconds, isPrompting = false }: McpServeRequest,
  note: (text: string) => void,
): Promise<ExitCode> {
  const parent = process.ppid;
  const level = opening.caveats === null ? clientLevel(parent) : 0;
  const daemon = daemonClient({ home, folders, program, isPresenceNeeded: () => false });
  const present = presentWith(waitingPageProcess(join(program, "dist", "page.cjs")));
  let isServed = true;
  const session = new ReconnectingSession({
    opening: {
      ...opening,
      trace: null,
      face: "mcp",
      token: null,
      environment: namedFolder(environment),
      // A client without an agent is unknown: only the tools it is served limit it.
      isForParent: level > 0,
      level,
    },
    waitMilliseconds,
    connect: async (lost) => {
      const connected = await daemon.call(lost);
      isServed = connected.ok;
      return connected;
    },
    onUnserved: (tool, refusal) => {
      const about = { agent: opening.agent, tool, face: "mcp", cwd: opening.cwd };
      // The daemon has logged its own refusals.
      if (!isServed) daemon.refused(about, refusal);
    },
    // Most results are shown unchanged and need no page process.
    present: (tool, input, result) => (tool === WEB_FETCH ? present(tool, input, result) : result),
    note,
  });
  if (isTerminal(0)) note("an MCP client starts this command and speaks to it over standard input: ambit mcp --help");
  let exit: ExitCode = EXIT.ok;
  // Requested before anything else is loaded, so that the daemon works meanwhile.
  const first = session.open();
  const inbound = new InboundMessages();
  const transport = new StdioTransport({
    openInput: standardInput,
    output: process.stdout,
    inbound,
    listened: new ListenedResources(session, {
      follow: () => servers.follow(),
      changed: (uri) => servers.resourceChanged(uri),
    }),
    isClientGone: () => isClientGone(parent),
  });
  const servers = new ServerFactory({
    identity: { name: "ambit", version: VERSION },
    session,
    callProblem: (id) => inbound.callProblem(id),
    prompt: isPrompting
      ? {
          agent: opening.agent,
          user: opening.user,
          cwd: opening.cwd,
          waitMilliseconds: waitMilliseconds || promptMilliseconds,
        }
      : null,
  });
  const closed = new Promise<void>((over) => {
    serveStdio(({ era }) => servers.create(era), { transport });
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      over();
    };
  });
  void first.then((opened) => {
    if (opened.ok) return;
    exit = tellRefusal(printError, opened);
    transport.finish();
  });
  await closed;
  servers.stop();
  // A missing agent is reported even if the client requests nothing.
  await first;
  session.close();
  return exit;
}

/** The server could never serve anything; later refusals are reported to the caller of a tool. */
function tellRefusal(printError: (text: string) => void, { code, message, fix }: Refusal): ExitCode {
  printError(`error: ${code}: ${visibleText(message)}${fix === null ? "" : `\n  fix: ${visibleText(fix)}`}`);
  return code === "unknown_agent" || code === "invalid_input" ? EXIT.error : EXIT.daemon;
}

function folderAt(path: string): string | null {
  try {
    const real = realpathSync(path);
    return statSync(real).isDirectory() ? real : null;
  } catch {
    return null;
  }
}

function caveatsFile(path: string): CaveatsFile | null {
  const content = readTextFile(path, sourceCharactersMax);
  if (!content.ok) {
    const problem = content.code === "not_found" ? outOfReach(path) : content.message;
    return problem === null ? null : { name: path, text: null, problem: `${path} ${problem}` };
  }
  return readCaveatsToml({ name: path, text: content.text });
}
