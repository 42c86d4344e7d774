// `ambit tasks add | list | show | cancel | retry | log | watch`.

import { isJsonObject, type Json } from "../../core/base/json.ts";
import type { ControlMessages } from "../../core/ports/daemon/daemon-control.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import { isEnded, TASK_STATES, type Task } from "../../core/ports/stores/task-store.ts";
import { promptCharactersMax, requestText } from "../../org/task-life.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { cancelOnSignals } from "../exec/streams.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import { timeText } from "../terminal/time.ts";
import type { TasksPorts } from "./ports.ts";
import { exitOf, NO_WORKSPACE, taskLine } from "./work.ts";

export interface AddOptions extends JsonOption {
  readonly retries: string;
  readonly timeout: string;
  readonly deadline?: string;
}

const secondsMax = 7 * 86_400;
const retriesMax = 99;
const listedMax = 1000;
/** More tasks than the state has. */
const pagesMax = 100;

/** `behind`: a program to run instead of the agent's client. */
export async function tasksAdd(
  ports: TasksPorts,
  agent: string,
  words: readonly string[],
  behind: readonly string[],
  options: AddOptions,
): Promise<ExitCode> {
  const example = "ambit tasks add engineer 'fix the failing test'";
  const deadline = options.deadline === undefined ? null : Date.parse(options.deadline);
  if (deadline !== null && !(deadline > ports.now()))
    return fail(
      ports,
      options,
      EXIT.usage,
      "--deadline must be a time in the future, such as 2030-01-31T18:00Z",
      `${example} --deadline 2030-01-31T18:00Z`,
    );
  const work = await workOf(ports, agent, words, behind, options);
  if (!work.ok) return work.tell(example);
  const added = await askOnce(ports, "tasks.add", { ...work.value, deadline });
  if (!added.ok) return tellRefusal(ports, added, options.json);
  const { task } = added.value;
  if (options.json) ports.print(jsonLine({ task }));
  else ports.print(`${task.id} is queued; a runner starts it: ambit tasks work`);
  return EXIT.ok;
}

type Work = Omit<ControlMessages["tasks.add"]["asks"], "deadline">;
type WorkResult =
  | { readonly ok: true; readonly value: Work }
  | { readonly ok: false; readonly tell: (example: string) => ExitCode };

/** What is to be done, and by which agent, as `tasks add` and `schedules add` are told it. */
export async function workOf(
  ports: TasksPorts,
  agent: string,
  words: readonly string[],
  behind: readonly string[],
  options: Pick<AddOptions, "retries" | "timeout" | "json">,
): Promise<WorkResult> {
  const usage = (message: string): WorkResult => ({
    ok: false,
    tell: (example) => fail(ports, options, EXIT.usage, message, example),
  });
  const error = (message: string, fix: string | null): WorkResult => ({
    ok: false,
    tell: () => fail(ports, options, EXIT.error, message, fix),
  });
  const workspace = ports.workspaceAt?.() ?? null;
  if (workspace === null) return error(NO_WORKSPACE, "ambit init");
  const prompt = words.join(" ");
  if (prompt.trim() === "" && behind.length === 0) return usage("write what to do, or a program after `--`");
  if (Math.max(prompt.length, behind.join("").length) > promptCharactersMax)
    return usage(`a task has at most ${promptCharactersMax} characters: put the rest into a file, and name it`);
  if (prompt !== "" && behind.length > 0)
    return usage("a task has either instructions for the client or a program, not both");
  const [retries, seconds] = [Number(options.retries), Number(options.timeout)];
  if (!Number.isInteger(retries) || retries < 0 || retries > retriesMax)
    return usage(`--retries is a number from 0 to ${retriesMax}`);
  if (!(seconds > 0 && seconds <= secondsMax)) return usage(`--timeout is a number of seconds up to ${secondsMax}`);
  const loaded = ports.loadAgent(agent);
  if (!loaded.ok && !(await isHired(ports, workspace, agent))) return error(loaded.message, loaded.fix);
  const argv = behind.length === 0 ? null : behind;
  return {
    ok: true,
    value: {
      ...{ agent: loaded.ok ? loaded.value.agent.id : agent, workspace, prompt, argv },
      ...{ timeoutMilliseconds: Math.ceil(seconds * 1000), attemptsMax: retries + 1 },
    },
  };
}

