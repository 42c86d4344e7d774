// A new schedule: its first time, what it follows, and what its files look like now.
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { Schedule } from "../../core/ports/stores/schedule-store.ts";
import { isEnded } from "../../core/ports/stores/task-store.ts";
import { startSchedule, TOO_MANY_FILES } from "../../org/schedules/schedule-life.ts";
import { parseWhen, type When } from "../../org/schedules/when.ts";
import type { DaemonParts } from "../parts.ts";
import { WatchedFiles } from "./watched-files.ts";

type ScheduleInput = Pick<
  Schedule,
  | "agent"
  | "workspace"
  | "when"
  | "missed"
  | "prompt"
  | "argv"
  | "timeoutMilliseconds"
  | "attemptsMax"
  | "isByAgent"
  | "payers"
  | "depth"
  | "trigger"
>;

/** A schedule that has at least one time to come. `known`: its id, if a stored one takes its place. */
export async function newSchedule(
  parts: Pick<DaemonParts, "stores" | "zones" | "wall" | "id" | "now" | "digest" | "vault">,
  input: ScheduleInput,
  known: string | null = null,
): Promise<Answer<Schedule>> {
  const { stores, zones, wall, id } = parts;
  const read = parseWhen(input.when);
  if (!read.ok) return refusal("invalid_input", read.message);
  const { when } = read;
  if (when.kind === "webhook") {
    const others = await stores.schedules.list(input.workspace);
    if (!others.ok) return refusal(others.code, others.message);
    if (others.value.some((one) => one.id !== known && !one.isEnded && one.when === read.text))
      return refusal("invalid_input", `a schedule \`${read.text}\` already exists: ambit schedules list`);
    if (!isHookSecret(parts, when.name)) return noSecret(when.name);
  }
  const zone = zones.named(zoneIn(when) ?? zones.local());
  if (zone === null)
    return refusal(
      "invalid_input",
      `there is no time zone ${zoneIn(when) ?? zones.local()}`,
      "name one, such as Europe/Berlin",
    );
  let seen: string | null = null;
  if (when.kind === "after") {
    const followed = await followedBy(stores, when.id, input.workspace);
    if (!followed.ok) return followed;
    seen = followed.value;
  }
  const schedule = startSchedule(
    {
      ...{ ...input, id: known ?? id("h"), when: read.text, zone: zone.name, created: wall(), seen },
      ...{ isEnded: false, count: 0, lastTask: null, reason: "" },
    },
    when,
    zone,
  );
  if (schedule === null) return refusal("invalid_input", `\`${read.text}\` is in the past, or never occurs`);
  // What changes from now on counts.
  const files = await new WatchedFiles(parts).scan(schedule);
  if (files === null) return { ok: true, value: schedule };
  return files.state === null
    ? refusal("invalid_input", TOO_MANY_FILES)
    : { ok: true, value: { ...schedule, seen: files.state } };
}

/** The tool that a secret of a webhook is bound to: no other one uses its value. */
const WEBHOOK_TOOL = "webhook";

export function isHookSecret({ vault }: Pick<DaemonParts, "vault">, name: string): boolean {
  return vault.list().some((one) => one.name === name && one.binding.tools.includes(WEBHOOK_TOOL));
}

function noSecret(name: string): Answer<never> {
  return refusal(
    "invalid_input",
    `no secret called ${name} is bound to ${WEBHOOK_TOOL}: its value signs the requests`,
    `ambit secrets set ${name} --tool ${WEBHOOK_TOOL} --host localhost --sign-only`,
  );
}

/** What of it is over already and starts nothing: the last task of a schedule. */
async function followedBy(
  { tasks, schedules }: DaemonParts["stores"],
  id: string,
  workspace: string,
): Promise<Answer<string | null>> {
  const [task, schedule] = [await tasks.get(id), await schedules.get(id)];
  if (!task.ok) return refusal(task.code, task.message);
  if (!schedule.ok) return refusal(schedule.code, schedule.message);
  if (task.value?.workspace === workspace) return { ok: true, value: null };
  if (schedule.value?.workspace !== workspace)
    return refusal("invalid_input", `there is no task and no schedule ${id} in this workspace`, "ambit tasks list");
  const { lastTask } = schedule.value;
  const last = lastTask === null ? null : await tasks.get(lastTask);
  return { ok: true, value: last?.ok === true && last.value !== null && isEnded(last.value) ? lastTask : null };
}

function zoneIn(when: When): string | null {
  return when.kind === "cron" || when.kind === "at" ? when.zone : null;
}
