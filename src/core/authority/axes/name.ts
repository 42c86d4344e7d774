// Names, keys, ids, classes and tools: segments with stars.
import { agentIdOf } from "../../base/agent-id.ts";
import { nameCharactersMax, patternCharactersMax, segmentsMax } from "../../base/limits.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import { isPlainText } from "../patterns/reserved.ts";
import { literal, ONE, segmentOf } from "../patterns/segment.ts";
import { type Segments, type Sequence, segmentsOf, sequenceText } from "../patterns/sequence.ts";
import { joinDeep } from "./path.ts";

export function parseName(text: string): Result<Segments> {
  const segments = split(text, "/", nameCharactersMax);
  if (!segments.ok) return segments;
  return text.includes("*")
    ? refuse("bad_value", `${JSON.stringify(text)} is a pattern, not a name`)
    : done(segmentsOf(segments.value));
}

export function parseNamePattern(text: string): Result<Sequence> {
  const segments = split(text, "/", patternCharactersMax);
  return segments.ok ? done(joinDeep(segments.value.map(segmentOf))) : segments;
}

/** An agent, by either spelling of its id. */
export function parseAgentName(text: string): Result<Segments> {
  return parseName(agentIdOf(text));
}

export function parseAgentPattern(text: string): Result<Sequence> {
  return parseNamePattern(agentIdOf(text));
}

export function nameText(segments: readonly string[]): string {
  return segments.join("/");
}

export function namePatternText(pattern: Sequence): string {
  return sequenceText(pattern, "/");
}

/** Tools that come with ambit. A tool from elsewhere can never register under one of these names. */
export const BUILTIN_TOOLS: readonly string[] = [
  "fs_read fs_write fs_edit fs_delete fs_list fs_glob fs_grep proc_exec proc_eval shell sandbox_exec web_fetch web_search lm_complete",
  "records_search records_read records_create records_update records_delete records_links",
  "memory_get memory_set memory_list memory_delete obs_append obs_query store_list store_get store_put store_delete",
  "agent_create agent_update agent_grant agent_discover agent_delete skills_list skills_read resources_list resources_read resources_complete resources_watch git",
  "task_delegate task_schedule agent_hire capability_request",
].flatMap((line) => line.split(" "));

const BUILTIN_NAMES: ReadonlySet<string> = new Set(BUILTIN_TOOLS);

/** The name of a tool in a call: `fs.read` is `fs_read`, because no tool from elsewhere may have such a name. */
export function builtinName(text: string): string {
  const name = text.replaceAll(".", "_");
  return BUILTIN_NAMES.has(name) ? name : text;
}

const BUILTIN = "builtin";
const FOREIGN = "tool";

/** A tool is its origin followed by the parts of its name, so that `builtin:**` is an ordinary pattern. */
export function parseTool(text: string): Result<Segments> {
  const parts = toolParts(text, nameCharactersMax);
  if (!parts.ok) return parts;
  const { origin, rest, segments } = parts.value;
  if (rest.includes("*")) return refuse("bad_value", `${JSON.stringify(text)} is a pattern, not a tool`);
  if (origin === BUILTIN && !BUILTIN_NAMES.has(rest))
    return refuse("bad_value", `${JSON.stringify(rest)} is not a built-in tool`);
  return done(segmentsOf([origin ?? (BUILTIN_NAMES.has(rest) ? BUILTIN : FOREIGN), ...segments]));
}

export function parseToolPattern(text: string): Result<Sequence> {
  const parts = toolParts(text, patternCharactersMax);
  if (!parts.ok) return parts;
  const { origin, rest, segments } = parts.value;
  const plain = !rest.includes("*");
  const from = origin ?? (plain ? (BUILTIN_NAMES.has(rest) ? BUILTIN : FOREIGN) : null);
  return done([from === null ? ONE : literal(from), ...joinDeep(segments.map(segmentOf))]);
}

/** The origin is written where the text alone would be read as a tool from elsewhere. */
export function toolPatternText(pattern: Sequence): string {
  const [origin, ...rest] = pattern;
  const text = sequenceText(rest, ".");
  if (origin?.kind !== "literal") return text;
  const star = rest.some((segment) => segment.kind !== "literal");
  const read = BUILTIN_NAMES.has(text) ? BUILTIN : FOREIGN;
  return star || origin.text !== read ? `${origin.text}:${text}` : text;
}

interface ToolParts {
  readonly origin: string | null;
  readonly rest: string;
  readonly segments: readonly string[];
}

function toolParts(text: string, charactersMax: number): Result<ToolParts> {
  const match = /^(builtin|tool):/.exec(text);
  const name = match === null ? text : text.slice(match[0].length);
  const rest = match?.[1] === FOREIGN ? name : builtinName(name);
  if (rest.includes(":")) {
    return refuse(
      "bad_value",
      `${JSON.stringify(text)}: a tool's origin is builtin or tool, and its name has no colon`,
    );
  }
  const segments = split(rest, ".", charactersMax);
  if (!segments.ok) return segments;
  return done({ origin: match?.[1] ?? null, rest, segments: segments.value });
}

function split(text: string, separator: string, charactersMax: number): Result<readonly string[]> {
  if (text.length > charactersMax) return refuse("too_long", `longer than ${charactersMax} characters`);
  if (text === "") return refuse("bad_value", "the name is empty");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (!isPlainText(text) || /[\u0000-\u001f\u007f]/.test(text))
    return refuse("bad_value", "the name contains a character that is not allowed");
  const segments = text.split(separator);
  if (segments.length > segmentsMax) return refuse("too_long", `more than ${segmentsMax} segments`);
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    return refuse("bad_value", `${JSON.stringify(text)} has an empty or dotted segment`);
  }
  return done(segments);
}