/** Agents that others hired have no text: the daemon knows them. */
async function isHired(ports: TasksPorts, workspace: string, agent: string): Promise<boolean> {
  const found = await askOnce(ports, "tasks.hired", { workspace });
  return found.ok && found.value.hired.some(({ id }) => id === agent);
}

export interface ListOptions extends JsonOption {
  readonly state?: string;
  readonly all: boolean;
}

export async function tasksList(ports: TasksPorts, options: ListOptions): Promise<ExitCode> {
  const state = TASK_STATES.find((one) => one === options.state);
  if (options.state !== undefined && state === undefined)
    return fail(ports, options, EXIT.usage, `--state is ${TASK_STATES.join(", ")}`, "ambit tasks list --state queued");
  const workspace = options.all ? null : (ports.workspaceAt?.() ?? null);
  if (workspace === null && !options.all)
    return fail(ports, options, EXIT.error, NO_WORKSPACE, "ambit tasks list --all");
  const states = state === undefined ? TASK_STATES : [state];
  const found = await askOnce(ports, "tasks.list", { workspace, states, count: listedMax });
  if (!found.ok) return tellRefusal(ports, found, options.json);
  const { tasks } = found.value;
  if (options.json) ports.print(jsonLine({ tasks }));
  else {
    for (const task of tasks) ports.print(taskLine(task));
    const more = tasks.length === listedMax ? ", the newest" : "";
    ports.print(`${countText(tasks.length, "task", "tasks")}${more}`);
  }
  return EXIT.ok;
}

export async function tasksChange(
  ports: TasksPorts,
  id: string,
  message: "tasks.show" | "tasks.cancel" | "tasks.retry",
  options: JsonOption,
): Promise<ExitCode> {
  const answer = await askOnce(ports, message, { id });
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { task } = answer.value;
  if (options.json) ports.print(jsonLine({ task }));
  else if (message === "tasks.show") for (const line of taskLines(ports, task)) ports.print(line);
  else ports.print(taskLine(task));
  return EXIT.ok;
}

function taskLines(ports: TasksPorts, task: Task): readonly string[] {
  const { id, waitsFor, refused, attempts, attemptsMax, deadline, due, argv, prompt } = task;
  const runs = ports.taskOutputs?.runs(id) ?? [];
  return [
    taskLine(task),
    `  ${argv === null ? "prompt" : "program"}  ${visibleText(argv === null ? prompt : argv.join(" "))}`,
    `  runs  ${attempts} of ${attemptsMax}`,
    ...(task.state === "queued" ? [`  due  ${timeText(due)}`] : []),
    ...(deadline === null ? [] : [`  deadline  ${timeText(deadline)}`]),
    ...(waitsFor === null
      ? []
      : [`  waits for  ${requestText(waitsFor.capabilities)}`, `  fix: ambit approve ${waitsFor.approval}`]),
    ...refused.map(({ capability, reason }) => `  refused  ${capability}: ${visibleText(reason)}`),
    ...(runs.length === 0 ? [] : [`  output  ambit tasks log ${id}${runs.length === 1 ? "" : outputsText(runs)}`]),
  ];
}

/** Runs are counted from the first one on, also after a retry, with which the attempts begin anew. */
function outputsText(runs: readonly number[]): string {
  return ` --run ${runs.at(-1)}, also of ${runs.length > 2 ? "runs" : "run"} ${runs.slice(0, -1).join(", ")}`;
}

export interface LogOptions extends JsonOption {
  readonly run?: string;
  readonly grep?: string;
}

