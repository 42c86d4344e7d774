// The program of one run: the agent's client or any other, in the agent's sandbox, with what its capabilities allow.
import { chooseProfile } from "../../clients/profile-choice.ts";
import type { RootWord } from "../../core/authority/axes/root-word.ts";
import type { HiredAgent } from "../../core/ports/daemon/task-messages.ts";
import type { Task } from "../../core/ports/stores/task-store.ts";
import { askedRequests, clientArgv, taskPrompt } from "../../org/client-argv.ts";
import type { Org, OrgAgent } from "../../org/org.ts";
import { BASE_CLIENT, clientOf } from "../../org/org-client.ts";
import { runMilliseconds } from "../../org/task-life.ts";
import type { ExecRequest } from "../exec/ports.ts";
import { shownRulings } from "../org/show.ts";
import type { TasksPorts } from "./ports.ts";

export type RunPlan =
  | { readonly ok: true; readonly program: ExecRequest }
  | { readonly ok: false; readonly denied: string };

/** `hired`: of an agent without a text. It runs as the agent of the org file does that it was hired below. */
export function planRun(ports: TasksPorts, task: Task, hired: HiredAgent | null): RunPlan {
  const loaded = ports.loadAgent(hired?.member ?? task.agent);
  if (!loaded.ok) return { ok: false, denied: loaded.message };
  const { agent, trust } = loaded.value;
  if (agent.refused) return { ok: false, denied: `${task.agent} grants nothing: its text has errors` };
  const standing = trust?.status.kind ?? "own";
  if (standing === "untrusted" || standing === "waiting")
    return {
      ok: false,
      denied: `${task.agent} is not trusted as it is now: ambit trust, then ambit tasks retry ${task.id}`,
    };
  const { asked, profile, capabilities, asks = [], denies = [] } = planOf(ports, task, hired);
  const choice = profile === null ? null : chooseProfile(profile, ports.userProfiles());
  if (choice !== null && !choice.ok)
    return {
      ok: false,
      denied: `the profile ${choice.broken.file} has errors: ambit profiles list, then ambit tasks retry ${task.id}`,
    };
  const client = choice === null ? null : { profile: choice.profile.id, isFresh: false };
  return {
    ok: true,
    program: {
      ...{ agent, name: task.agent, user: null, pledge: null, waitMilliseconds: 0, isThrowaway: false },
      ...{ needsReview: false, milliseconds: runMilliseconds(task, ports.now()), ...asked, client },
      task: { id: task.id, generation: task.generation, capabilities, asks, denies },
    },
  };
}

interface ClientPlan {
  readonly asked: Pick<ExecRequest, "what" | "folder" | "root" | "also">;
  /** The client whose profile it has; null: another program, which has none. */
  readonly profile: string | null;
  /** Capabilities that the run has only if a person agrees. */
  readonly capabilities: readonly string[];
  readonly asks?: readonly string[];
  readonly denies?: readonly string[];
}

function planOf(ports: TasksPorts, task: Task, hired: HiredAgent | null): ClientPlan {
  const whole = ports.orgs.whole();
  const member = whole?.org.agents.find(({ id }) => id === (hired?.member ?? task.agent)) ?? null;
  if (task.argv !== null)
    return {
      asked: { what: { argv: task.argv }, folder: folderOf(ports, member), root: null, also: [] },
      profile: null,
      capabilities: [],
    };
  if (whole === null || member === null) return recordPlan(task);
  const rulings = shownRulings(ports, whole, member);
  const own = hired === null ? member : { ...member, prompt: hired.instructions };
  return memberPlan(ports, task, whole.org, own, rulings);
}

/** An agent of a record has grants and no capabilities: its client starts with all of its own tools, inside the grants. */
function recordPlan(task: Task): ClientPlan {
  const argv = clientArgv({
    ...{ client: BASE_CLIENT, model: null, instructions: "", prompt: taskPrompt(task), rulings: [], own: new Map() },
  });
  return {
    asked: { what: { argv }, folder: null, root: "live", also: [] },
    profile: BASE_CLIENT,
    capabilities: [],
  };
}

function memberPlan(
  ports: TasksPorts,
  task: Task,
  org: Org,
  member: OrgAgent,
  resolved: ReturnType<typeof shownRulings>,
): ClientPlan {
  const refused = task.refused.map(({ capability }) => capability);
  const rulings = resolved.map(({ capability, decision }) => ({ capability, ruling: decision }));
  const { client, model } = clientOf(org, member);
  const asked = askedRequests({ client: client.name, rulings, own: org.capabilities }, task.agent, refused);
  const given = new Set(asked.map(({ capability }) => capability));
  // What is asked for is in hand once the call is approved, and not before: the gate withholds the whole call.
  const inHand = rulings.map((one) => (given.has(one.capability) ? { ...one, ruling: "allow" as const } : one));
  const argv = clientArgv({
    ...{ client: client.name, model: model?.text ?? null, instructions: member.prompt, prompt: taskPrompt(task) },
    ...{ rulings: inHand, own: org.capabilities },
  });
  const hasCode = inHand.some(({ capability, ruling }) => capability === "code" && ruling === "allow");
  const root: RootWord = hasCode ? "live" : "ro";
  return {
    asked: {
      ...{ what: { argv }, folder: folderOf(ports, member), root },
      also: asked.flatMap(({ request }) => (request === null ? [] : [request])),
    },
    profile: client.name,
    capabilities: [...given],
    asks: rulings.flatMap(({ capability, ruling }) => (ruling === "ask" ? [capability] : [])),
    denies: rulings.flatMap(({ capability, ruling }) => (ruling === "deny" ? [capability] : [])),
  };
}

function folderOf(ports: TasksPorts, member: OrgAgent | null): string | null {
  const folder = member?.folder?.value;
  if (folder?.kind === "scalar" && typeof folder.value === "string") return folder.value;
  return ports.workspaceAt?.() ?? null;
}
