// memory_get, memory_set, memory_list, memory_delete: values by key. `shared/x` belongs to the workspace, `session/x` to this
// session, every other key to the agent.

import { nameText, parseName } from "../../core/authority/axes/name.ts";
import { isSegments } from "../../core/authority/axes/scope.ts";
import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { DurableResult as Durably } from "../../core/ports/stores/durable.ts";
import type { MemoryStore, MemoryValue, Namespace } from "../../core/ports/stores/memory-store.ts";
import { countSchema, objectSchema, textSchema } from "../../runtime/tool/schema-parts.ts";
import { nameRequest, numberOr, optionalText, textIn } from "../input.ts";
import type { Session } from "../session.ts";
import type { ExecutionResult, OwnerTool } from "./owner-tool.ts";

const keyCharactersMax = 512;
const valueCharactersMax = 262_144;
const listedMax = 1000;
const sessionSeconds = 86_400;
const secondsMax = 10 * 365 * 86_400;

const KEY = textSchema(
  "The key, such as notes/today. Keys under `shared/…` belong to the whole workspace, under `session/…` to this session; other keys are your own.",
  1,
  keyCharactersMax,
);

export function memoryTools(
  memory: MemoryStore,
  now: () => number,
  /** Whether the session may read a key; lists are filtered by it. */
  mayRead: (session: Session, request: Request) => boolean,
): readonly OwnerTool[] {
  return [
    {
      name: "memory_get",
      description: "Read the value stored under a key; null if there is none.",
      input: objectSchema({ key: KEY }, ["key"]),
      verbs: ["memory.read"],
      requests: (input) => keyRequest("memory.read", input),
      execute: async ({ input, session }) => {
        const place = locationOf(input, session);
        if (place === null) return BAD;
        const found = await memory.get(place.namespace, place.key, now());
        return told(
          found,
          (value) => (value === null ? null : shown(value)),
          (value) => value !== null && !value.isClean,
        );
      },
    },
    {
      name: "memory_set",
      description:
        "Store a text under a key for later turns. With `version`, it is written only if the stored version is still that one " +
        "(0: only if the key is new), so that no concurrent change is lost.",
      input: objectSchema(
        {
          key: KEY,
          value: textSchema("The text to store.", 0, valueCharactersMax),
          version: countSchema("Fail unless the stored version is this one.", 0, Number.MAX_SAFE_INTEGER),
          seconds: countSchema("Expire the value after this many seconds.", 1, secondsMax),
        },
        ["key", "value"],
      ),
      verbs: ["memory.write"],
      requests: (input) => keyRequest("memory.write", input),
      execute: async ({ input, session }) => {
        const place = locationOf(input, session);
        const value = textIn(input, "value", valueCharactersMax);
        const version = numberOr(input, "version", -1, 0, Number.MAX_SAFE_INTEGER);
        const seconds = numberOr(input, "seconds", -1, 1, secondsMax);
        if (place === null || value === null || version === null || seconds === null) return BAD;
        const written = await memory.set({
          ...place,
          value,
          version: version < 0 ? null : version,
          expires: expiryOf(place.namespace, seconds, now()),
          isClean: session.isClean,
          writer: session.facts.name,
          at: now(),
        });
        if (!written.ok) return written;
        const { value: answer } = written;
        return answer.ok ? { ok: true, value: { version: answer.version }, isUntrusted: false } : answer;
      },
    },
    {
      name: "memory_list",
      description: "List readable keys and values, filtered by key prefix or by text in the value.",
      input: objectSchema({
        prefix: textSchema("A prefix of the keys.", 0, keyCharactersMax),
        text: textSchema("A string the values contain.", 1, keyCharactersMax),
        after: textSchema("The last key of the previous page.", 1, keyCharactersMax),
        count: countSchema("Maximum number of results; default 100.", 1, listedMax),
      }),
      verbs: ["memory.read"],
      requests: (input) => {
        const prefix = optionalText(input, "prefix", keyCharactersMax);
        if (prefix === undefined) return refuse("bad_value", "`prefix` must be the beginning of a key");
        // Each key is decided separately; listing at all requires that some key is readable.
        return done([]);
      },
      execute: async ({ input, session }) => {
        const prefix = optionalText(input, "prefix", keyCharactersMax);
        const text = optionalText(input, "text", keyCharactersMax);
        const after = optionalText(input, "after", keyCharactersMax);
        const count = numberOr(input, "count", 100, 1, listedMax);
        if (prefix === undefined || text === undefined || after === undefined || count === null) return BAD;
        const { namespace, key } = splitKey(prefix ?? "", session);
        const found = await memory.list(namespace, { prefix: key, text, after, count }, now());
        if (!found.ok) return found;
        const start = namespaceStart(namespace);
        const readable = found.value.filter((one) => {
          const request = nameRequest("memory.read", `${start}${one.key}`);
          return request.ok && mayRead(session, request.value);
        });
        const listed = readable.map((one) => ({ ...shown(one), key: `${start}${one.key}` }));
        return { ok: true, value: listed, isUntrusted: readable.some(({ isClean }) => !isClean) };
      },
    },
    {
      name: "memory_delete",
      description: "Delete the value stored under a key.",
      input: objectSchema(
        { key: KEY, version: countSchema("Fail unless the stored version is this one.", 0, Number.MAX_SAFE_INTEGER) },
        ["key"],
      ),
      verbs: ["memory.write"],
      requests: (input) => keyRequest("memory.write", input),
      execute: async ({ input, session }) => {
        const place = locationOf(input, session);
        const version = numberOr(input, "version", -1, 0, Number.MAX_SAFE_INTEGER);
        if (place === null || version === null) return BAD;
        const gone = await memory.delete(place.namespace, place.key, version < 0 ? null : version);
        return gone.ok ? { ok: true, value: { deleted: gone.value }, isUntrusted: false } : gone;
      },
    },
  ];
}

