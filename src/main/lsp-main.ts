// The program behind `ambit lsp`: the language server on standard input and output. The starter in `bin` calls `start`.
import { extname, join, relative } from "node:path";
import { Command, CommanderError } from "commander";
import { createConnection, StreamMessageReader, StreamMessageWriter } from "vscode-languageserver/node.js";
import { agentOf, configOf } from "../agents/disk/agent-text.ts";
import { commandContext } from "../agents/disk/command-context.ts";
import { findWorkspace } from "../agents/disk/workspace.ts";
import { agentNameOf, CONFIG_PATH } from "../agents/project/project.ts";
import { addLsp } from "../cli/lsp/command.ts";
import { EXIT, type ExitCode } from "../cli/terminal/exit.ts";
import { type FileReader, serveEditor } from "../lsp/server.ts";

export async function start(argv: readonly string[]): Promise<void> {
  process.exitCode = EXIT.error;
  const program = new Command("ambit").exitOverride();
  addLsp(program, serve, (exit) => {
    process.exitCode = exit;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}

/** The library ends the process: with 0 after `shutdown` and `exit`, with 1 where the connection breaks before. */
function serve(): Promise<ExitCode> {
  const connection = createConnection(new StreamMessageReader(process.stdin), new StreamMessageWriter(process.stdout));
  // What is logged must not become a message of the protocol.
  console.log = console.error;
  serveEditor(connection, fileReader());
  return new Promise(() => undefined);
}

/** Reads a text as the commands read the file at its path. Each time anew: the machine and the clock change. */
function fileReader(): FileReader {
  return (path, text) => {
    const workspace = findWorkspace(path);
    const { folders, moment, readingAt } = commandContext({
      cwd: workspace ?? "/",
      now: Date.now(),
      environment: process.env,
    });
    const source = { name: path, text };
    const own = ({ diagnostics }: ReturnType<typeof configOf>) =>
      diagnostics.filter(({ span }) => span.source === path);
    if (folders.config !== null && path === join(folders.config, "config.yml"))
      return own(configOf(source, "user", readingAt(workspace ?? "/")));
    if (workspace === null) return null;
    const inside = relative(workspace, path);
    if (inside === CONFIG_PATH) return own(configOf(source, "project", readingAt(workspace)));
    const name = agentNameOf(inside);
    if (name === null) return null;
    const { diagnostics } = agentOf(source, name, extname(path), readingAt(workspace), moment);
    return diagnostics.filter(({ span }) => span.source === path);
  };
}
