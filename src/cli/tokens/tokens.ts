// `ambit tokens`: what clients of `ambit mcp serve --http` present. A token is printed once, when it is added.
import type { Command } from "commander";
import type { ClientTokenView } from "../../core/ports/daemon/daemon-control.ts";
import { askWidening } from "../approvals/presence-question.ts";
import { askOnce, type ControlPorts, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { parseDuration } from "../terminal/duration.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import { timeText } from "../terminal/time.ts";

export interface TokensPorts extends ControlPorts {
  readonly cwd: string;
}

interface TokenAddOptions extends JsonOption {
  readonly user?: string;
  readonly for: string;
  readonly presence?: string;
}

const tokenLifetimeDefault = "30d";
const JSON_TEXT = "print one JSON object";

export function addTokens(program: Command, ports: TokensPorts, end: (exit: ExitCode) => void): void {
  const tokens = program.command("tokens").description("manage the tokens of clients that connect over HTTP");
  tokens
    .command("add")
    .description("create a token for an agent in this folder, and print it once")
    .argument("<agent>", "an id in .ambit/agents, or a file")
    .option("--for <time>", "how long it is valid: 8h, 30d; at most 366d", tokenLifetimeDefault)
    .option("--user <name>", "its sessions act for this user")
    .option("--presence <name>", "confirm as this person, if presence is required")
    .option("--json", JSON_TEXT, false)
    .action(async (agent: string, options: TokenAddOptions) => end(await tokensAdd(ports, agent, options)));
  tokens
    .command("list")
    .description("list the tokens that are valid, without the tokens themselves")
    .option("--json", JSON_TEXT, false)
    .action(async (options: JsonOption) => end(await tokensList(ports, options)));
  tokens
    .command("revoke")
    .description("make a token invalid at once, and end its sessions")
    .argument("<id>", "as `ambit tokens list` prints it")
    .option("--json", JSON_TEXT, false)
    .action(async (id: string, options: JsonOption) => end(await tokensRevoke(ports, id, options)));
  for (const one of [tokens, ...tokens.commands]) one.addHelpText("after", EXAMPLES);
}

async function tokensAdd(ports: TokensPorts, agent: string, options: TokenAddOptions): Promise<ExitCode> {
  const milliseconds = parseDuration(options.for);
  if (milliseconds === null)
    return fail(ports, options, EXIT.usage, "--for must be a length of time, at most 366d", "--for 8h");
  const asked = { cwd: ports.cwd, agent, user: options.user ?? null, milliseconds };
  const answer = await askWidening(ports, "tokens.add", asked, options);
  if (typeof answer === "number") return answer;
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { id, token, expires } = answer.value;
  if (options.json) ports.print(jsonLine({ id, token, agent, expires }));
  else {
    ports.print(token);
    ports.printError(
      `${ports.paint.good("added")} ${id}: ${visibleText(agent)} in ${visibleText(ports.cwd)}, until ${timeText(expires)}. It is not shown again.\n` +
        `  send it as a header: Authorization: Bearer TOKEN\n  end it with: ambit tokens revoke ${id}`,
    );
  }
  return EXIT.ok;
}

async function tokensList(ports: TokensPorts, options: JsonOption): Promise<ExitCode> {
  const answer = await askOnce(ports, "tokens.list", {});
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { tokens } = answer.value;
  if (options.json) ports.print(jsonLine({ tokens }));
  else if (tokens.length === 0) ports.print("no tokens; add one: ambit tokens add AGENT");
  else for (const token of tokens) ports.print(lineOf(ports, token));
  return EXIT.ok;
}

async function tokensRevoke(ports: TokensPorts, id: string, options: JsonOption): Promise<ExitCode> {
  const answer = await askOnce(ports, "tokens.revoke", { id });
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { sessions } = answer.value;
  if (options.json) ports.print(jsonLine({ id, sessions }));
  else
    ports.print(
      `${ports.paint.good("revoked")} ${visibleText(id)}: ${countText(sessions, "session", "sessions")} ended`,
    );
  return EXIT.ok;
}

function lineOf({ paint }: TokensPorts, { id, agent, cwd, user, expires }: ClientTokenView): string {
  const owner = user === null ? "" : `  for ${visibleText(user)}`;
  return `${paint.strong(id)}  ${visibleText(agent)}${owner}  ${visibleText(cwd)}  ${paint.dim(`until ${timeText(expires)}`)}`;
}

const EXAMPLES = `
Examples:
  ambit tokens add scout --for 8h
  ambit tokens list
  ambit tokens revoke k_8mpq2v7rw3xz5c4d
  ambit mcp serve --http 127.0.0.1:8484

A client sends the token with every request: Authorization: Bearer TOKEN. It then has the grants of this agent in this folder,
and no others. ambit stores a digest of the token. Give each client a token of its own.

Exit status: 0 done, 1 error, 2 usage, 4 the daemon is not running.`;
