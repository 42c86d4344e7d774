// `ambit mcp list`, `show`, `pin` and `check`: the servers there are, what each says about itself, and what changed.

import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { ServerDetails, ServerView } from "../../core/ports/daemon/server-messages.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { type Paint, paintRisk } from "../terminal/paint.ts";
import { confirmation, hasErrors, type JsonOption, printProblems, showProblem } from "../terminal/problems.ts";
import { commandWords } from "./edit.ts";
import { signInText } from "./login.ts";
import type { ServersPorts } from "./ports.ts";

export interface PinOptions extends JsonOption {
  readonly yes: boolean;
  readonly presence?: string;
}

const textCharactersMax = 2_000;
/** Of what a server that failed said, in a list. */
const failureLinesMax = 4;
const failureColumnsMax = 200;

export async function mcpList(ports: ServersPorts, options: JsonOption): Promise<ExitCode> {
  const answer = await askOnce(ports, "servers.list", { cwd: ports.cwd });
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { servers } = answer.value;
  const { problems } = ports.servers.load();
  if (options.json) {
    ports.print(jsonLine({ servers, problems: problems.map(showProblem) }));
    return hasErrors(problems) ? EXIT.invalidPolicy : EXIT.ok;
  }
  printProblems(ports, problems);
  for (const one of servers) printServer(ports, one);
  if (servers.length === 0) ports.print("no servers here: ambit mcp add NAME -- COMMAND");
  return hasErrors(problems) ? EXIT.invalidPolicy : EXIT.ok;
}

export function mcpCheck(ports: ServersPorts, options: JsonOption): ExitCode {
  const { servers, problems } = ports.servers.load();
  if (options.json)
    ports.print(jsonLine({ servers: servers.map(({ server }) => server.name), problems: problems.map(showProblem) }));
  else {
    printProblems(ports, problems);
    ports.print(`${servers.length} server${servers.length === 1 ? "" : "s"} parsed without errors`);
  }
  return hasErrors(problems) ? EXIT.invalidPolicy : EXIT.ok;
}

export async function mcpShow(ports: ServersPorts, name: string, options: JsonOption): Promise<ExitCode> {
  const answer = await askOnce(ports, "servers.show", { cwd: ports.cwd, name });
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  if (options.json) ports.print(jsonLine(answer.value));
  else printDetails(ports, answer.value);
  return EXIT.ok;
}

/** Shows what changed, asks, and pins exactly what was shown. */
export async function mcpPin(ports: ServersPorts, name: string, options: PinOptions): Promise<ExitCode> {
  const answer = await askOnce(ports, "servers.show", { cwd: ports.cwd, name });
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { digest, tools, changes, server } = answer.value;
  if (!options.json) printDetails(ports, answer.value);
  if (server.pinned !== null && changes.length === 0) {
    if (options.json) ports.print(jsonLine({ name, tools: tools.length, changed: false }));
    else ports.print(`${visibleText(name)} is already pinned in its current form`);
    return EXIT.ok;
  }
  const question = "Pin this? Agents and their models read these texts.";
  const refused = await confirmation(ports, options, question, `ambit mcp pin ${name} --yes`);
  if (refused !== null) return refused;
  const pinned = await pinWith(ports, name, digest, options);
  if (!pinned.ok) return tellRefusal(ports, pinned, options.json);
  if (options.json) ports.print(jsonLine({ name, tools: pinned.value.tools, changed: true }));
  else
    ports.print(
      `${ports.paint.good("pinned")} ${visibleText(name)}: ${countText(pinned.value.tools, "tool", "tools")}`,
    );
  return EXIT.ok;
}

async function pinWith(
  ports: ServersPorts,
  name: string,
  digest: string,
  { presence }: PinOptions,
): Promise<Answer<{ readonly tools: number }>> {
  const asks = { cwd: ports.cwd, name, digest };
  if (presence === undefined) return askOnce(ports, "servers.pin", { ...asks, presence: null });
  const passphrase = await ports.terminal.secret(`Passphrase of ${presence}`);
  if (passphrase === null)
    return { ok: false, code: "presence_required", message: "presence was not confirmed", fix: null };
  return askOnce(ports, "servers.pin", { ...asks, presence: { name: presence, passphrase } });
}

