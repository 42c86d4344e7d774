// Control messages about tasks: people add, cancel and retry them; runners claim and run them.
import { onAbort } from "../../core/base/abort.ts";
import { numberIn, optionalText, textIn, textsIn } from "../../core/base/fields.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { type Refusal, refusal } from "../../core/ports/daemon/exchange.ts";
import { TASK_STATES, type Task, type TaskState } from "../../core/ports/stores/task-store.ts";
import { newTask, promptCharactersMax, taskAttemptsMax } from "../../org/task-life.ts";
import type { DaemonParts } from "../parts.ts";
import type { Exchange, MessageHandler } from "../rpc/serving.ts";
import type { TaskRuns } from "../tasks/task-runs.ts";
import type { Admission } from "./admission.ts";

const idCharactersMax = 128;
const pathCharactersMax = 4096;
const argumentsMax = 256;
const listedMax = 1000;
const briefCharactersMax = 400;
const briefWordsMax = 8;
const reasonCharactersMax = 2000;
const timeMax = Number.MAX_SAFE_INTEGER;

export function taskAnswers(
  { stores, now, id: newId, redacting }: DaemonParts,
  admission: Admission,
  runs: TaskRuns,
): readonly (readonly [string, MessageHandler])[] {
  const { tasks } = stores;
  const idIn = ({ value }: Exchange): string => textIn(value, "id", idCharactersMax) ?? "";
  const by = (exchange: Exchange): string => admission.narrowing(exchange).value.by;

  return [
    [
      "tasks.add",
      async (exchange) => {
        const admitted = admission.handling(exchange);
        if (!admitted.ok) return admitted;
        const task = taskIn(exchange, newId("w"), now());
        if (task === null) return BAD;
        if (holdsSecretText(redacting, task)) return SECRET;
        const kept = await tasks.add(task, runs.entry(task, admitted.value.by));
        if (!kept.ok) return refusal(kept.code, kept.message);
        return kept.value ? { ok: true, value: { task } } : refusal("too_many", "there are too many unfinished tasks");
      },
    ],
    [
      "tasks.list",
      async ({ value }) => {
        await runs.settle();
        const states = textsIn(value, "states", TASK_STATES.length);
        const count = numberIn(value, "count", 1, listedMax);
        const workspace = optionalText(value, "workspace", pathCharactersMax);
        const before = optionalText(value, "before", idCharactersMax);
        if (states === null || count === null || workspace === undefined || !states.every(isState)) return BAD;
        if (before === undefined) return BAD;
        const found = await tasks.list(workspace, states, count, before);
        return found.ok ? { ok: true, value: { tasks: found.value.map(brief) } } : refusal(found.code, found.message);
      },
    ],
    [
      "tasks.show",
      async (exchange) => {
        await runs.settle();
        const found = await tasks.get(idIn(exchange));
        if (!found.ok) return refusal(found.code, found.message);
        return found.value === null ? unknownTask(idIn(exchange)) : { ok: true, value: { task: found.value } };
      },
    ],
    [
      "tasks.claim",
      async (exchange) => {
        const workspace = textIn(exchange.value, "workspace", pathCharactersMax);
        const id = optionalText(exchange.value, "id", idCharactersMax);
        if (workspace === null || id === undefined) return BAD;
        return runs.claim(exchange.connected, workspace, id, by(exchange));
      },
    ],
    [
      "tasks.waiting",
      async ({ value }) => {
        const approval = textIn(value, "approval", idCharactersMax);
        const waiting = await tasks.waiting();
        if (!waiting.ok) return refusal(waiting.code, waiting.message);
        const id = waiting.value.find((one) => one.approval === approval)?.id;
        const found = id === undefined ? null : await tasks.get(id);
        if (found?.ok === false) return refusal(found.code, found.message);
        return found?.value == null
          ? refusal("unknown_task", `no task waits for ${approval}`, "ambit tasks list --state parked")
          : { ok: true, value: { task: found.value } };
      },
    ],
    [
      "tasks.hired",
      async ({ value }) => {
        const workspace = textIn(value, "workspace", pathCharactersMax);
        if (workspace === null) return BAD;
        const { hiring } = runs.power;
        const hired = [...hiring.superiors(workspace)].flatMap(([id, superior]) => {
          const facts = hiring.facts(workspace, id);
          return facts === null ? [] : [{ ...facts, id, superior }];
        });
        return { ok: true, value: { hired } };
      },
    ],
    [
      "tasks.release",
      async (exchange) => {
        const generation = numberIn(exchange.value, "generation", 0, timeMax);
        const reason = textIn(exchange.value, "reason", reasonCharactersMax);
        const outcome = RELEASES.find((one) => one === exchange.value["outcome"]);
        if (generation === null || reason === null || outcome === undefined) return BAD;
        return runs.release(exchange.connected, { id: idIn(exchange), generation, outcome, reason }, by(exchange));
      },
    ],
    ["tasks.cancel", async (exchange) => runs.cancel(idIn(exchange), by(exchange))],
    [
      "tasks.retry",
      async (exchange) => {
        const admitted = admission.handling(exchange);
        return admitted.ok ? runs.retry(idIn(exchange), admitted.value.by) : admitted;
      },
    ],
    [
      "tasks.watch",
      async (exchange) => {
        const workspace = optionalText(exchange.value, "workspace", pathCharactersMax);
        const id = optionalText(exchange.value, "id", idCharactersMax);
        if (workspace === undefined || id === undefined) return BAD;
        await runs.settle();
        const tell = (task: Task): void => {
          const isWatched = id === null ? workspace === null || task.workspace === workspace : task.id === id;
          if (isWatched) exchange.tell({ task: brief(task) as never });
        };
        const stop = runs.watch(tell);
        // Read after the watcher is there: a change in between is told twice, and never lost.
        if (id === null) {
          const open = await tasks.list(workspace, ["queued", "running", "parked"], listedMax);
          for (const task of open.ok ? [...open.value].reverse() : []) tell(task);
        } else {
          const found = await tasks.get(id);
          if (found.ok && found.value !== null) tell(found.value);
          else {
            stop();
            return found.ok ? unknownTask(id) : refusal(found.code, found.message);
          }
        }
        return new Promise((give) =>
          onAbort(exchange.signal, () => {
            stop();
            give({ ok: true, value: {} });
          }),
        );
      },
    ],
  ];
}

