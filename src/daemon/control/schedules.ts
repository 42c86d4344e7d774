// Control messages about schedules: people add and remove them.
import { numberIn, optionalText, textIn } from "../../core/base/fields.ts";
import { SerialQueue } from "../../core/base/serial-queue.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { ScheduleView } from "../../core/ports/daemon/task-messages.ts";
import { MISSED, type Schedule } from "../../core/ports/stores/schedule-store.ts";
import { acceptRequest, hasAccepted } from "../../org/schedules/schedule-life.ts";
import { nextTime, parseWhen } from "../../org/schedules/when.ts";
import type { DaemonParts } from "../parts.ts";
import type { Exchange, MessageHandler } from "../rpc/serving.ts";
import { isHookSecret, newSchedule } from "../tasks/new-schedule.ts";
import type { Schedules } from "../tasks/schedules.ts";
import type { Admission } from "./admission.ts";
import { holdsSecretText, SECRET, workIn } from "./tasks.ts";

const idCharactersMax = 128;
const pathCharactersMax = 4096;
const whenCharactersMax = 1000;
const timesShown = 5;

export function scheduleAnswers(
  parts: DaemonParts,
  admission: Admission,
  schedules: Schedules,
): readonly (readonly [string, MessageHandler])[] {
  const { stores, redacting } = parts;
  const deliveries = new Deliveries(parts, schedules);
  const idIn = ({ value }: Exchange): string => textIn(value, "id", idCharactersMax) ?? "";
  const unknown = (id: string): Answer<never> => refusal("unknown_schedule", `there is no schedule ${id}`);
  return [
    [
      "schedules.add",
      async (exchange) => {
        const admitted = admission.handling(exchange);
        if (!admitted.ok) return admitted;
        const work = workIn(exchange.value);
        const when = textIn(exchange.value, "when", whenCharactersMax);
        const missed = MISSED.find((one) => one === exchange.value["missed"]);
        if (work === null || when === null || missed === undefined) return BAD;
        if (holdsSecretText(redacting, work)) return SECRET;
        const made = await newSchedule(parts, { ...work, when, missed });
        if (!made.ok) return made;
        const kept = await stores.schedules.add(made.value, schedules.entry(made.value, "added", admitted.value.by));
        if (!kept.ok) return refusal(kept.code, kept.message);
        return kept.value
          ? { ok: true, value: viewOf(parts, made.value) }
          : refusal("too_many", "there are too many schedules: ambit schedules remove");
      },
    ],
    [
      "schedules.list",
      async ({ value }) => {
        const workspace = optionalText(value, "workspace", pathCharactersMax);
        if (workspace === undefined) return BAD;
        const { lines, waiting } = await schedules.file.read(workspace);
        const found = await stores.schedules.list(workspace);
        return found.ok
          ? { ok: true, value: { schedules: found.value.map(brief), lines, waiting } }
          : refusal(found.code, found.message);
      },
    ],
    [
      "schedules.show",
      async (exchange) => {
        const before = await stores.schedules.get(idIn(exchange));
        if (!before.ok) return refusal(before.code, before.message);
        if (before.value?.trigger === undefined)
          return before.value === null ? unknown(idIn(exchange)) : { ok: true, value: viewOf(parts, before.value) };
        const { lines } = await schedules.file.read(before.value.workspace);
        const found = await stores.schedules.get(idIn(exchange));
        if (!found.ok) return refusal(found.code, found.message);
        if (found.value === null) return unknown(idIn(exchange));
        const line = lines[found.value.id];
        return { ok: true, value: { ...viewOf(parts, found.value), ...(line === undefined ? {} : { line }) } };
      },
    ],
    ["schedules.deliver", (exchange) => deliveries.deliver(exchange)],
    [
      "schedules.remove",
      async (exchange) => {
        const { by } = admission.narrowing(exchange).value;
        const known = await stores.schedules.get(idIn(exchange));
        if (known.ok && known.value?.trigger !== undefined) {
          const { workspace, id, trigger } = known.value;
          const { lines } = await schedules.file.read(workspace);
          const line = lines[id];
          if (line !== undefined)
            return refusal(
              "not_applicable",
              `it is the trigger ${JSON.stringify(trigger.name)} of ${line}: delete it there`,
            );
        }
        const removed = await stores.schedules.remove(idIn(exchange), (one) => schedules.entry(one, "removed", by));
        if (!removed.ok) return refusal(removed.code, removed.message);
        return removed.value === null ? unknown(idIn(exchange)) : { ok: true, value: { schedule: removed.value } };
      },
    ],
  ];
}

