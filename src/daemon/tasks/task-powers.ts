// The power of the task tools, and of directives, which are calls of them. A tool's effect is stored at once; a directive's is staged
// and stored with the end of its run. INVARIANT: a task goes to an agent below the caller, unless a grant names the agent.
import { readWholeOrg } from "../../agents/disk/org-members.ts";
import type { Json } from "../../core/base/json.ts";
import type { Schedule } from "../../core/ports/stores/schedule-store.ts";
import type { Hire, RunEffects } from "../../core/ports/stores/task-store.ts";
import { newTask, payersBelow } from "../../org/task-life.ts";
import { invalid, type UseResult, useDenial, useFailure, useResult } from "../../runtime/context/use-result.ts";
import type { TaskAccess, TaskPowers } from "../../tools/tasks/task-tools.ts";
import type { Entries } from "../log/entries.ts";
import type { DaemonParts } from "../parts.ts";
import type { Session } from "../session.ts";
import type { PowersOptions, ToolExecution } from "../tools/daemon-tool.ts";
import { Hiring } from "./hiring.ts";
import { newSchedule } from "./new-schedule.ts";
import { type Schedules, taskEntry } from "./schedules.ts";

/** Tasks, schedules and agents that one run may make. */
const madeMax = 8;
const delegationsDeepMax = 3;
const schedulesOfAgentMax = 20;
const timeoutMilliseconds = 3_600_000;
const attemptsMax = 3;

/** What a run has asked for so far. */
export interface RunRequests {
  readonly asks: readonly string[];
  readonly denies: readonly string[];
  /** Its effects are stored when it ends: its directives are carried out now. */
  isStaged: boolean;
  readonly tasks: RunEffects["tasks"][number][];
  readonly schedules: RunEffects["schedules"][number][];
  readonly hires: Hire[];
  /** Capabilities it requests for its next run. */
  readonly requested: Map<string, string>;
}

export class TaskPower {
  readonly #parts: DaemonParts;
  readonly #entries: Entries;
  readonly #schedules: Schedules;
  readonly hiring: Hiring;
  readonly #runs = new WeakMap<Session, RunRequests>();
  readonly #made = new WeakMap<Session, number>();

  constructor(parts: DaemonParts, entries: Entries, schedules: Schedules) {
    this.#parts = parts;
    this.#entries = entries;
    this.#schedules = schedules;
    this.hiring = new Hiring(parts, entries);
  }

  /** A run of a task begins in this session. */
  begin(session: Session, asks: readonly string[], denies: readonly string[]): RunRequests {
    const made = { tasks: [], schedules: [], hires: [], requested: new Map<string, string>() };
    const run: RunRequests = { asks, denies, isStaged: false, ...made };
    this.#runs.set(session, run);
    return run;
  }

  powers({ session, call }: Pick<PowersOptions, "session" | "call">): TaskPowers {
    const tasks: TaskAccess = {
      isRun: this.#runs.has(session),
      caller: session.facts.name.agent,
      hire: (agent, role, instructions) => this.#hire(session, agent, role, instructions),
      delegate: (agent, prompt) => this.#delegate(session, call, agent, prompt),
      schedule: (when, prompt) => this.#schedule(session, when, prompt),
      request: async (capability, reason) => this.#request(session, capability, reason),
    };
    return { tasks };
  }

