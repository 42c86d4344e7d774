// Tools of agent clients by the names skills call them, and the verbs behind each.

export interface NeedSpec {
  readonly verb: string;
  /** Scope keys and their values; null where the tool is named without a scope. */
  readonly keys: Readonly<Record<string, string | readonly string[]>> | null;
}

type Needs = readonly NeedSpec[] | "unreadable";

/** `scope`: what stands between the parentheses; null without any. */
type Reader = (scope: string | null) => Needs;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ...["Read", "Grep", "Glob", "LS", "NotebookRead"].map((name) => [name, files("fs.read")] as const),
  ["Write", files("fs.write")],
  // What is edited is read first.
  ...["Edit", "MultiEdit", "NotebookEdit"].map((name) => [name, files("fs.read", "fs.write")] as const),
  ["Bash", command],
  ["WebFetch", fetching],
  ["WebSearch", (scope) => (scope === null ? [bare("net.get"), bare("net.post")] : "unreadable")],
  ["Task", agent],
  ["Agent", agent],
  // They touch nothing beyond the session, or only what another tool has started.
  ...["TodoRead", "TodoWrite", "BashOutput", "KillBash", "KillShell"].map((name) => [name, () => []] as const),
  ...["AskUserQuestion", "ExitPlanMode", "Skill", "SlashCommand"].map((name) => [name, () => []] as const),
]);

export const TOOL_NAMES: readonly string[] = [...READERS.keys()];

/** `(*)` is the tool without a scope. */
export function needsOf(name: string, scope: string | null): readonly NeedSpec[] | "unknown" | "unreadable" {
  const own = scope === "*" ? null : scope;
  if (own === "") return "unreadable";
  if (name.startsWith("mcp__")) return own === null ? upstream(name.slice(5)) : "unreadable";
  return READERS.get(name)?.(own) ?? "unknown";
}

function bare(verb: string): NeedSpec {
  return { verb, keys: null };
}

function files(...verbs: readonly string[]): Reader {
  return (scope) => verbs.map((verb) => (scope === null ? bare(verb) : { verb, keys: pathKeys(scope) }));
}

/** An absolute pattern is read below its literal part, a relative one below the agent's root. `//` is how some write `/`. */
function pathKeys(pattern: string): Readonly<Record<string, string | readonly string[]>> {
  const text = pattern.replace(/^\/\//, "/");
  if (!/^(?:~?\/|~$)/.test(text)) return { paths: [text] };
  const literal = /^[^*{]*/.exec(text)?.[0] ?? "";
  const cut = literal.lastIndexOf("/");
  if (cut < 0) return { in: text };
  return { in: text.slice(0, cut) || "/", paths: [text.slice(cut + 1) || "**"] };
}

/** What only a shell understands: joining, redirecting, substituting, and variables set before the program. */
const SHELL = /[;&|<>`\n]|\$[({]|^\s*\w+=/;

/** `git log:*` is `git log` with anything behind it. A line for a shell needs a shell. */
function command(scope: string | null): Needs {
  if (scope === null) return [{ verb: "proc.exec", keys: { patterns: ["*"] } }];
  if (SHELL.test(scope)) return [bare("proc.eval")];
  return [{ verb: "proc.exec", keys: { patterns: [scope.replace(/:\*$/, " **")] } }];
}

function fetching(scope: string | null): Needs {
  if (scope === null) return [bare("net.get")];
  const host = /^domain:\s*(\S+)$/.exec(scope)?.[1];
  return host === undefined ? "unreadable" : [{ verb: "net.get", keys: { hosts: [host] } }];
}

function agent(scope: string | null): Needs {
  return [scope === null ? bare("agent.delegate") : { verb: "agent.delegate", keys: { ids: [scope] } }];
}

/** `server__tool`, or a server with all of its tools. */
function upstream(name: string): Needs {
  const parts = /^([\w-]+?)(?:__([\w.*-]+))?$/.exec(name);
  if (parts === null) return "unreadable";
  const [, server = "", tool = "*"] = parts;
  return [{ verb: "tool.invoke", keys: { tools: [`tool:${server}__${tool}`] } }];
}
