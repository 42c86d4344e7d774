// Triggers of an org file as schedules: which of them are in effect, and what a change of the file does to what is stored.
import type { Missed, Schedule } from "../../core/ports/stores/schedule-store.ts";
import { type Org, orgErrors } from "../org.ts";
import type { OrgTrigger } from "../org-trigger.ts";

/** A trigger as it is written. INVARIANT: with a hindrance it starts nothing. */
export interface WrittenTrigger {
  readonly name: string;
  /** `.ambit/org.md:12` */
  readonly line: string;
  readonly agent: string | null;
  /** Null for one that follows another, and for one that starts nothing. */
  readonly when: string | null;
  /** The name of the trigger that it follows. */
  readonly after: string | null;
  readonly missed: Missed;
  readonly prompt: string;
  /** Why it is not in effect, as a sentence; null if it is. */
  readonly hindrance: string | null;
}

export interface OrgTriggers {
  /** The path of the org file inside the workspace; null where there is none. */
  readonly path: string | null;
  /** Why none of its triggers is in effect; null if they count one by one. */
  readonly problem: string | null;
  readonly triggers: readonly WrittenTrigger[];
}

export const NO_TRIGGERS: OrgTriggers = { path: null, problem: null, triggers: [] };
export const UNTRUSTED = "it changed since it was trusted: ambit trust";
const BROKEN = "the org file has errors: ambit org show";

/**
 * `trusted`: the org of the text that a person trusted; null where there is none; the same object as `org` where no trust is needed.
 * A trigger counts if both say the same of it, also of whom it is for.
 */
export function writtenTriggers(
  path: string,
  org: Org,
  trusted: Org | null,
  lineOf: (trigger: OrgTrigger) => string,
): OrgTriggers {
  const isBroken = orgErrors(org, null).length > 0;
  const triggers = org.triggers.map((trigger) => {
    const { name, when, missed, prompt } = trigger;
    const written = { name, line: lineOf(trigger), when, missed, prompt };
    const agent = agentOf(org, trigger);
    const was = trusted?.triggers.find((one) => one.name === name);
    const isTrusted =
      trusted === org || (trusted != null && was !== undefined && textOf(trusted, was) === textOf(org, trigger));
    const hindrance =
      when === null && trigger.after === null
        ? trigger.kind === "process"
          ? "it starts nothing: `command` is not supported"
          : BROKEN
        : agent === null
          ? "it names no agent, and the org file has none: agent: ID"
          : isTrusted
            ? null
            : UNTRUSTED;
    return { ...written, agent, after: trigger.after?.text ?? null, hindrance };
  });
  return { path, problem: isBroken ? BROKEN : null, triggers };
}

/** Without a name it is for the first agent at the top of the file's tree. */
function agentOf({ agents }: Org, { agent }: OrgTrigger): string | null {
  return agent ?? agents.find(({ reportsTo }) => reportsTo === null)?.id ?? null;
}

function textOf(org: Org, trigger: OrgTrigger): string {
  const { name, when, after, missed, prompt } = trigger;
  return JSON.stringify([name, when, after?.text ?? null, missed, prompt, agentOf(org, trigger)]);
}

/** Stored schedules of triggers that the file does not have any more. With a problem it is not known which those are. */
export function removedSchedules(stored: readonly Schedule[], { problem, triggers }: OrgTriggers): readonly Schedule[] {
  if (problem !== null) return [];
  const names = new Set(triggers.map(({ name }) => name));
  return stored.filter(({ trigger }) => trigger !== undefined && !names.has(trigger.name));
}

/** Starts nothing until it is resumed. Null if it is paused for this reason already. */
export function pausedSchedule(schedule: Schedule, reason: string): Schedule | null {
  return schedule.isPaused === true && schedule.reason === reason ? null : { ...schedule, isPaused: true, reason };
}

/**
 * The stored schedule as its trigger says it now. INVARIANT: it stays the same schedule, so its last task is still its only open one,
 * and no request of a webhook is accepted twice. Its times begin anew only if the trigger has others.
 */
export function changedSchedule(before: Schedule, now: Schedule): Schedule {
  const { id, count, lastTask, accepted } = before;
  const isSameTime = before.when === now.when && before.zone === now.zone;
  const { isPaused: _, ...timed } = isSameTime ? before : now;
  const { agent, missed, prompt, trigger } = now;
  return {
    ...{ ...timed, id, count, lastTask, agent, missed, prompt, reason: "" },
    ...(trigger === undefined ? {} : { trigger }),
    ...(accepted === undefined ? {} : { accepted }),
  };
}
