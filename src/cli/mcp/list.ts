// `ambit mcp list`, `show`, `pin` and `check`: the servers there are, what each says about itself, and what changed.
import type { ServerDetails, ServerView } from "../../core/ports/daemon/daemon-control.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import { askOnce, tellRefusal } from "../control-world.ts";
import { shown } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { paintRisk } from "../terminal/paint.ts";
import { type Asked, fail, hasErrors, printProblems, showProblem } from "../terminal/problems.ts";
import { commandWords } from "./edit.ts";
import type { ServersWorld } from "./world.ts";

export interface PinOptions extends Asked {
  readonly yes: boolean;
  readonly presence?: string;
}

const textCharactersMax = 2_000;

export async function mcpList(world: ServersWorld, options: Asked): Promise<ExitCode> {
  const answer = await askOnce(world, "servers.list", { cwd: world.cwd });
  if (!answer.ok) return tellRefusal(world, answer, options.json);
  const { servers } = answer.value;
  const { problems } = world.servers.load();
  if (options.json) {
    world.print(jsonLine({ servers, problems: problems.map(showProblem) }));
    return hasErrors(problems) ? EXIT.invalidPolicy : EXIT.ok;
  }
  printProblems(world, problems);
  for (const one of servers) printServer(world, one);
  if (servers.length === 0) world.print("no servers here: ambit mcp add NAME -- COMMAND");
  return hasErrors(problems) ? EXIT.invalidPolicy : EXIT.ok;
}

export function mcpCheck(world: ServersWorld, options: Asked): ExitCode {
  const { servers, problems } = world.servers.load();
  if (options.json)
    world.print(jsonLine({ servers: servers.map(({ server }) => server.name), problems: problems.map(showProblem) }));
  else {
    printProblems(world, problems);
    world.print(`${servers.length} server${servers.length === 1 ? "" : "s"} can be read`);
  }
  return hasErrors(problems) ? EXIT.invalidPolicy : EXIT.ok;
}

export async function mcpShow(world: ServersWorld, name: string, options: Asked): Promise<ExitCode> {
  const answer = await askOnce(world, "servers.show", { cwd: world.cwd, name });
  if (!answer.ok) return tellRefusal(world, answer, options.json);
  if (options.json) world.print(jsonLine(answer.value));
  else printDetails(world, answer.value);
  return EXIT.ok;
}

/** Shows what changed, asks, and pins exactly what was shown. */
export async function mcpPin(world: ServersWorld, name: string, options: PinOptions): Promise<ExitCode> {
  const answer = await askOnce(world, "servers.show", { cwd: world.cwd, name });
  if (!answer.ok) return tellRefusal(world, answer, options.json);
  const { digest, tools, changes, server } = answer.value;
  if (!options.json) printDetails(world, answer.value);
  if (server.pinned !== null && changes.length === 0) {
    if (options.json) world.print(jsonLine({ name, tools: tools.length, changed: false }));
    else world.print(`${shown(name)} is pinned as it is`);
    return EXIT.ok;
  }
  if (!options.yes) {
    if (!world.terminal.isInteractive || options.json)
      return fail(
        world,
        options,
        EXIT.usage,
        "confirmation needed, and no terminal to ask at",
        `ambit mcp pin ${name} --yes`,
      );
    if (!(await world.terminal.confirm("Pin this? Agents and their models read these texts.")))
      return fail(world, options, EXIT.error, "nothing was changed", null);
  }
  const pinned = await pinWith(world, name, digest, options);
  if (!pinned.ok) return tellRefusal(world, pinned, options.json);
  if (options.json) world.print(jsonLine({ name, tools: pinned.value.tools, changed: true }));
  else world.print(`${world.paint.good("pinned")} ${shown(name)}: ${pinned.value.tools} tools`);
  return EXIT.ok;
}

