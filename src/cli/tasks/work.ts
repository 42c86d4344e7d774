// The runner of tasks: claims what is due, runs it, and keeps its output. The daemon settles each task by how its run ended.

import { setTimeout as pause } from "node:timers/promises";
import { isJsonObject } from "../../core/base/json.ts";
import type { ControlMessages } from "../../core/ports/daemon/daemon-control.ts";
import { type Answer, type MessageClient, NO_DAEMON } from "../../core/ports/daemon/exchange.ts";
import type { HiredAgent } from "../../core/ports/daemon/task-messages.ts";
import type { Task } from "../../core/ports/stores/task-store.ts";
import { tellRefusal } from "../control-ports.ts";
import { CallOutput, cancelOnSignals } from "../exec/streams.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import { timeText } from "../terminal/time.ts";
import type { HookAnswer, TaskOutput, TasksPorts } from "./ports.ts";
import { planRun } from "./run.ts";

export interface WorkOptions extends JsonOption {
  readonly jobs: string;
  readonly once: boolean;
  readonly webhooks?: string;
}

const jobsMax = 64;
const idleMilliseconds = 300;
const reasonMax = 1000;
const reconnectMilliseconds = 500;
const reconnectsMax = 20;

export const NO_WORKSPACE = "tasks need a workspace, and there is no workspace here";

export async function tasksWork(ports: TasksPorts, options: WorkOptions): Promise<ExitCode> {
  const jobs = Number(options.jobs);
  const workspace = ports.workspaceAt?.() ?? null;
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > jobsMax)
    return fail(ports, options, EXIT.usage, `--jobs is a number from 1 to ${jobsMax}`, "ambit tasks work --jobs 4");
  if (workspace === null) return fail(ports, options, EXIT.error, NO_WORKSPACE, "ambit init");
  const { signal, release } = cancelOnSignals();
  const port = options.webhooks === undefined ? null : Number(options.webhooks);
  if (port !== null && !(Number.isInteger(port) && port >= 0 && port <= portMax))
    return fail(ports, options, EXIT.usage, "--webhooks is a port", "ambit tasks work --webhooks 8787");
  const runner = new Runner(ports, workspace, options.json, signal);
  ports.taskOutputs?.prune();
  const hooks =
    port === null
      ? null
      : await ports.webhooks(port, async (request) => {
          const answer = await runner.ask("schedules.deliver", { ...request, workspace });
          return answer.ok ? "accepted" : (HOOK_ANSWERS[answer.code] ?? "unavailable");
        });
  if (hooks?.ok === false) {
    runner.close();
    release();
    return fail(ports, options, EXIT.error, `cannot listen on port ${options.webhooks}: ${hooks.message}`, null);
  }
  if (hooks !== null) {
    const { address } = hooks;
    ports.print(options.json ? jsonLine({ webhooks: address }) : `webhooks at ${address}/api/trigger/NAME`);
  }
  try {
    const exits = await Promise.all(Array.from({ length: jobs }, () => runner.loop(options.once)));
    return exits.find((exit) => exit !== EXIT.ok) ?? EXIT.ok;
  } finally {
    hooks?.close();
    runner.close();
    release();
  }
}

const portMax = 65_535;
const HOOK_ANSWERS: Readonly<Record<string, HookAnswer>> = {
  bad_signature: "unsigned",
  invalid_input: "unsigned",
  too_many: "busy",
};

/** Runs one task now, with its output on the terminal too. */
export async function tasksRun(ports: TasksPorts, id: string, options: JsonOption): Promise<ExitCode> {
  const workspace = ports.workspaceAt?.() ?? null;
  if (workspace === null) return fail(ports, options, EXIT.error, NO_WORKSPACE, "ambit init");
  const { signal, release } = cancelOnSignals();
  const runner = new Runner(ports, workspace, options.json, signal, !options.json);
  try {
    const ran = await runner.take(id);
    if (!ran.ok) return tellRefusal(ports, ran, options.json);
    if (ran.value !== null) return exitOf(ran.value);
    const known = await runner.ask("tasks.show", { id });
    if (!known.ok) return tellRefusal(ports, known, options.json);
    const { state, reason, due } = known.value.task;
    const why = reason === "" ? "" : `: ${reason}`;
    const when = state === "queued" ? `; it is due at ${timeText(due)}` : "";
    return fail(ports, options, EXIT.error, `the task ${id} is ${state}${why}${when}`, null);
  } finally {
    runner.close();
    release();
  }
}

export function exitOf({ state }: Task): ExitCode {
  return state === "done" ? EXIT.ok : state === "parked" ? EXIT.ask : EXIT.error;
}

/** The daemon may be restarted meanwhile. */
const LOST: ReadonlySet<string> = new Set(["not_available", NO_DAEMON, "no_answer"]);

class Runner {
  readonly #ports: TasksPorts;
  readonly #workspace: string;
  readonly #isJson: boolean;
  readonly #signal: AbortSignal;
  readonly #isShown: boolean;
  #control: Promise<Answer<MessageClient<ControlMessages>>> | null = null;
  #busy = 0;

  constructor(ports: TasksPorts, workspace: string, isJson: boolean, signal: AbortSignal, isShown = false) {
    this.#ports = ports;
    this.#workspace = workspace;
    this.#isJson = isJson;
    this.#signal = signal;
    this.#isShown = isShown;
  }

