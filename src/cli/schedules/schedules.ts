// `ambit schedules add | list | show | remove`, and its help.
import type { Command } from "commander";
import { MISSED, type Schedule } from "../../core/ports/stores/schedule-store.ts";
import { parseWhen } from "../../org/schedules/when.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import type { TasksPorts } from "../tasks/ports.ts";
import { workOf } from "../tasks/tasks.ts";
import { NO_WORKSPACE, shortWork } from "../tasks/work.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import { timeText } from "../terminal/time.ts";

/** `behind` is a program and its arguments. */
export function addSchedules(
  program: Command,
  ports: TasksPorts,
  behind: readonly string[],
  end: (exit: ExitCode) => void,
): void {
  const schedules = program
    .command("schedules")
    .description("queue tasks at times, after other tasks, when files change or when a signed request arrives");
  const word = (name: string, about: string): Command =>
    schedules.command(name).description(about).option("--json", "print one JSON object", false);
  word("add", "add a schedule for an agent")
    .argument("<agent>", "an id in .ambit/agents or in the org file")
    .argument("<when>", "`every 30m`, `cron 0 9 * * 1-5 in Europe/Berlin`, `at 2030-01-31T09:00`, `after ID`")
    .argument("[words...]", "the instructions for its client; or a program after `--`")
    .option(
      "--missed <what>",
      "what to do about times missed while no runner works: `once` queues one task, `skip` none",
      "once",
    )
    .option("--retries <count>", "further runs if one fails, each after a longer pause", "2")
    .option("--timeout <seconds>", "how long one run may take", "3600")
    .action(async (agent: string, when: string, words: string[], options: ScheduleOptions) =>
      end(await schedulesAdd(ports, agent, when, words, behind, options)),
    );
  word("list", "list schedules of this workspace, the newest first")
    .option("--all", "of all workspaces", false)
    .action(async (options: ListOptions) => end(await schedulesList(ports, options)));
  word("show", "show one schedule and its next times")
    .argument("<schedule>", "an id shown by ambit schedules list")
    .action(async (id: string, options: JsonOption) => end(await schedulesShow(ports, id, options)));
  word("remove", "remove a schedule; its tasks stay")
    .argument("<schedule>", "an id shown by ambit schedules list")
    .action(async (id: string, options: JsonOption) => end(await schedulesRemove(ports, id, options)));
  for (const one of [schedules, ...schedules.commands]) one.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit schedules add engineer 'every 30m' 'look at new issues'
  ambit schedules add engineer 'cron 0 9 * * 1-5 in Europe/Berlin' --missed skip -- npm test
  ambit schedules add engineer 'at 2030-01-31T09:00' 'write the report'
  ambit schedules add reviewer 'after ID' 'review what was made'
  ambit schedules add reviewer 'on file docs/**/*.md' 'check the docs'
  ambit schedules add engineer 'on webhook deploy' 'look at the deploy'

Exit status: 0 done, 1 no such schedule, 2 usage, 4 no daemon.`;

interface ScheduleOptions extends JsonOption {
  readonly missed: string;
  readonly retries: string;
  readonly timeout: string;
}

const exampleWith = (when: string): string => `ambit schedules add engineer '${when}' 'look at new issues'`;
const EXAMPLE = exampleWith("every 30m");

/** `behind`: a program to run instead of the agent's client. */
async function schedulesAdd(
  ports: TasksPorts,
  agent: string,
  when: string,
  words: readonly string[],
  behind: readonly string[],
  options: ScheduleOptions,
): Promise<ExitCode> {
  const missed = MISSED.find((one) => one === options.missed);
  if (missed === undefined)
    return fail(ports, options, EXIT.usage, "--missed is once or skip", `${EXAMPLE} --missed skip`);
  const read = parseWhen(when);
  if (!read.ok) return fail(ports, options, EXIT.usage, read.message, exampleWith(read.example));
  const work = await workOf(ports, agent, words, behind, options);
  if (!work.ok) return work.tell(EXAMPLE);
  const added = await askOnce(ports, "schedules.add", { ...work.value, when: read.text, missed });
  if (!added.ok) return tellRefusal(ports, added, options.json);
  const { schedule, times } = added.value;
  if (options.json) ports.print(jsonLine({ schedule, times }));
  else {
    const [first] = times;
    const next = first === undefined ? `${schedule.when}` : `next ${timeText(first)}`;
    ports.print(`${schedule.id} is added, ${next}; a runner queues its tasks: ambit tasks work`);
  }
  return EXIT.ok;
}

interface ListOptions extends JsonOption {
  readonly all: boolean;
}

async function schedulesList(ports: TasksPorts, options: ListOptions): Promise<ExitCode> {
  const workspace = options.all ? null : (ports.workspaceAt?.() ?? null);
  if (workspace === null && !options.all)
    return fail(ports, options, EXIT.error, NO_WORKSPACE, "ambit schedules list --all");
  const found = await askOnce(ports, "schedules.list", { workspace });
  if (!found.ok) return tellRefusal(ports, found, options.json);
  const { schedules, lines, waiting } = found.value;
  if (options.json)
    ports.print(jsonLine({ schedules: schedules.map((one) => withLine(one, lines[one.id])), waiting: [...waiting] }));
  else {
    for (const one of schedules) ports.print(scheduleLine(one, lines[one.id]));
    const stored = new Set(schedules.flatMap(({ id }) => lines[id] ?? []));
    for (const { name, line, why } of waiting.filter((one) => !stored.has(one.line)))
      ports.print(`(not in effect)  ${visibleText(JSON.stringify(name))} of ${visibleText(line)}: ${visibleText(why)}`);
    ports.print(countText(schedules.length, "schedule", "schedules"));
  }
  return EXIT.ok;
}

async function schedulesShow(ports: TasksPorts, id: string, options: JsonOption): Promise<ExitCode> {
  const found = await askOnce(ports, "schedules.show", { id });
  if (!found.ok) return tellRefusal(ports, found, options.json);
  const { schedule, times, line } = found.value;
  if (options.json) ports.print(jsonLine({ schedule: withLine(schedule, line), times }));
  else {
    const { argv, prompt, lastTask, count, missed, zone, trigger } = schedule;
    ports.print(scheduleLine(schedule, line));
    if (trigger !== undefined)
      ports.print(`  trigger  ${visibleText(JSON.stringify(trigger.name))} of ${visibleText(line ?? "the org file")}`);
    ports.print(`  ${argv === null ? "prompt" : "program"}  ${visibleText(argv === null ? prompt : argv.join(" "))}`);
    ports.print(`  zone  ${visibleText(zone)}`);
    ports.print(`  missed  ${missed === "once" ? "one task for all missed times" : "no task for missed times"}`);
    for (const time of times) ports.print(`  next  ${timeText(time)}`);
    if (lastTask !== null) ports.print(`  tasks  ${count}, the last: ambit tasks show ${visibleText(lastTask)}`);
  }
  return EXIT.ok;
}

async function schedulesRemove(ports: TasksPorts, id: string, options: JsonOption): Promise<ExitCode> {
  const removed = await askOnce(ports, "schedules.remove", { id });
  if (!removed.ok) return tellRefusal(ports, removed, options.json);
  const { schedule } = removed.value;
  if (options.json) ports.print(jsonLine({ schedule }));
  else ports.print(`${visibleText(schedule.id)} is removed; its tasks stay: ambit tasks list`);
  return EXIT.ok;
}

/** `line`: where a trigger is written. */
function withLine(schedule: Schedule, line: string | undefined): Schedule & { readonly line?: string } {
  return line === undefined ? schedule : { ...schedule, line };
}

function scheduleLine(schedule: Schedule, line: string | undefined): string {
  const { id, agent, when, isEnded, isPaused, next, count, reason } = schedule;
  const state = isEnded ? "ended" : isPaused === true ? "paused" : next === null ? "waits" : `next ${timeText(next)}`;
  const why = reason === "" ? "" : `  (${reason})`;
  const from = line === undefined ? "" : `  ${visibleText(line)}`;
  return `${visibleText(id)}  ${visibleText(when)}  ${state}  ${visibleText(agent)}  ${countText(count, "task", "tasks")}  ${shortWork(schedule)}${from}${visibleText(why)}`;
}
