// Serializes an entry to the text that is hashed and stored, and parses it. An entry that is too large is truncated.
import { utf8Length } from "../../core/base/bytes.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import { ENTRY_KINDS, type EntryKind, type LogEntry, type PrincipalView } from "../../core/ports/stores/log.ts";
import { canonicalJson, canonicalWithin } from "./canonical.ts";
import { type CutSizes, cutJson, cutText, isSmall } from "./cut.ts";
import { PreserializedEntry } from "./preserialized-entry.ts";

/** Of a body's UTF-8. */
export const entryBytesMax = 65_536;
const moreDepthMax = 32;

/** Each smaller than the one before; the last fits any input. */
const STEPS: readonly CutSizes[] = [
  { characters: 16_384, elements: 1024, depth: moreDepthMax },
  { characters: 4096, elements: 256, depth: moreDepthMax },
  { characters: 1024, elements: 64, depth: 16 },
  { characters: 256, elements: 32, depth: 6 },
  { characters: 128, elements: 16, depth: 3 },
];
const LAST: CutSizes = { characters: 64, elements: 8, depth: 1 };

export function entryBody(entry: LogEntry): string {
  const whole = bodyOf(entry);
  if (whole !== null) return whole;
  for (const sizes of STEPS) {
    const body = bodyOf(cutEntry(entry, sizes));
    if (body !== null) return body;
  }
  return canonicalJson(dataOf(cutEntry(entry, LAST)));
}

/** Null if it is too long; a far too long one is not even serialized. */
function bodyOf(entry: LogEntry): string | null {
  const spelled = PreserializedEntry.textOf(entry);
  if (spelled !== null) return fits(spelled) ? spelled : null;
  const body = canonicalWithin(dataOf(entry), entryBytesMax, moreDepthMax + 1);
  return body !== null && fits(body) ? body : null;
}

/** Null if it is not an entry: too long, not JSON, a member that is missing or of another type. */
export function readEntryBody(body: string): LogEntry | null {
  if (!fits(body)) return null;
  const value = parsed(body);
  if (!isJsonObject(value)) return null;
  const read = (key: string): Json | undefined => (Object.hasOwn(value, key) ? value[key] : undefined);
  const { id, kind, at, outcome } = { id: read("id"), kind: read("kind"), at: read("at"), outcome: read("outcome") };
  const [chain, verbs, more] = [read("chain"), read("verbs"), read("more")];
  if (typeof id !== "string" || !isKind(kind) || typeof outcome !== "string") return null;
  if (typeof at !== "number" || !isTexts(chain) || !isTexts(verbs)) return null;
  // Consumers may traverse it recursively.
  if (!isJsonObject(more) || !isSmall(more, entryBytesMax, moreDepthMax)) return null;
  const optional = OPTIONAL.map((key): [string, Json | undefined] => [key, read(key)]);
  if (optional.some(([, each]) => each !== null && typeof each !== "string")) return null;
  const texts = Object.fromEntries(optional) as Record<(typeof OPTIONAL)[number], string | null>;
  const [agents, principal] = [read("agents"), readPrincipal(read("principal"))];
  if (principal === null || (agents !== undefined && !isTexts(agents))) return null;
  const added = { ...(agents === undefined ? {} : { agents }), ...(principal === undefined ? {} : { principal }) };
  return { ...texts, ...added, id, kind, at, chain, verbs, outcome, more };
}

const OPTIONAL = ["user", "agent", "workspace", "session", "trace", "tool", "code", "of"] as const;

/** Undefined where it is absent, as in entries of earlier versions and those without a user; null where it is invalid. */
function readPrincipal(value: Json | undefined): PrincipalView | undefined | null {
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) return null;
  const { user, name, address, groups } = value;
  const isText = (one: Json | undefined): one is string | null => one === null || typeof one === "string";
  if (typeof user !== "string" || !isText(name) || !isText(address) || !isTexts(groups)) return null;
  return { user, name, address, groups };
}

/** Only the known members, in the order they are written in. */
function dataOf(entry: LogEntry): JsonObject {
  const { agent, agents, at, chain, code, id, kind, more, of, outcome, principal, session, tool, trace } = entry;
  const { user, verbs, workspace } = entry;
  const all = agents === undefined ? {} : { agents };
  const acting = principal === undefined ? {} : { principal: principal as unknown as JsonObject };
  const front = { agent, ...all, at, chain, code, id, kind, more, of, outcome, ...acting };
  return { ...front, session, tool, trace, user, verbs, workspace };
}

function cutEntry(entry: LogEntry, sizes: CutSizes): LogEntry {
  const text = (value: string): string => cutText(value, sizes.characters);
  const maybe = (value: string | null): string | null => (value === null ? null : text(value));
  const texts = (list: readonly string[]): readonly string[] => cutJson(list, sizes) as readonly string[];
  return {
    id: text(entry.id),
    kind: entry.kind,
    at: entry.at,
    user: maybe(entry.user),
    principal:
      entry.principal && (cutJson(entry.principal as unknown as JsonObject, sizes) as unknown as PrincipalView),
    agent: maybe(entry.agent),
    agents: entry.agents && texts(entry.agents),
    workspace: maybe(entry.workspace),
    chain: texts(entry.chain),
    session: maybe(entry.session),
    trace: maybe(entry.trace),
    tool: maybe(entry.tool),
    verbs: texts(entry.verbs),
    outcome: text(entry.outcome),
    code: maybe(entry.code),
    of: maybe(entry.of),
    more: cutJson(entry.more, sizes) as JsonObject,
  };
}

function fits(body: string): boolean {
  // No UTF-16 code unit takes more than three bytes.
  return body.length * 3 <= entryBytesMax || (body.length <= entryBytesMax && utf8Length(body) <= entryBytesMax);
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function isKind(value: Json | undefined): value is EntryKind {
  return ENTRY_KINDS.some((kind) => kind === value);
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return isJsonList(value) && value.every((element) => typeof element === "string");
}