  async loop(isOnce: boolean): Promise<ExitCode> {
    let failures = 0;
    while (!this.#signal.aborted) {
      const ran = await this.take(null);
      if (!ran.ok) {
        if (!LOST.has(ran.code) || ++failures > reconnectsMax) return tellRefusal(this.#ports, ran, this.#isJson);
        await this.#pause(reconnectMilliseconds);
        continue;
      }
      failures = 0;
      if (ran.value !== null) continue;
      if (isOnce && this.#busy === 0 && (await this.#isIdle())) return EXIT.ok;
      await this.#pause(idleMilliseconds);
    }
    return EXIT.ok;
  }

  /** Null if nothing is due. */
  async take(id: string | null): Promise<Answer<Task | null>> {
    this.#busy++;
    try {
      const claimed = await this.ask("tasks.claim", { workspace: this.#workspace, id });
      if (!claimed.ok) return claimed;
      const { task, isMore, hired = null } = claimed.value;
      if (task === null) return isMore && id === null ? this.take(null) : { ok: true, value: null };
      return { ok: true, value: await this.#run(task, hired) };
    } finally {
      this.#busy--;
    }
  }

  /** One connection for all: claimed tasks belong to it. */
  async ask<K extends keyof ControlMessages & string>(
    name: K,
    value: ControlMessages[K]["asks"],
  ): Promise<Answer<ControlMessages[K]["answers"]>> {
    this.#control ??= this.#ports.control();
    const control = this.#control;
    const connected = await control;
    const answer: Answer<ControlMessages[K]["answers"]> = connected.ok
      ? ((await connected.value.ask(name, value as never)) as Answer<ControlMessages[K]["answers"]>)
      : connected;
    if (!answer.ok && LOST.has(answer.code) && this.#control === control) this.close();
    return answer;
  }

  close(): void {
    void this.#control?.then((control) => (control.ok ? control.value.close() : undefined));
    this.#control = null;
  }

  async #run(task: Task, hired: HiredAgent | null): Promise<Task> {
    const { id, generation } = task;
    const ports = this.#ports.fresh();
    const plan = planRun(ports, task, hired);
    const release = async (outcome: "stopped" | "failed" | "denied", reason: string): Promise<Task> =>
      this.#settled(
        task,
        await this.ask("tasks.release", { id, generation, outcome, reason: reason.slice(0, reasonMax) }),
      );
    if (!plan.ok) return release("denied", plan.denied);
    if (this.#signal.aborted) return release("stopped", "");
    this.#print(task);
    const output = this.#output(task);
    const shown = this.#isShown ? new CallOutput() : null;
    let settled: Task | null = null;
    try {
      const write = (bytes: Uint8Array, descriptor: 1 | 2): void => {
        output.write(bytes);
        shown?.write(descriptor, bytes);
      };
      const result = await ports.programs.run(plan.program, {
        input: null,
        output: (bytes) => write(bytes, 1),
        errors: (bytes) => write(bytes, 2),
        signal: this.#signal,
        onEvent: (event) => {
          if (isJsonObject(event) && isJsonObject(event["task"])) settled = event["task"] as unknown as Task;
        },
      });
      if (settled !== null) return this.#report(settled);
      // Without a session nothing was started, and the task is still claimed.
      if (!result.ok && this.#signal.aborted) return await release("stopped", "");
      if (!result.ok) return await release("failed", `${result.refused.code}: ${result.refused.message}`);
      return this.#settled(task, await this.ask("tasks.show", { id }));
    } finally {
      shown?.end();
      output.close();
    }
  }

  #settled(task: Task, answer: Answer<{ readonly task: Task }>): Task {
    if (answer.ok) return this.#report(answer.value.task);
    tellRefusal(this.#ports, answer, this.#isJson);
    return task;
  }

  /** By its generation: attempts begin anew when a person retries. */
  #output({ id, generation }: Task): TaskOutput {
    return this.#ports.taskOutputs?.open(id, generation) ?? { write: () => {}, close: () => {} };
  }

  #report(task: Task): Task {
    this.#print(task);
    return task;
  }

  #print(task: Task): void {
    if (this.#isJson) this.#ports.print(jsonLine({ task }));
    else if (this.#isShown) this.#ports.printError(taskLine(task));
    else this.#ports.print(taskLine(task));
  }

  async #isIdle(): Promise<boolean> {
    const states = ["queued", "running"] as const;
    const found = await this.ask("tasks.list", { workspace: this.#workspace, states, count: 1 });
    return found.ok && found.value.tasks.length === 0;
  }

  async #pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, undefined, { signal: this.#signal }).catch(() => {});
  }
}

export function taskLine(task: Task): string {
  const { id, agent, state, attempts, reason } = task;
  const why = reason === "" ? "" : `  (${reason})`;
  return `${visibleText(id)}  ${state.padEnd(9)} ${visibleText(agent)}  run ${attempts}  ${shortWork(task)}${visibleText(why)}`;
}

const workShownMax = 60;

/** The words or the program of a task or a schedule, on one line. */
export function shortWork({ prompt, argv }: Pick<Task, "prompt" | "argv">): string {
  const what = (argv === null ? prompt : argv.join(" ")).trim().replace(/\s+/g, " ");
  return visibleText(what.length > workShownMax ? `${what.slice(0, workShownMax - 3)}...` : what);
}
