// Native rules of clients, read as what they mean in a record. INVARIANT: a meaning is never wider than the client's own reading of
// the rule; what has no such meaning is reported and left out.
import { isJsonList, isJsonObject, type Json, member } from "../../core/base/json.ts";

export type RuleAction = "allow" | "ask" | "deny";

export type RuleMeaning =
  /** `specs`: grants in the compact form. `note`: how the record differs from the client's reading. */
  | {
      readonly kind: "grants";
      readonly specs: readonly string[];
      readonly note: string | null;
      readonly isBroad: boolean;
    }
  /** Allowed without a grant: it reaches nothing outside of the client. */
  | { readonly kind: "free" }
  /** The client accepts it and never consults it, or it is about a path that is not meant. */
  | { readonly kind: "dead"; readonly why: string; readonly fix: string | null }
  /** Too broad for a record that should say what it is for. */
  | { readonly kind: "broad"; readonly why: string }
  | { readonly kind: "unreadable"; readonly why: string };

export interface NativeRule {
  readonly action: RuleAction;
  /** As written. */
  readonly rule: string;
  /** The file it is in. */
  readonly file: string;
  /** What kind of tool it is about: rules that deny only concern rules of the same kind. */
  readonly tool: string;
  readonly meaning: RuleMeaning;
  /** Where the client orders its rules by a number: the highest that matches decides. */
  readonly rank?: RuleRank;
}

export interface RuleRank {
  readonly priority: number;
  /** The client's name of the tool; `*` for all. */
  readonly tool: string;
  /** About every call of the tool. */
  readonly isWhole: boolean;
}

export const FREE: RuleMeaning = { kind: "free" };

export function grants(specs: readonly string[], note: string | null = null, isBroad = false): RuleMeaning {
  return { kind: "grants", specs, note, isBroad };
}

export function unreadable(why: string): RuleMeaning {
  return { kind: "unreadable", why };
}

function dead(why: string, fix: string | null = null): RuleMeaning {
  return { kind: "dead", why, fix };
}

/** Programs that run what they are given, or carry data out: a rule with a star behind them allows nearly everything. */
const BROAD_PROGRAMS: ReadonlySet<string> = new Set(
  (
    "awk bash bun bunx curl deno docker env eval exec find fish kubectl nc ncat node npx perl php pnpx " +
    "podman powershell pwsh python python3 rsync ruby scp sed sh source ssh sudo su telnet uvx watch wget " +
    "xargs zsh"
  ).split(" "),
);

/** Words of a command that mean themselves to a shell and in a pattern. */
const PLAIN_WORD = /^[A-Za-z0-9_./:@=+,%^~-]+$/;

/** `words` as a client's rule for a command has them; `rest`: anything may follow. */
export function command(words: readonly string[], rest: boolean): RuleMeaning {
  const [program = ""] = words;
  if (program === "") return { kind: "broad", why: "it allows every command: name the programs" };
  if (!words.every((word) => PLAIN_WORD.test(word)) || /=/.test(program))
    return unreadable("a command of a record is a program with plain arguments");
  const pattern = [...words, ...(rest ? ["**"] : [])].join(" ");
  const isBroad = rest && words.length === 1 && BROAD_PROGRAMS.has(program.split("/").at(-1) ?? program);
  const spec = `proc.exec{in=.,patterns=[${JSON.stringify(pattern)}]}`;
  return grants(
    [spec],
    "it runs in the sandbox, and options that run other programs are not covered by the star",
    isBroad,
  );
}

/** The text of a rule for a command: exact, or with one star at its end. */
export function commandText(text: string): RuleMeaning {
  const trimmed = text.trim().replace(/:\*$/, " *");
  if (/^\**$/.test(trimmed)) return { kind: "broad", why: "it allows every command: name the programs" };
  const isOpen = /\s\*+$/.test(trimmed);
  const plain = trimmed.replace(/\s*\*+$/, "");
  if (plain.includes("*")) return unreadable("a `*` inside a command also matches spaces, and thus other commands");
  if (/\*$/.test(trimmed) && !isOpen)
    return unreadable(`\`${trimmed}\` also matches longer words; write \`${plain} *\``);
  return command(plain.split(/\s+/), isOpen);
}