/** Without an id: lines of the output of all tasks of the workspace. */
export async function tasksLog(ports: TasksPorts, id: string | undefined, options: LogOptions): Promise<ExitCode> {
  if (id === undefined) return searchLogs(ports, options);
  const known = await askOnce(ports, "tasks.show", { id });
  if (!known.ok) return tellRefusal(ports, known, options.json);
  const runs = ports.taskOutputs?.runs(id) ?? [];
  const run = options.run === undefined ? runs.at(-1) : Number(options.run);
  const text = run === undefined || !runs.includes(run) ? null : (ports.taskOutputs?.read(id, run) ?? null);
  if (run === undefined || text === null) {
    const which = options.run === undefined ? "a run" : `run ${options.run}`;
    return fail(ports, options, EXIT.error, `there is no output of ${which} of ${id}`, `ambit tasks show ${id}`);
  }
  const { grep } = options;
  const output = grep === undefined ? text : matching(text, grep).join("\n");
  if (options.json) ports.print(jsonLine({ task: id, run, runs, output }));
  else if (output !== "") ports.print(output.replace(/\n$/, "").split("\n").map(visibleText).join("\n"));
  return EXIT.ok;
}

async function searchLogs(ports: TasksPorts, options: LogOptions): Promise<ExitCode> {
  const { grep } = options;
  if (grep === undefined)
    return fail(ports, options, EXIT.usage, "name a task, or search all of them", "ambit tasks log --grep error");
  const workspace = ports.workspaceAt?.() ?? null;
  if (workspace === null) return fail(ports, options, EXIT.error, NO_WORKSPACE, "ambit init");
  const lines: { readonly task: string; readonly run: number; readonly line: string }[] = [];
  for (let before: string | undefined, page = 0; page < pagesMax; page++) {
    const asked = { workspace, states: TASK_STATES, count: listedMax, ...(before === undefined ? {} : { before }) };
    const found: Answer<{ readonly tasks: readonly Task[] }> = await askOnce(ports, "tasks.list", asked);
    if (!found.ok) return tellRefusal(ports, found, options.json);
    const { tasks } = found.value;
    for (const { id } of tasks)
      for (const run of ports.taskOutputs?.runs(id) ?? [])
        for (const line of matching(ports.taskOutputs?.read(id, run) ?? "", grep)) lines.push({ task: id, run, line });
    if (tasks.length < listedMax) break;
    before = tasks.at(-1)?.id;
  }
  if (options.json) ports.print(jsonLine({ lines }));
  else for (const { task, run, line } of lines) ports.print(`${visibleText(task)} run ${run}: ${visibleText(line)}`);
  return EXIT.ok;
}

function matching(text: string, part: string): readonly string[] {
  return text.split("\n").filter((line) => line.includes(part));
}

/** Prints every change until a signal; of one task, until it is over or waits for a person. */
export async function tasksWatch(ports: TasksPorts, id: string | undefined, options: JsonOption): Promise<ExitCode> {
  const control = await ports.control();
  if (!control.ok) return tellRefusal(ports, control, options.json);
  const { signal, abort, release } = cancelOnSignals();
  let last: Task | null = null;
  const tell = (task: Task): void => {
    if (signal.aborted) return;
    last = task;
    ports.print(options.json ? jsonLine({ task }) : taskLine(task));
    if (id !== undefined && (isEnded(task) || task.state === "parked")) abort();
  };
  try {
    const onEvent = (event: Json): void => {
      if (isJsonObject(event) && isJsonObject(event["task"])) tell(event["task"] as unknown as Task);
    };
    const workspace = id === undefined ? (ports.workspaceAt?.() ?? null) : null;
    const answer = await control.value.ask("tasks.watch", { workspace, id: id ?? null }, { onEvent, signal });
    if (!answer.ok && !signal.aborted) return tellRefusal(ports, answer, options.json);
    return last === null || id === undefined ? EXIT.ok : exitOf(last);
  } finally {
    release();
    control.value.close();
  }
}
