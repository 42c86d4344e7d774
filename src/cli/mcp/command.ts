// The words of `ambit mcp`, and its help.
import type { Command } from "commander";
import { SERVER_SETTINGS } from "../../clients/servers/client-servers.ts";
import type { ExitCode } from "../terminal/exit.ts";
import type { JsonOption } from "../terminal/problems.ts";
import { type AddOptions, mcpAdd, mcpRemove, mcpSwitch, type ServerEditOptions } from "./edit.ts";
import { type ImportServersOptions, mcpImport } from "./import.ts";
import { mcpCheck, mcpList, mcpPin, mcpShow, type PinOptions } from "./list.ts";
import { type LoginOptions, mcpLogin, mcpLogout } from "./login.ts";
import { type MapOptions, mcpMap } from "./map.ts";
import type { McpServeOptions } from "./mcp.ts";
import { type FetchOptions, mcpFetch, mcpUpdate, type UpdateOptions } from "./packages.ts";
import type { ServersPorts } from "./ports.ts";

const JSON_TEXT = "print one JSON object";
const USER_TEXT = "in your own mcp.yml, for every project";
const REGISTRY_TEXT = "the package registry, for commands such as `npx` and `uvx`; default: that of your npm or pip";
const HOST_TEXT = "other hosts that store the registry's files; the registry's own host needs no option";
const SCRIPTS_TEXT = "run the install scripts of its packages, in a sandbox without network";
const YES_TEXT = "do not ask for confirmation";

/** `serve` is another program's: what it loads, no other command has to. */
export function addMcp(
  program: Command,
  serve: (options: McpServeOptions) => Promise<ExitCode>,
  end: (exit: ExitCode) => void,
  servers: { readonly ports: ServersPorts; readonly behind: readonly string[] } | null = null,
): void {
  const mcp = program
    .command("mcp")
    .description("serve tools to clients of the Model Context Protocol, and manage the servers behind them");
  const serving = mcp
    .command("serve")
    .description("serve an agent's tools over standard input and output, or over HTTP")
    .option("--agent <id>", "an id in .ambit/agents, a file, or an agent created by another agent")
    .option("--user <name>", "act for this user; the user's record, if any, limits the grants further")
    .option("--pledge <specs...>", "limit the grants of this session to these specs")
    .option("--wait <seconds>", "how long a call waits if it needs approval")
    .option(
      "--in <folder>",
      "the working folder, used to find the workspace and resolve relative paths; default: this one",
    )
    .option(
      "--unconfined",
      "if neither an agent nor caveats are given, grant everything that Caveats can express, within your ceiling",
      false,
    )
    .option("--prompt-tool", "also serve the tool for Claude Code's --permission-prompt-tool", false)
    .option(
      "--http <address>",
      "serve many clients over HTTP, at a loopback address; each presents a token (ambit tokens)",
    )
    .action(async (options: McpServeOptions) => end(await serve(options)));
  if (servers !== null) addServers(mcp, servers.ports, servers.behind, end);
  for (const one of [mcp, serving]) one.addHelpText("after", SERVE_EXAMPLES);
}