  async #delegate(
    session: Session,
    call: ToolExecution | null,
    agent: string,
    prompt: string,
  ): Promise<UseResult<Json>> {
    const { stores, now, id, records, redacting } = this.#parts;
    const { name, cwd } = session.facts;
    const { workspace } = name;
    if (workspace === null) return invalid(null, "tasks need a workspace, and there is no workspace here");
    const run = this.#runs.get(session);
    const hired = new Map([
      ...this.hiring.superiors(workspace),
      ...(run?.hires ?? []).map((one): [string, string] => [one.agent.name.agent, one.agent.creator.agent]),
    ]);
    if (!records.record(cwd, agent).ok && !hired.has(agent)) return invalid(null, `there is no agent ${agent}`);
    if (!isBelow(workspace, agent, name.agent, hired) && !isNamedByGrant(call))
      return useDenial("scope_violation", null, `${agent} does not report to you: delegate to agents below you`);
    if (prompt.trim() === "") return invalid(null, "the task is empty: describe what to do");
    if (redacting.known !== null && redacting.text(prompt) !== prompt)
      return invalid(null, "the task contains the value of a secret: write the secret's name instead");
    const depth = await this.#depthOf(session);
    if (depth >= delegationsDeepMax)
      return useDenial(
        "quota",
        null,
        `a task can be delegated at most ${delegationsDeepMax} times in a row: do it yourself`,
      );
    if (!this.#hasRoom(session)) return TOO_MANY;
    const task = newTask(
      {
        ...{ id: id("w"), workspace, agent, prompt, argv: null, timeoutMilliseconds, attemptsMax, isByAgent: true },
        payers: payersBelow({ payers: session.task?.payers ?? [], agent: name.agent }),
        origin: { kind: "agent", agent: name.agent, id: session.task?.id ?? null, depth: depth + 1 },
      },
      now(),
    );
    const entry = taskEntry(this.#entries, task, `agent ${name.agent}`);
    if (run?.isStaged === true) run.tasks.push({ task, entry });
    else {
      const kept = await stores.tasks.add(task, entry);
      if (!kept.ok) return useFailure(null, kept);
      if (!kept.value) return useDenial("quota", null, "there are too many unfinished tasks");
    }
    return useResult({ task: task.id, agent });
  }

  async #hire(session: Session, agent: string, role: string, instructions: string): Promise<UseResult<Json>> {
    const run = this.#runs.get(session);
    const made = this.hiring.hire(session, agent, role, instructions, run?.hires ?? []);
    if (!made.ok) return made;
    if (!this.#hasRoom(session)) return TOO_MANY;
    const { link, agent: hired, most, entry } = made.value;
    if (run?.isStaged === true) run.hires.push(made.value);
    else {
      const kept = await this.#parts.stores.links.make(link, hired, entry, null, most);
      if (!kept.ok) return useFailure(null, kept);
      if (kept.value === null) return useDenial("not_available", null, `${agent} could not be hired; call again`);
    }
    return useResult({ agent, role, grants: link.specs });
  }

  async #schedule(session: Session, when: string, prompt: string): Promise<UseResult<Json>> {
    const { stores, redacting } = this.#parts;
    const { workspace, agent } = session.facts.name;
    if (workspace === null) return invalid(null, "schedules need a workspace, and there is no workspace here");
    if (prompt.trim() === "") return invalid(null, "the task is empty: describe what to do");
    if (redacting.known !== null && redacting.text(prompt) !== prompt)
      return invalid(null, "the task contains the value of a secret: write the secret's name instead");
    if (/^\s*on\s/.test(when)) return invalid(null, "only people can add file and webhook schedules: choose a time");
    const all = await stores.schedules.list(workspace);
    if (!all.ok) return useFailure(null, all);
    const run = this.#runs.get(session);
    const active = all.value.filter((one) => one.agent === agent && !one.isEnded).length + (run?.schedules.length ?? 0);
    if (active >= schedulesOfAgentMax) return useDenial("quota", null, "you have too many schedules");
    if (!this.#hasRoom(session)) return TOO_MANY;
    const paid = { payers: session.task?.payers ?? [], depth: await this.#depthOf(session) };
    const made = await newSchedule(this.#parts, {
      ...{ agent, workspace, when, missed: "once", prompt, argv: null, timeoutMilliseconds, attemptsMax },
      ...{ isByAgent: true, ...paid },
    });
    if (!made.ok) return invalid(null, made.message);
    const schedule: Schedule = made.value;
    const entry = this.#schedules.entry(schedule, "added", `agent ${agent}`);
    if (run?.isStaged === true) run.schedules.push({ schedule, entry });
    else {
      const kept = await stores.schedules.add(schedule, entry);
      if (!kept.ok) return useFailure(null, kept);
      if (!kept.value) return useDenial("quota", null, "there are too many schedules");
    }
    return useResult({ schedule: schedule.id, next: schedule.next });
  }

  async #request(session: Session, capability: string, reason: string): Promise<UseResult<Json>> {
    const run = this.#runs.get(session);
    const own = session.task === null ? null : await this.#parts.stores.tasks.get(session.task.id);
    if (run === undefined || own?.ok !== true || own.value === null)
      return invalid(null, "a capability can be requested only in a run of a task");
    const { refused, requested } = own.value;
    if (run.denies.includes(capability))
      return useDenial("capability_absent", null, `the capability ${capability} is denied for you: work without it`);
    if (!run.asks.includes(capability))
      return invalid(null, `the capability ${capability} needs no approval: use it, if you have one of this name`);
    if (!refused.some((one) => one.capability === capability))
      return invalid(null, `the capability ${capability} requires approval when you use it: just use it`);
    if (requested.some((one) => one.capability === capability))
      return useDenial("quota", null, `you requested ${capability} before, and it was refused: work without it`);
    run.requested.set(capability, reason);
    return useResult({ capability, waits: "a person is asked for approval when this run has ended" });
  }

  /** How many delegations are above the task that runs here. What cannot be read is as deep as can be. */
  async #depthOf({ task }: Session): Promise<number> {
    const own = task === null ? null : await this.#parts.stores.tasks.get(task.id);
    if (own === null) return 0;
    return own.ok ? (own.value?.origin?.depth ?? 0) : delegationsDeepMax;
  }

  #hasRoom(session: Session): boolean {
    const made = this.#made.get(session) ?? 0;
    this.#made.set(session, made + 1);
    return made < madeMax;
  }
}

const TOO_MANY = useDenial("quota", null, `one run can create at most ${madeMax} tasks, schedules and agents`);

/** Whether an agent reports to another one, through any number of managers. `hired`: the managers of hired agents. */
function isBelow(workspace: string, agent: string, superior: string, hired: ReadonlyMap<string, string>): boolean {
  const agents = readWholeOrg(workspace)?.org.agents ?? [];
  const superiors = new Map<string, string | null>([
    ...hired,
    ...agents.map(({ id, reportsTo }): [string, string | null] => [id, reportsTo]),
  ]);
  let above = superiors.get(agent) ?? null;
  for (let step = 0; above !== null && step <= superiors.size; step++) {
    if (above === superior) return true;
    above = superiors.get(above) ?? null;
  }
  return false;
}

/** Whether each grant that decided about the delegation says which agents it is for. */
function isNamedByGrant(call: ToolExecution | null): boolean {
  const at = call?.warrant.requests.findIndex(({ verb }) => verb.verb === "agent.delegate") ?? -1;
  const by = call?.warrant.basis[at];
  const chain = by === undefined ? undefined : call?.programContext.authority[by.chain];
  if (by === undefined || chain === undefined) return false;
  return chain.every((compiled, place) => {
    const grant = compiled.link.grants[by.grants[place] ?? -1];
    return grant?.scopes.some(({ kind }) => kind !== "any") === true;
  });
}
