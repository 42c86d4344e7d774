// The tools task_delegate, task_schedule, agent_hire and capability_request: what an agent asks the runtime to do beyond its own run. Directives
// in a client's output are calls of the same tools.
import { parseName } from "../../core/authority/axes/name.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Request } from "../../core/authority/request.ts";
import { agentIdOf, idOfRole, parseAgentId } from "../../core/base/agent-id.ts";
import { textIn } from "../../core/base/fields.ts";
import type { Json } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import { invalid, type UseResult } from "../../runtime/context/use-result.ts";
import type { BuiltinTool } from "../../runtime/tool/builtin.ts";
import { objectSchema, textSchema } from "../../runtime/tool/schema-parts.ts";
import { agentIdCharactersMax, instructionsCharactersMax } from "../agents/limits.ts";

const promptCharactersMax = 20_000;
const whenCharactersMax = 400;
const capabilityCharactersMax = 64;
const roleCharactersMax = 100;

/** Tasks and schedules of the session's workspace. */
export interface TaskAccess {
  delegate(agent: string, prompt: string): Promise<UseResult<Json>>;
  schedule(when: string, prompt: string): Promise<UseResult<Json>>;
  /** A new agent below the caller, with what the caller may pass on. */
  hire(agent: string, role: string, instructions: string): Promise<UseResult<Json>>;
  request(capability: string, reason: string): Promise<UseResult<Json>>;
  readonly caller: string;
  /** The session is a run of a task. */
  readonly isRun: boolean;
}

export interface TaskPowers {
  readonly tasks: TaskAccess;
}

const PROMPT = textSchema(
  "What is to be done, in full: the run that does it reads nothing else.",
  1,
  promptCharactersMax,
);

const delegateTool: BuiltinTool<TaskPowers> = {
  name: "task_delegate",
  description:
    "Queue a task for an agent below you in the organisation. It runs later, in its own sandbox with its own grants, and your " +
    "budget pays for it. Do not wait for it.",
  input: objectSchema({ agent: textSchema("The id of the agent.", 1, agentIdCharactersMax), prompt: PROMPT }, [
    "agent",
    "prompt",
  ]),
  verbs: ["agent.delegate"],
  requests: (input) => {
    const request = requestFor("agent.delegate", agentIdOf(textIn(input, "agent", agentIdCharactersMax) ?? ""));
    return request.ok ? done([request.value]) : request;
  },
  execute: async (input, { tasks }) => {
    const [agent, prompt] = [
      textIn(input, "agent", agentIdCharactersMax),
      textIn(input, "prompt", promptCharactersMax),
    ];
    return agent === null || prompt === null ? BAD : tasks.delegate(agentIdOf(agent), prompt);
  },
};

const scheduleTool: BuiltinTool<TaskPowers> = {
  name: "task_schedule",
  description: "Queue a task for yourself at a later time, once or again and again.",
  input: objectSchema(
    {
      when: textSchema(
        "`every 30m`, `cron 0 9 * * 1-5 in Europe/Berlin`, `at 2030-01-31T09:00`, or `after ID` of a task.",
        1,
        whenCharactersMax,
      ),
      prompt: PROMPT,
    },
    ["when", "prompt"],
  ),
  verbs: ["task.schedule"],
  requests: () => {
    const verb = verbEntry("task.schedule");
    return verb === null ? refuse("bad_value", "no verb task.schedule") : done([{ verb, values: [] }]);
  },
  execute: async (input, { tasks }) => {
    const [when, prompt] = [textIn(input, "when", whenCharactersMax), textIn(input, "prompt", promptCharactersMax)];
    return when === null || prompt === null ? BAD : tasks.schedule(when, prompt);
  },
};

const hireTool: BuiltinTool<TaskPowers> = {
  name: "agent_hire",
  description:
    "Hire an agent that reports to you. It has the grants that you may pass on, its client is yours, and your budget pays for it. " +
    "Then give it work with task_delegate.",
  input: objectSchema(
    {
      role: textSchema(
        "What it is, such as Researcher. Its id is your id, a slash and the role.",
        1,
        roleCharactersMax,
      ),
      instructions: textSchema("Its instructions: what it is for, and how it works.", 1, instructionsCharactersMax),
    },
    ["role", "instructions"],
  ),
  verbs: ["agent.create"],
  requests: (input, { agent }) => {
    const id = hiredId(agent, textIn(input, "role", roleCharactersMax) ?? "");
    const request = id.ok ? requestFor("agent.create", id.value) : id;
    return request.ok ? done([request.value]) : request;
  },
  execute: async (input, { tasks }) => {
    const role = textIn(input, "role", roleCharactersMax);
    const instructions = textIn(input, "instructions", instructionsCharactersMax);
    const id = role === null ? null : hiredId(tasks.caller, role);
    return role === null || instructions === null || id?.ok !== true ? BAD : tasks.hire(id.value, role, instructions);
  },
};

/**
 * Below the id of its hirer: what it leaves in stores is below that of its hirer, too. INVARIANT: without a dot, so no file of a
 * project has the name of a hired agent.
 */
function hiredId(hirer: string, role: string): Result<string> {
  const name = idOfRole(role).replaceAll(".", "-");
  if (name === "") return refuse("bad_value", "a role has letters or digits, such as Researcher");
  return parseAgentId(`${hirer}/${name}`);
}

const requestTool: BuiltinTool<TaskPowers> = {
  name: "capability_request",
  description:
    "Request a capability that was refused for this task. When your run ends, the task waits until a person has answered.",
  input: objectSchema(
    {
      capability: textSchema("Its name, such as code or web.", 1, capabilityCharactersMax),
      reason: textSchema("What you need it for; the person reads this.", 0, promptCharactersMax),
    },
    ["capability"],
  ),
  verbs: [],
  isListed: ({ tasks }) => tasks.isRun,
  requests: () => done([]),
  execute: async (input, { tasks }) => {
    const capability = textIn(input, "capability", capabilityCharactersMax);
    const reason = textIn(input, "reason", promptCharactersMax) ?? "";
    return capability === null ? BAD : tasks.request(capability, reason);
  },
};

export const TASK_TOOLS: readonly BuiltinTool<TaskPowers>[] = [delegateTool, scheduleTool, hireTool, requestTool];

const BAD = invalid(null, "needs the fields of its schema, as text");

function requestFor(verb: string, name: string): Result<Request> {
  const entry = verbEntry(verb);
  const parsed = parseName(name);
  if (entry === null) return refuse("bad_value", `no verb ${verb}`);
  return parsed.ok ? done({ verb: entry, values: entry.axes.map(() => parsed.value) }) : parsed;
}