function addServers(mcp: Command, ports: ServersPorts, behind: readonly string[], end: (exit: ExitCode) => void): void {
  const added = [
    mcp
      .command("add")
      .description("add a server: a program in a sandbox of its own, whose command follows `--`, or an address")
      .argument("<name>", "lower-case letters, digits and -")
      .option("--requires <specs...>", "what its sandbox reaches: fs.read, fs.write, fs.delete, net.connect")
      .option("--runtime <folders...>", "folders with its programs and libraries, read-only")
      .option("--env <variables...>", "NAME=VALUE; nothing else of your environment is passed on")
      .option("--reveal <variables...>", "NAME=SECRET; with --user: the program gets the value of a stored secret")
      .option("--url <address>", "a server over HTTP; only its host is reached, through the broker")
      .option("--header <lines...>", "NAME: VALUE, sent with --url; {{secret:name}} stands for a stored secret")
      .option("--asks <kinds...>", "elicitation, sampling: what it may ask for during a call, where a grant allows it")
      .option("--registry <address>", REGISTRY_TEXT)
      .option("--host <hosts...>", HOST_TEXT)
      .option("--run-scripts", SCRIPTS_TEXT, false)
      .option("--user", USER_TEXT, false)
      .option("--yes", YES_TEXT, false)
      .option("--json", JSON_TEXT, false)
      .action(async (name: string, options: AddOptions) => end(await mcpAdd(ports, name, behind, options))),
    mcp
      .command("fetch")
      .description(
        "fetch the packages that servers are pinned to, and pin packages of commands such as `npx` and `uvx`",
      )
      .argument("[names...]", "default: all servers")
      .option("--registry <address>", REGISTRY_TEXT)
      .option("--host <hosts...>", HOST_TEXT)
      .option("--run-scripts", SCRIPTS_TEXT, false)
      .option("--yes", YES_TEXT, false)
      .option("--json", JSON_TEXT, false)
      .action(async (names: readonly string[], options: FetchOptions) => end(await mcpFetch(ports, names, options))),
    mcp
      .command("update")
      .description("fetch another version of a server's package, show the change, and pin it")
      .argument("<name>")
      .option("--to <version>", "a version, a range or a tag; default: latest")
      .option("--registry <address>", REGISTRY_TEXT)
      .option("--host <hosts...>", HOST_TEXT)
      .option("--run-scripts", SCRIPTS_TEXT, false)
      .option("--yes", YES_TEXT, false)
      .option("--json", JSON_TEXT, false)
      .action(async (name: string, options: UpdateOptions) => end(await mcpUpdate(ports, name, options))),
    mcp
      .command("list")
      .description("list servers, what each reaches, and whether it is in effect")
      .option("--json", JSON_TEXT, false)
      .action(async (options: JsonOption) => end(await mcpList(ports, options))),
    mcp
      .command("show")
      .description("start a server in its sandbox and show its tools, and what changed since it was pinned")
      .argument("<name>")
      .option("--json", JSON_TEXT, false)
      .action(async (name: string, options: JsonOption) => end(await mcpShow(ports, name, options))),
    mcp
      .command("login")
      .description("sign in at a server at an address, in your browser; its tokens are stored as secrets")
      .argument("<name>")
      .option("--host <hosts...>", "additional hosts that the sign-in may reach without confirmation")
      .option(
        "--client-id <id>",
        "a client that you registered at the authorization server; default: ambit registers one",
      )
      .option(
        "--client-secret-from <source>",
        "the secret of that client: env:NAME, file:PATH, or - for standard input; it is stored as a secret",
      )
      .option("--no-browser", "the browser is on another machine: paste the address that it shows at the end")
      .option("--presence <name>", "confirm as this person, if presence is required")
      .option("--json", JSON_TEXT, false)
      .action(async (name: string, options: LoginOptions) => end(await mcpLogin(ports, name, options))),
    mcp
      .command("logout")
      .description("delete the tokens of a sign-in, and revoke them where the authorization server can")
      .argument("<name>")
      .option("--json", JSON_TEXT, false)
      .action(async (name: string, options: JsonOption) => end(await mcpLogout(ports, name, options))),
    mcp
      .command("pin")
      .description("accept the current description of a server")
      .argument("<name>")
      .option("--yes", YES_TEXT, false)
      .option("--presence <name>", "confirm as this person, if presence is required")
      .option("--json", JSON_TEXT, false)
      .action(async (name: string, options: PinOptions) => end(await mcpPin(ports, name, options))),
    mcp
      .command("map")
      .description("show a tool's schema, its argument map or a proposal, and the requests it derives from examples")
      .argument("<server>")
      .argument("<tool>", "as the server calls it")
      .option("--map <text>", "try this map in place of the one in effect")
      .option("--example <json...>", "arguments to try the map with")
      .option("--json", JSON_TEXT, false)
      .action(async (server: string, tool: string, options: MapOptions) =>
        end(await mcpMap(ports, server, tool, options)),
      ),
    mcp
      .command("import")
      .description("add the servers of a client to your own mcp.yml, and store their credentials as secrets")
      .argument("<client>", [...SERVER_SETTINGS.keys()].join(", "))
      .argument("[servers...]", "as the client calls them; default: all of your own settings")
      .option("--project", "also the servers of this project's settings, which become yours for every project", false)
      .option("--host <hosts...>", HOST_TEXT)
      .option("--yes", YES_TEXT, false)
      .option("--json", JSON_TEXT, false)
      .action(async (client: string, names: readonly string[], options: ImportServersOptions) =>
        end(await mcpImport(ports, client, names, options)),
      ),
    mcp
      .command("check")
      .description("check both files, and show the position of every error")
      .option("--json", JSON_TEXT, false)
      .action((options: JsonOption) => end(mcpCheck(ports, options))),
    edits(
      mcp.command("remove").description("remove a server from its file, with its pin, its sign-in and its package"),
    ).action(async (name: string, options: ServerEditOptions) => end(await mcpRemove(ports, name, options))),
    edits(mcp.command("enable").description("enable a server")).action(
      async (name: string, options: ServerEditOptions) => end(await mcpSwitch(ports, name, true, options)),
    ),
    edits(mcp.command("disable").description("disable a server, and keep its entry")).action(
      async (name: string, options: ServerEditOptions) => end(await mcpSwitch(ports, name, false, options)),
    ),
  ];
  for (const one of added) one.addHelpText("after", SERVER_EXAMPLES);
}

