// The tools of Claude Code that a capability stands for, and the flags that give or withhold them.

/** By capability. Those without tools are directives, or stores of ours. */
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