const BAD = refusal("invalid_input", "the message cannot be parsed");
const briefCharactersMax = 400;

function brief(schedule: Schedule): Schedule {
  const { prompt } = schedule;
  return prompt.length > briefCharactersMax
    ? { ...schedule, prompt: `${prompt.slice(0, briefCharactersMax)}...` }
    : schedule;
}

/** Requests of webhooks, one after the other: each is checked, and stored before the sender is answered. */
class Deliveries {
  readonly #parts: DaemonParts;
  readonly #schedules: Schedules;
  readonly #queue = new SerialQueue();

  constructor(parts: DaemonParts, schedules: Schedules) {
    this.#parts = parts;
    this.#schedules = schedules;
  }

  /** INVARIANT: the same signature never starts anything twice, in this workspace or another one. */
  deliver(exchange: Exchange): Promise<Answer<object>> {
    return this.#queue.run(() => this.#deliver(exchange));
  }

  async #deliver({ value }: Exchange): Promise<Answer<object>> {
    const { stores, wall, redacting, isSigned } = this.#parts;
    const workspace = textIn(value, "workspace", pathCharactersMax);
    const name = textIn(value, "name", idCharactersMax);
    const at = numberIn(value, "at", 0, Number.MAX_SAFE_INTEGER);
    const signature = textIn(value, "signature", idCharactersMax);
    const body = textIn(value, "body", bodyCharactersMax);
    if (workspace === null || name === null || at === null || signature === null || body === null) return BAD;
    await this.#schedules.file.sync(workspace);
    const all = await stores.schedules.list(null);
    if (!all.ok) return refusal(all.code, all.message);
    const found = all.value.find(
      (one) =>
        one.workspace === workspace && !one.isEnded && one.isPaused !== true && one.when === `on webhook ${name}`,
    );
    // A secret may have been bound to other tools since.
    const isBound = isHookSecret(this.#parts, name);
    const isGood =
      found === undefined || !SIGNATURE.test(signature)
        ? false
        : isBound
          ? await isSigned(name, `${at}.${body}`, signature)
          : null;
    if (isGood === null)
      return refusal("not_available", "the secret of the webhook cannot be read: ambit secrets list");
    if (found === undefined || !isGood) return this.#refuse(workspace, name, "unsigned");
    if (all.value.some((one) => hasAccepted(one, signature))) return this.#refuse(workspace, name, "replayed");
    let why: RefusedRequest = "unsigned";
    const changed = await stores.schedules.change(
      found.id,
      (one) => {
        const accepted = acceptRequest(one, { at, signature, body: redacting.text(body) }, wall());
        if (!accepted.ok) ({ why } = accepted);
        return accepted.ok ? { schedule: accepted.schedule, task: null } : null;
      },
      ({ schedule }) => [this.#schedules.entry(schedule, "requested", null)],
    );
    if (!changed.ok) return refusal(changed.code, changed.message);
    if (changed.value !== null) return { ok: true, value: { schedule: changed.value.schedule.id } };
    return this.#refuse(workspace, name, why);
  }

  async #refuse(workspace: string, name: string, why: RefusedRequest): Promise<Answer<never>> {
    const noted = await this.#parts.stores.ledger.append([this.#schedules.refusedRequest(workspace, name, why)]);
    if (!noted.ok) return refusal(noted.code, noted.message);
    return refusal(why === "many" ? "too_many" : "bad_signature", REFUSED[why]);
  }
}

const bodyCharactersMax = 65_536;
/** One spelling of each: another one of the same bytes would not be found among those that were accepted. */
const SIGNATURE = /^[0-9a-f]{64}$/;
const REFUSED = {
  unsigned: "the signature is not valid",
  late: "the time of the signature is too far from now",
  replayed: "this request was already received",
  many: "too many requests",
} as const;
type RefusedRequest = keyof typeof REFUSED;

function viewOf({ zones }: Pick<DaemonParts, "zones">, schedule: Schedule): ScheduleView {
  const read = parseWhen(schedule.when);
  const zone = zones.named(schedule.zone);
  const times: number[] = [];
  for (let next = schedule.next; next !== null && times.length < timesShown; ) {
    times.push(next);
    next = read.ok && zone !== null ? nextTime(read.when, next, next, zone) : null;
  }
  return { schedule, times };
}