function edits(command: Command): Command {
  return command
    .argument("<name>")
    .option("--user", USER_TEXT, false)
    .option("--yes", YES_TEXT, false)
    .option("--json", JSON_TEXT, false);
}

const SERVER_EXAMPLES = `
Examples:
  ambit mcp add docs --requires 'fs.read{in=docs}' --runtime tools -- node "$PWD/tools/docs-server.js"
  ambit mcp add weather --user --requires 'net.connect{hosts=[api.weather.gov],ports=[443]}' -- weather-server
  ambit mcp add tracker --url https://tracker.example.com/mcp --header 'Authorization: Bearer {{secret:tracker-token}}'
  ambit secrets set tracker-token --tool mcp.tracker --host tracker.example.com
  ambit mcp add search --user --reveal API_KEY=search-key --requires 'net.connect{hosts=[api.example.com],ports=[443]}' -- search-server
  ambit mcp add files --requires 'fs.read{in=docs}' -- npx -y @modelcontextprotocol/server-filesystem@2026.8.31 "$PWD/docs"
  ambit mcp fetch
  ambit mcp update files --to 2026.8.31
  ambit mcp login tracker
  ambit mcp login tracker --client-id 7c1f --client-secret-from env:TRACKER_CLIENT_SECRET
  ambit mcp logout tracker
  ambit mcp add helper --asks elicitation -- helper-server
  ambit mcp import claude
  ambit mcp list
  ambit mcp show docs
  ambit mcp pin docs
  ambit mcp map docs read_page --map '{ fs.read: $.path }' --example '{"path": "/srv/docs/a.md"}'
  ambit mcp disable docs

A server starts without access: no files, no network, no environment variables. Its tools are called docs__NAME; an agent needs
tool.invoke for them. A project's servers have no effect until you trust the project.

Exit status: 0 ok, 3 a file has mistakes, 4 no daemon, or the server or its registry cannot be used, 2 usage, 1 error.`;

const SERVE_EXAMPLES = `
Examples:
  ambit mcp serve --agent scout
  claude mcp add ambit -- ambit mcp serve --agent scout
  ambit mcp serve --http 127.0.0.1:8484
  claude mcp add --transport http ambit http://127.0.0.1:8484/mcp --header "Authorization: Bearer $(ambit tokens add scout)"
  AMBIT_CAVEATS='{"fs_read":"all","fs_write":{"only":[]},"exec":{"only":["git"]},"net":{"only":[]},"max_calls":{"at_most":50},"valid_for_generation":"all"}' ambit mcp serve

In most client configurations: {"command": "ambit", "args": ["mcp", "serve", "--agent", "scout"]}

Without --agent, the grants come from AMBIT_CAVEATS, else from the [caveats] table of caveats.toml in your configuration
folder; else there are none. The client sees the tools its grants can allow; a denied call returns a result with isError.

Exit status: 0 the client disconnected or a signal ended the server, 4 no daemon, 2 usage, 1 error.`;
