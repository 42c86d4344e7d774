// The words of `ambit tasks`, and its help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import type { JsonOption } from "../terminal/problems.ts";
import type { TasksPorts } from "./ports.ts";
import {
  type AddOptions,
  type ListOptions,
  type LogOptions,
  tasksAdd,
  tasksChange,
  tasksList,
  tasksLog,
  tasksWatch,
} from "./tasks.ts";
import { tasksRun, tasksWork, type WorkOptions } from "./work.ts";

/** `behind` is a program and its arguments. */
export function addTasks(
  program: Command,
  ports: TasksPorts,
  behind: readonly string[],
  end: (exit: ExitCode) => void,
): void {
  const tasks = program.command("tasks").description("queue work for agents, run it, and see how it ended");
  const word = (name: string, about: string): Command =>
    tasks.command(name).description(about).option("--json", "print one JSON object", false);
  word("add", "queue a task for an agent")
    .argument("<agent>", "an id in .ambit/agents or in the org file")
    .argument("[words...]", "the instructions for its client; or a program after `--`")
    .option("--retries <count>", "further runs if one fails, each after a longer pause", "2")
    .option("--timeout <seconds>", "how long one run may take", "3600")
    .option("--deadline <time>", "do not start it after this time, and end it then")
    .action(async (agent: string, words: string[], options: AddOptions) =>
      end(await tasksAdd(ports, agent, words, behind, options)),
    );
  word("list", "list tasks of this workspace, the newest first")
    .option("--state <state>", "only tasks in this state")
    .option("--all", "of all workspaces", false)
    .action(async (options: ListOptions) => end(await tasksList(ports, options)));
  for (const [name, about] of [
    ["show", "show one task"],
    ["cancel", "cancel a task; a running one is ended"],
    ["retry", "queue a task again that failed, was cancelled, is done, or waits"],
  ] as const)
    word(name, about)
      .argument("<task>", "an id shown by ambit tasks list")
      .action(async (id: string, options: JsonOption) => end(await tasksChange(ports, id, `tasks.${name}`, options)));
  word("run", "run one queued task now")
    .argument("<task>", "an id shown by ambit tasks list")
    .action(async (id: string, options: JsonOption) => end(await tasksRun(ports, id, options)));
  word("work", "run tasks as they become due, fairly among agents, until a signal")
    .option("--jobs <count>", "how many at the same time", "1")
    .option("--once", "end when nothing is queued or running", false)
    .option("--webhooks <port>", "also listen for signed requests, on 127.0.0.1 alone")
    .action(async (options: WorkOptions) => end(await tasksWork(ports, options)));
  word("log", "print the output of a run, secrets redacted")
    .argument("[task]", "an id shown by ambit tasks list; with --grep alone, all tasks of this workspace")
    .option("--run <number>", "of this run; default: the last one")
    .option("--grep <text>", "only lines with this text")
    .action(async (id: string | undefined, options: LogOptions) => end(await tasksLog(ports, id, options)));
  word("watch", "print every change of state until a signal; of one task, until it is over or waits for approval")
    .argument("[task]", "an id shown by ambit tasks list; default: all of this workspace")
    .action(async (id: string | undefined, options: JsonOption) => end(await tasksWatch(ports, id, options)));
  for (const one of [tasks, ...tasks.commands]) one.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit tasks add engineer 'fix the failing test'
  ambit tasks add engineer -- npm test
  ambit tasks work --jobs 4
  ambit tasks list --state parked
  ambit tasks log ID --grep error

Exit status: 0 done, 1 no such task or it failed, 2 usage, 4 no daemon, 11 it waits for approval.`;