const RELEASES = ["stopped", "failed", "denied"] as const;
const BAD = refusal("invalid_input", "the message cannot be parsed");

function unknownTask(id: string): Refusal {
  return refusal("unknown_task", `there is no task ${id}`);
}

/** For lists: a thousand whole prompts would not fit into an answer. */
function brief(task: Task): Task {
  const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}...` : text);
  const argv = task.argv?.slice(0, briefWordsMax).map((word) => cut(word, briefCharactersMax / briefWordsMax)) ?? null;
  return { ...task, prompt: cut(task.prompt, briefCharactersMax), argv, reason: cut(task.reason, reasonCharactersMax) };
}

export const SECRET: Refusal = refusal(
  "secret_refused",
  "the task contains the value of a secret: write the secret's name instead",
);

export function holdsSecretText(redacting: DaemonParts["redacting"], { prompt, argv }: Work): boolean {
  const text = [prompt, ...(argv ?? [])].join("\n");
  return redacting.known !== null && redacting.text(text) !== text;
}

function taskIn({ value }: Exchange, id: string, now: number): Task | null {
  const work = workIn(value);
  const deadline = value["deadline"] === null ? null : numberIn(value, "deadline", 1, timeMax);
  if (work === null || (value["deadline"] !== null && deadline === null)) return null;
  return newTask({ ...work, id, deadline }, now);
}

export type Work = Pick<Task, "agent" | "workspace" | "prompt" | "argv" | "timeoutMilliseconds" | "attemptsMax">;

/** What is to be done, and by which agent. Null if it is not understood. */
export function workIn(value: JsonObject): Work | null {
  const agent = textIn(value, "agent", idCharactersMax);
  const workspace = textIn(value, "workspace", pathCharactersMax);
  const prompt = textIn(value, "prompt", promptCharactersMax);
  const argv = value["argv"] === null ? null : textsIn(value, "argv", argumentsMax);
  const timeoutMilliseconds = numberIn(value, "timeoutMilliseconds", 1, timeMax);
  const attemptsMax = numberIn(value, "attemptsMax", 1, taskAttemptsMax);
  if (agent === null || workspace === null || prompt === null || timeoutMilliseconds === null || attemptsMax === null)
    return null;
  if (value["argv"] !== null && (argv === null || argv.length === 0)) return null;
  if ((argv === null) === (prompt.trim() === "")) return null;
  if (argv !== null && argv.join("").length > promptCharactersMax) return null;
  return { agent, workspace, prompt, argv, timeoutMilliseconds, attemptsMax };
}

function isState(text: string): text is TaskState {
  return TASK_STATES.some((state) => state === text);
}