/** A folder or pattern, relative to the project unless it says otherwise. */
export function paths(verbs: readonly string[], pattern: string, note: string | null = null): RuleMeaning {
  if (/[?[\]!\\"{}]/.test(pattern)) return unreadable("a pattern of a record has stars and names only");
  const isElsewhere = pattern.startsWith("/") || pattern.startsWith("~");
  const scopeOf = (): string => {
    if (!isElsewhere) return `in=.,paths=[${JSON.stringify(pattern)}]`;
    const literal = /^[^*]*/.exec(pattern)?.[0] ?? "";
    const cut = pattern.includes("*") ? literal.lastIndexOf("/") : pattern.length;
    const rest = pattern.slice(cut + 1);
    return `in=${JSON.stringify(pattern.slice(0, cut) || "/")}${rest === "" || rest === "**" ? "" : `,paths=[${JSON.stringify(rest)}]`}`;
  };
  return grants(
    verbs.map((verb) => `${verb}{${scopeOf()}}`),
    note,
  );
}

export function everyFile(verbs: readonly string[], why: string): RuleMeaning {
  return grants(
    verbs.map((verb) => `${verb}{in=.}`),
    why,
    true,
  );
}

/** Names of folders at the root of a machine: behind a single slash Claude Code looks for them in the project. */
const ROOTS =
  /^\/(Applications|Users|Volumes|bin|dev|etc|home|mnt|opt|private|proc|root|run|srv|sys|tmp|usr|var)(\/|$)/;
export const READS: readonly string[] = ["fs.read"];
export const EDITS: readonly string[] = ["fs.read", "fs.write"];
export const ONLY_PROJECT = "the client allows it everywhere, the record only in the project";

function claudePath(verbs: readonly string[], text: string): RuleMeaning {
  if (text.startsWith("//")) return paths(verbs, text.slice(1));
  if (text.startsWith("~")) return paths(verbs, text);
  if (ROOTS.test(text))
    return dead("after a single slash a path is relative to the project", `write /${text} for the absolute path`);
  const plain = text.replace(/^\.?\//, "").replace(/\/$/, "/**");
  if (plain === "" || plain.split("/").includes("..")) return unreadable("a path of a record stays below its folder");
  const isTree = plain.endsWith("**");
  return paths(verbs, plain, isTree ? null : "the client also matches what is below a folder of that name");
}

/** Tools of Claude Code whose rules with a path are accepted and never consulted. */
const PATH_LESS: ReadonlySet<string> = new Set("Glob Grep LS MultiEdit NotebookEdit NotebookRead Write".split(" "));
const FREE_TOOLS: ReadonlySet<string> = new Set(
  (
    "Agent AskUserQuestion BashOutput ExitPlanMode KillBash KillShell Skill SlashCommand Task TaskOutput " +
    "TaskStop TodoRead TodoWrite ToolSearch Cd"
  ).split(" "),
);

export function claudeMeaning(rule: string): { readonly tool: string; readonly meaning: RuleMeaning } {
  const [, tool = "", inside] = /^([A-Za-z_][\w.*-]*|\*)(?:\((.*)\))?$/s.exec(rule) ?? [];
  const of = (meaning: RuleMeaning, kind = tool): ReturnType<typeof claudeMeaning> => ({ tool: kind, meaning });
  if (tool === "") return of(unreadable("this is not a valid rule"), rule);
  if (tool === "*") return of({ kind: "broad", why: "it allows every tool" });
  if (tool.startsWith("mcp__")) {
    if (inside !== undefined) return of(unreadable("a rule for a tool of a server has no arguments"));
    const name = /^mcp__[^_]+(?:_[^_]+)*$/.test(tool) ? `${tool}__*` : tool;
    return of(grants([`tool.invoke{tools=[${JSON.stringify(name.includes("*") ? `tool:${name}` : name)}]}`]));
  }
  const own = inside === "*" ? undefined : inside;
  if (FREE_TOOLS.has(tool)) return of(FREE);
  if (tool === "Bash" || tool === "Monitor") return of(commandText(own ?? "*"), "Bash");
  if (tool === "Read") return of(own === undefined ? everyFile(READS, ONLY_PROJECT) : claudePath(READS, own));
  if (tool === "Edit") return of(own === undefined ? everyFile(EDITS, ONLY_PROJECT) : claudePath(EDITS, own));
  if (PATH_LESS.has(tool)) {
    const isWriting = tool === "Write" || tool.endsWith("Edit");
    const kind = isWriting ? "Edit" : "Read";
    if (own !== undefined)
      return of(dead(`Claude Code accepts \`${tool}(path)\` and never consults it`, `${kind}(${own})`), kind);
    return of(everyFile(isWriting ? EDITS : READS, ONLY_PROJECT), kind);
  }
  if (tool === "WebFetch") return of(fetchMeaning(/^domain:\s*(\S+)$/.exec(own ?? "")?.[1] ?? null));
  if (tool === "WebSearch") return of(grants(["provider.web_search{hosts=[*]}"]));
  return of(unreadable("no known tool has this name"));
}

export function fetchMeaning(host: string | null): RuleMeaning {
  if (host === null) return { kind: "broad", why: "it allows every host: name them" };
  if (!/^[A-Za-z0-9.-]+$/.test(host)) return unreadable("a `*` in a host has another meaning in a record");
  return grants([`net.get{hosts=[${host.toLowerCase()}]}`]);
}

export function textsAt(value: Json | undefined, ...at: readonly string[]): readonly string[] {
  let here = value;
  for (const key of at) here = here !== undefined && isJsonObject(here) ? member(here, key) : undefined;
  return here !== undefined && isJsonList(here) ? here.filter((one): one is string => typeof one === "string") : [];
}

const LISTS = "permissions";

export function claudeRules(value: Json, file: string): readonly NativeRule[] {
  return (["deny", "ask", "allow"] as const).flatMap((action) =>
    textsAt(value, LISTS, action).map((rule) => ({ action, rule, file, ...claudeMeaning(rule) })),
  );
}

export function cursorRules(value: Json, file: string): readonly NativeRule[] {
  return (["deny", "allow"] as const).flatMap((action) =>
    textsAt(value, LISTS, action).map((rule) => ({ action, rule, file, ...cursorMeaning(rule) })),
  );
}

function cursorMeaning(rule: string): { readonly tool: string; readonly meaning: RuleMeaning } {
  const [, tool = "", inside = ""] = /^(Shell|Read|Write|WebFetch|Mcp)\((.*)\)$/s.exec(rule) ?? [];
  const path = inside.replace(/^\.\//, "");
  switch (tool) {
    case "Shell":
      return {
        tool: "Bash",
        meaning: /^\S+$/.test(inside) && !inside.includes("*") ? command([inside], true) : commandText(inside),
      };
    case "Read":
    case "Write":
      return { tool: tool === "Read" ? "Read" : "Edit", meaning: paths(tool === "Read" ? READS : EDITS, path) };
    case "WebFetch":
      return { tool, meaning: fetchMeaning(inside === "*" ? null : inside) };
    case "Mcp":
      return {
        tool: rule,
        meaning: unreadable("Cursor's hook names a tool by its own name only; grant `tool.invoke` for it"),
      };
    default:
      return { tool: rule, meaning: unreadable("this is not a valid rule") };
  }
}

/** A map of tools to actions, or to patterns with actions, as opencode and rulesync have it. */
export function mapRules(value: Json, file: string): readonly NativeRule[] {
  const map = isJsonObject(value) ? member(value, "permission") : undefined;
  const rules: NativeRule[] = [];
  const tools = map !== undefined && isJsonObject(map) ? Object.entries(map) : [];
  for (const [tool, inner] of tools) {
    const pairs =
      typeof inner === "string" ? [["*", inner] as const] : isJsonObject(inner) ? Object.entries(inner) : [];
    for (const [pattern, action] of pairs) {
      if (action !== "allow" && action !== "ask" && action !== "deny") continue;
      // The last rule that matches wins. What asks, or denies, everything first is what a record does without a grant.
      if (pattern === "*" && action !== "allow" && pairs.length > 1 && pairs[0]?.[0] === "*") continue;
      if (tool === "*" && action !== "allow" && tools[0]?.[0] === "*") continue;
      const rule = pattern === "*" ? tool : `${tool} ${pattern}`;
      rules.push({ action, rule, file, ...mapMeaning(tool, pattern) });
    }
  }
  return rules;
}

function mapMeaning(tool: string, pattern: string): { readonly tool: string; readonly meaning: RuleMeaning } {
  const isAll = pattern === "*" || pattern === "**";
  const tree = pattern.replace(/^\.\//, "").replace(/(^|\/)\*$/, "$1**");
  switch (tool) {
    case "bash":
      return { tool: "Bash", meaning: commandText(pattern) };
    case "read":
    case "list":
      return { tool: "Read", meaning: isAll ? everyFile(READS, ONLY_PROJECT) : paths(READS, tree) };
    case "edit":
    case "write":
      return { tool: "Edit", meaning: isAll ? everyFile(EDITS, ONLY_PROJECT) : paths(EDITS, tree) };
    case "glob":
    case "grep":
      return {
        tool,
        meaning: isAll ? everyFile(READS, ONLY_PROJECT) : unreadable("its pattern is the search text"),
      };
    case "webfetch":
      return {
        tool: "WebFetch",
        meaning: fetchMeaning(/^https?:\/\/([A-Za-z0-9.-]+)\/\*+$/.exec(pattern)?.[1] ?? null),
      };
    case "websearch":
      return { tool, meaning: isAll ? grants(["provider.web_search{hosts=[*]}"]) : unreadable("it has no pattern") };
    case "*":
      return { tool, meaning: { kind: "broad", why: "it allows every tool" } };
    case "task":
    case "skill":
    case "question":
    case "lsp":
    case "todoread":
    case "todowrite":
      return { tool, meaning: FREE };
    case "doom_loop":
    case "external_directory":
      return { tool, meaning: unreadable("a record has no such rule") };
    default: {
      if (!isAll || !/^[\w*-]+$/.test(tool)) return { tool, meaning: unreadable("this is not a valid rule") };
      return {
        tool,
        meaning: grants([`tool.invoke{tools=[${JSON.stringify(tool.includes("*") ? `tool:${tool}` : tool)}]}`]),
      };
    }
  }
}
