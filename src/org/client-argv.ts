// The command line that gives a client one task, without a person at it, with the tools its agent may have.
import type { Task } from "../core/ports/stores/task-store.ts";
import { capabilityTool, type OrgRuling, type OwnCapability } from "./org.ts";

export interface ClientTask {
  readonly client: string;
  readonly model: string | null;
  /** The agent's own instructions. */
  readonly instructions: string;
  readonly prompt: string;
  readonly rulings: readonly Pick<OrgRuling, "capability" | "ruling">[];
  readonly own: ReadonlyMap<string, OwnCapability>;
}

export function clientArgv({ client, model, instructions, prompt, rulings, own }: ClientTask): readonly string[] {
  const text = notAnOption(prompt);
  const both = instructions === "" ? text : notAnOption(`${instructions}\n\n${prompt}`);
  const models = (flag: string): readonly string[] => (model === null ? [] : [flag, model]);
  const hasCode = rulings.some(({ capability, ruling }) => capability === "code" && ruling === "allow");
  switch (client) {
    case "claude": {
      const tools = {
        ...CLAUDE_TOOLS,
        ...Object.fromEntries([...own].map(([name, { tools: names }]) => [name, names])),
      };
      const flags = claudeFlags(
        claudeTools(
          rulings.map((one) => [one.capability, one.ruling] as const),
          tools,
        ),
      );
      const system = instructions === "" ? [] : ["--append-system-prompt", notAnOption(instructions)];
      const head = ["claude", "-p", text, "--output-format", "stream-json", "--verbose"];
      return [...head, ...system, ...models("--model"), ...flags];
    }
    case "codex": {
      // Its own sandbox does not start inside ours, which holds it: with `read-only` it runs no command.
      const sandbox = hasCode ? "danger-full-access" : "read-only";
      // A workspace need not be a repository: a person has trusted it.
      const head = ["codex", "exec", "--json", "--skip-git-repo-check", "--sandbox", sandbox];
      return [...head, ...models("-m"), both];
    }
    case "opencode":
      return ["opencode", "run", "--format", "json", ...models("-m"), both];
    case "gemini":
      return ["gemini", "--output-format", "json", ...models("-m"), "-p", both];
    default:
      return [client, both];
  }
}

/** Words of a task that begin with a dash would be read as an option of the client. */
function notAnOption(text: string): string {
  return text.startsWith("-") ? ` ${text}` : text;
}

/**
 * What the agent reads: the task, what it requested, why it does not have what it was refused, and what became of its
 * directives. A request changes the words, so that an answer to the words before is none to it.
 */
export function taskPrompt({
  prompt,
  refused,
  requested,
  notes,
}: Pick<Task, "prompt" | "refused" | "requested" | "notes">): string {
  const requests = requested.map(
    ({ capability, reason }) => `You requested the capability ${capability}${reason === "" ? "" : `: ${reason}`}`,
  );
  const lines = refused.map(
    ({ capability, reason }) =>
      `The capability ${capability} was refused for this task${reason === "" ? "" : `: ${reason}`}. Work without it.`,
  );
  return [prompt, ...requests, ...lines, ...notes].join("\n\n");
}

/** A host that no server ever has: it stands for the open web in a request for the whole capability. */
const ANY_HOST = "web.invalid";

/**
 * The capabilities that a run needs approval for before it has them, each with a request that its `ask` covers: those with
 * tools of the client. The others ask when they are used. `tools` of the file's own capabilities are names of Claude Code's.
 */
export function askedRequests(
  { client, rulings, own }: Pick<ClientTask, "client" | "rulings" | "own">,
  agent: string,
  refused: readonly string[],
): readonly { readonly capability: string; readonly request: string | null }[] {
  const withTools = [...own.values()].filter(({ tools }) => client === "claude" && tools.length > 0);
  const requests: Readonly<Record<string, string | null>> = {
    ...Object.fromEntries(withTools.map(({ name }) => [name, `tool.invoke ${capabilityTool(name)}`])),
    // The client starts with a root it may change, which asks by itself.
    code: null,
    consult: `agent.consult ${agent}`,
    web: `provider.web_search ${ANY_HOST}`,
  };
  return rulings.flatMap(({ capability, ruling }) =>
    ruling === "ask" && Object.hasOwn(requests, capability) && !refused.includes(capability)
      ? [{ capability, request: requests[capability] ?? null }]
      : [],
  );
}

/** The tools of Claude Code, by capability. Those without tools are directives, or stores of ours. */
export const CLAUDE_TOOLS: Readonly<Record<string, readonly string[]>> = {
  code: ["Bash", "Read", "Write", "Edit", "Glob", "Grep"],
  consult: ["Task"],
  web: ["WebSearch", "WebFetch"],
};

export interface ClaudeTools {
  readonly allowed: readonly string[];
  readonly disallowed: readonly string[];
}

/**
 * `allow` adds the tools of a capability; `ask` and `deny` withhold them. A tool that two capabilities stand for is withheld
 * if one of them withholds it.
 */
export function claudeTools(
  rulings: Iterable<readonly [capability: string, ruling: "allow" | "ask" | "deny"]>,
  tools: Readonly<Record<string, readonly string[]>> = CLAUDE_TOOLS,
): ClaudeTools {
  const allowed = new Set<string>();
  const disallowed = new Set<string>();
  for (const [capability, ruling] of rulings) {
    const names = Object.hasOwn(tools, capability) ? (tools[capability] ?? []) : [];
    for (const name of names) (ruling === "allow" ? allowed : disallowed).add(name);
  }
  return { allowed: [...allowed].filter((name) => !disallowed.has(name)), disallowed: [...disallowed] };
}

/** One word for each list, with commas: the client reads a list of several words up to the next flag. */
export function claudeFlags({ allowed, disallowed }: ClaudeTools): readonly string[] {
  return [
    ...(allowed.length === 0 ? [] : ["--allowedTools", allowed.join(",")]),
    ...(disallowed.length === 0 ? [] : ["--disallowedTools", disallowed.join(",")]),
  ];
}
