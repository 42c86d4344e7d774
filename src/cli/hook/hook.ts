// `ambit hook <client>`: a client's question before a tool call, from standard input, and the daemon's answer. The native program
// does the same faster; this command starts the daemon first, where none runs. INVARIANT: every failure blocks the call.
import type { Command } from "commander";
import type { CallCommandPorts } from "../call/call.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";

export interface HookCommandOptions {
  readonly agent: string;
  readonly user?: string;
  readonly in?: string;
  readonly wait?: string;
  readonly sandbox: boolean;
  readonly server?: boolean;
}

const inputBytesMax = 1_000_000;

export async function hook(ports: CallCommandPorts, client: string, options: HookCommandOptions): Promise<ExitCode> {
  const block = (why: string): ExitCode => {
    ports.printError(`ambit: the call is blocked: ${visibleText(why)}`);
    return EXIT.usage;
  };
  const text = await inputText(ports);
  if (text === null) return block("its input is not UTF-8, or larger than 1 MB");
  let isServed = true;
  const connected = await ports.call(
    () => {
      isServed = false;
    },
    { agent: options.agent, tool: client, face: "hook", cwd: ports.cwd },
  );
  if (!connected.ok) return block(`${connected.message}${connected.fix === null ? "" : `; run: ${connected.fix}`}`);
  const parts: Record<1 | 2 | 3, Uint8Array[]> = { 1: [], 2: [], 3: [] };
  const answer = await connected.value.ask(
    "hook.decide",
    { cwd: ports.cwd, words: hookWords(client, options), text },
    {
      onBytes: (channel, bytes) => {
        if (channel === 1 || channel === 2 || channel === 3) parts[channel].push(bytes);
      },
    },
  );
  connected.value.close();
  if (!answer.ok) return block(answer.message);
  const [output, errors, status] = [parts[1], parts[2], parts[3]].map((list) => Buffer.concat(list));
  if (!isServed || status?.length !== 1 || output === undefined || errors === undefined)
    return block("the daemon returned no decision");
  // Printed as the client reads it; the daemon ends each text with a line end, and so does printing.
  if (errors.length > 0) ports.printError(errors.toString("utf8").replace(/\n$/, ""));
  if (output.length > 0) ports.print(output.toString("utf8"));
  if (status[0] === 0) return EXIT.ok;
  return status[0] === EXIT.usage && errors.length > 0 ? EXIT.usage : block("the daemon gave no reason");
}

/** The words that the native program passes on, too. */
export function hookWords(client: string, options: HookCommandOptions): readonly string[] {
  const { agent, user, in: folder, wait, sandbox, server = false } = options;
  return [
    ...[client, agent],
    ...(user === undefined ? [] : ["--user", user]),
    ...(folder === undefined ? [] : ["--in", folder]),
    ...(wait === undefined ? [] : ["--wait", wait]),
    ...(sandbox ? [] : ["--no-sandbox"]),
    ...(server ? ["--server"] : []),
  ];
}

async function inputText(ports: CallCommandPorts): Promise<string | null> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of ports.piped?.() ?? process.stdin) {
    pieces.push(piece as Uint8Array);
    length += (piece as Uint8Array).length;
    if (length > inputBytesMax) return null;
  }
  const bytes = Buffer.concat(pieces);
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? text : null;
}

export function addHook(program: Command, ports: CallCommandPorts, end: (exit: ExitCode) => void): void {
  program
    .command("hook")
    .description("answer a client's hook: decide and log the tool call on standard input")
    .argument("<client>", "claude, codex, opencode, gemini, cursor, copilot or vscode")
    .requiredOption("--agent <agent>", "the agent whose grants decide")
    .option("--user <name>", "act for this user; the user's record, if any, limits the grants further")
    .option("--in <folder>", "the folder whose workspace has the agent; default: the working folder")
    .option("--wait <milliseconds>", "how long to wait for an approval")
    .option("--no-sandbox", "check shell commands and let the client run them, instead of running them in the sandbox")
    .option("--server", "leave tools of ambit's own MCP server, while this client runs it, to that server", false)
    .addHelpText("after", EXAMPLES)
    .action(async (client: string, options: HookCommandOptions) => end(await hook(ports, client, options)));
}

const EXAMPLES = `
Examples:
  echo '{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/project","tool_name":"Read",
    "tool_input":{"file_path":"/project/a.ts"}}' | ambit hook claude --agent coder

Clients run it before each tool call; \`ambit connect\` writes it into their settings. Its input and output are the client's own
JSON, so there is no --json.
Exit status: 0 the output decides, 2 the call is blocked: the reason is on standard error.`;