async function pinWith(
  world: ServersWorld,
  name: string,
  digest: string,
  { presence }: PinOptions,
): Promise<Answer<{ readonly tools: number }>> {
  const asks = { cwd: world.cwd, name, digest };
  if (presence === undefined) return askOnce(world, "servers.pin", { ...asks, presence: null });
  const passphrase = await world.terminal.secret(`Passphrase of ${presence}`);
  if (passphrase === null)
    return { ok: false, code: "presence_required", message: "presence was not confirmed", fix: null };
  return askOnce(world, "servers.pin", { ...asks, presence: { name: presence, passphrase } });
}

function printServer(world: ServersWorld, one: ServerView): void {
  const { paint } = world;
  const { name, level, risk, command, requires, isEnabled, waits, pinned, held, failure } = one;
  const state = !isEnabled
    ? "disabled"
    : waits !== null
      ? paint.warn("waits")
      : pinned === null
        ? "not used yet"
        : `${pinned} tools${held === 0 ? "" : paint.warn(`, ${held} held`)}`;
  world.print(`${paint.strong(shown(name))}  ${paintRisk(paint, risk as never)} risk  ${level}  ${state}`);
  world.print(paint.dim(`  ${shown(commandWords(command))}`));
  world.print(
    paint.dim(`  ${requires.length === 0 ? "no files of yours, no network" : requires.map(shown).join("  ")}`),
  );
  if (waits !== null) world.print(`  ${paint.warn(shown(waits))}`);
  if (held > 0)
    world.print(`  ${paint.warn(`review what changed: ambit mcp show ${name}, then: ambit mcp pin ${name}`)}`);
  if (failure !== null) for (const line of lines(failure)) world.print(`  ${paint.bad(line)}`);
}

function printDetails(
  world: ServersWorld,
  { server, version, instructions, tools, refused, changes }: ServerDetails,
): void {
  const { paint } = world;
  printServer(world, server);
  world.print(`  says it is ${shown(version)}`);
  if (instructions !== "") {
    world.print("  instructions, which no model gets:");
    for (const line of lines(instructions)) world.print(paint.dim(`    ${line}`));
  }
  for (const tool of tools) {
    const state = tool.isPinned ? "" : `  ${paint.warn(server.pinned === null ? "not pinned yet" : "held")}`;
    world.print(`  ${paint.strong(shown(tool.name))}${state}`);
    for (const line of lines(tool.description)) world.print(`    ${line}`);
    world.print(
      paint.dim(
        `    ${tool.map === null ? "no map: its arguments are not decided" : `arguments: ${shown(tool.map)}${tool.mapSource === "shipped" ? " (shipped)" : ""}`}`,
      ),
    );
    if (tool.annotations !== null)
      world.print(
        paint.dim(`    its hints, which grant nothing: ${shown(JSON.stringify(tool.annotations).slice(0, 500))}`),
      );
    if (tool.hasHiddenText) world.print(`    ${paint.bad("it has characters that do not show")}`);
    if (tool.namesOthers.length > 0)
      world.print(`    ${paint.warn(`it speaks of other tools: ${tool.namesOthers.map(shown).join(", ")}`)}`);
  }
  for (const { tool, why } of refused) world.print(`  ${shown(tool)}  ${paint.bad("not offered")}: ${shown(why)}`);
  if (changes.length > 0) world.print(paint.strong("  changed since it was pinned:"));
  for (const { tool, part, before, now } of changes) {
    world.print(`  ${tool === null ? "the server" : shown(tool)}: ${PARTS[part] ?? part}`);
    if (before !== null) for (const line of lines(before)) world.print(paint.good(`    - ${line}`));
    if (now !== null) for (const line of lines(now)) world.print(paint.bad(`    + ${line}`));
  }
}

const PARTS: Readonly<Record<string, string>> = {
  tool: "new tool",
  hidden: "has characters that do not show",
  input: "input schema",
  output: "output schema",
};

/** Text of a server, line by line, with everything that does not show written by its number. */
function lines(text: string): readonly string[] {
  const cut =
    text.length > textCharactersMax
      ? `${text.slice(0, textCharactersMax)}\n[${text.length - textCharactersMax} more characters: --json]`
      : text;
  return cut.split("\n").map(shown);
}