function printServer(ports: ServersPorts, one: ServerView): void {
  const { paint } = ports;
  const { name, level, risk, command, url, secrets, requires, isEnabled, waits, pinned, held, failure, signIn } = one;
  const state = !isEnabled
    ? "disabled"
    : waits !== null
      ? paint.warn("waits")
      : pinned === null
        ? "not used yet"
        : `${countText(pinned, "tool", "tools")}${held === 0 ? "" : paint.warn(`, ${held} held`)}`;
  ports.print(`${paint.strong(visibleText(name))}  ${paintRisk(paint, risk as never)} risk  ${level}  ${state}`);
  ports.print(paint.dim(`  ${visibleText(command === null ? (url ?? "") : commandWords(command))}`));
  if (one.package !== null) {
    const { text, isStored } = one.package;
    const fix = isStored ? "" : `  ${paint.warn(`not fetched: ambit mcp fetch ${name}`)}`;
    ports.print(`${paint.dim(`  ${visibleText(text)}`)}${fix}`);
  }
  ports.print(paint.dim(`  ${requires.length === 0 ? "no files, no network" : requires.map(visibleText).join("  ")}`));
  for (const { name: secret, at, isRevealed } of secrets) {
    const text = `${isRevealed ? "has the value of" : "sends"} the secret ${visibleText(secret)} in the ${visibleText(at)}`;
    ports.print(`  ${isRevealed ? paint.warn(`${text} (checked)`) : paint.dim(text)}`);
  }
  if (signIn?.state === "signed in") ports.print(paint.dim(`  signed in: ${signInText(signIn)}`));
  else if (signIn !== null) ports.print(`  ${paint.warn(`the sign-in has expired: ambit mcp login ${name}`)}`);
  if (waits !== null) ports.print(`  ${paint.warn(visibleText(waits))}`);
  if (held > 0) ports.print(`  ${paint.warn(`review what changed: ambit mcp pin ${name}`)}`);
  if (failure !== null) for (const line of failureLines(name, failure, paint)) ports.print(`  ${line}`);
}

/** Its last lines say most. */
function failureLines(name: string, failure: string, paint: Paint): readonly string[] {
  const all = failure.split("\n").map(visibleText);
  const isCut = all.length > failureLinesMax || all.some((line) => line.length > failureColumnsMax);
  const shown = all.length > failureLinesMax ? [...all.slice(0, 1), ...all.slice(1 - failureLinesMax)] : all;
  const cut = (line: string): string =>
    line.length > failureColumnsMax ? `${line.slice(0, failureColumnsMax)}…` : line;
  return [
    ...shown.map((line) => paint.bad(cut(line))),
    ...(isCut ? [paint.dim(`all that it said: ambit mcp show ${name}`)] : []),
  ];
}

function printDetails(
  ports: ServersPorts,
  { server, version, instructions, tools, refused, changes }: ServerDetails,
): void {
  const { paint } = ports;
  printServer(ports, server);
  ports.print(`  says it is ${visibleText(version)}`);
  if (instructions !== "") {
    ports.print("  instructions, which are not passed to a model:");
    for (const line of lines(instructions)) ports.print(paint.dim(`    ${line}`));
  }
  for (const tool of tools) {
    const state = tool.isPinned ? "" : `  ${paint.warn(server.pinned === null ? "not pinned yet" : "held")}`;
    ports.print(`  ${paint.strong(visibleText(tool.name))}${state}`);
    for (const line of lines(tool.description)) ports.print(`    ${line}`);
    ports.print(
      paint.dim(
        `    ${tool.map === null ? "no argument map: its arguments are not checked" : `arguments: ${visibleText(tool.map)}${tool.mapSource === "shipped" ? " (shipped)" : ""}`}`,
      ),
    );
    if (tool.annotations !== null)
      ports.print(
        paint.dim(`    its hints, which grant nothing: ${visibleText(JSON.stringify(tool.annotations).slice(0, 500))}`),
      );
    if (tool.hasHiddenText) ports.print(`    ${paint.bad("it has invisible characters")}`);
    if (tool.namesOthers.length > 0)
      ports.print(`    ${paint.warn(`it mentions other tools: ${tool.namesOthers.map(visibleText).join(", ")}`)}`);
  }
  for (const { tool, why } of refused)
    ports.print(`  ${visibleText(tool)}  ${paint.bad("not offered")}: ${visibleText(why)}`);
  if (changes.length > 0) ports.print(paint.strong("  changed since it was pinned:"));
  for (const { tool, part, before, now } of changes) {
    ports.print(`  ${tool === null ? "the server" : visibleText(tool)}: ${PARTS[part] ?? part}`);
    if (before !== null) for (const line of lines(before)) ports.print(paint.good(`    - ${line}`));
    if (now !== null) for (const line of lines(now)) ports.print(paint.bad(`    + ${line}`));
  }
}

const PARTS: Readonly<Record<string, string>> = {
  tool: "new tool",
  hidden: "has invisible characters",
  input: "input schema",
  output: "output schema",
};

/** Text of a server, line by line, with everything that does not show written by its number. */
function lines(text: string): readonly string[] {
  const cut =
    text.length > textCharactersMax
      ? `${text.slice(0, textCharactersMax)}\n[${text.length - textCharactersMax} more characters: --json]`
      : text;
  return cut.split("\n").map(visibleText);
}