const BAD: ExecutionResult = {
  ok: false,
  code: "invalid_input",
  message: "the key and the value must be texts of limited length",
};

function told<T>(
  found: Durably<T>,
  show: (value: T) => JsonObject | null,
  isUntrusted: (value: T) => boolean,
): ExecutionResult {
  return found.ok ? { ok: true, value: show(found.value), isUntrusted: isUntrusted(found.value) } : found;
}

function shown({ key, value, version, at, expires, isClean }: MemoryValue): JsonObject {
  return { key, value, version, at, expires, clean: isClean };
}

function keyRequest(verb: string, input: JsonObject): Result<readonly Request[]> {
  const key = textIn(input, "key", keyCharactersMax);
  if (key === null) return refuse("bad_value", "`key` must be a text such as notes/today");
  const request = nameRequest(verb, key);
  return request.ok ? done([request.value]) : request;
}

interface KeyLocation {
  readonly namespace: Namespace;
  readonly key: string;
}

/** The key as it was decided on, and no other spelling of it. */
function locationOf(input: JsonObject, session: Session): KeyLocation | null {
  const parsed = parseName(textIn(input, "key", keyCharactersMax) ?? "");
  return parsed.ok && isSegments(parsed.value) ? splitKey(nameText(parsed.value.segments), session) : null;
}

/** Session data expires after at most a day. */
function expiryOf({ kind }: Namespace, seconds: number, at: number): number | null {
  const most = kind === "session" ? sessionSeconds : Number.POSITIVE_INFINITY;
  const lasts = Math.min(seconds < 0 ? Number.POSITIVE_INFINITY : seconds, most);
  return lasts === Number.POSITIVE_INFINITY ? null : at + lasts * 1000;
}

const SHARED = "shared/";
const SESSION = "session/";

function splitKey(key: string, { facts }: Session): KeyLocation {
  const { name, id } = facts;
  if (key.startsWith(SHARED))
    return { namespace: { kind: "shared", workspace: name.workspace }, key: key.slice(SHARED.length) };
  if (key.startsWith(SESSION)) return { namespace: { kind: "session", session: id }, key: key.slice(SESSION.length) };
  return { namespace: { kind: "agent", name }, key };
}

function namespaceStart({ kind }: Namespace): string {
  return kind === "shared" ? SHARED : kind === "session" ? SESSION : "";
}
