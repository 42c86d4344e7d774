// memory_get, memory_set, memory_list, memory_delete: values by key. `shared/x` belongs to the workspace, `session/x` to this
// session, every other key to the agent.

import { nameText, parseName } from "../../core/authority/axes/name.ts";
import { done } from "../../core/base/result.ts";
import type { KeyOptions, KeyQuery } from "../../runtime/context/keys.ts";
import { keyCharactersMax, listedKeysMax, storedSecondsMax, valueCharactersMax } from "../../runtime/context/limits.ts";
import { useResult } from "../../runtime/context/use-result.ts";
import { type BuiltinTool, requestsFor } from "../../runtime/tool/builtin.ts";
import { countSchema, objectSchema, textSchema } from "../../runtime/tool/schema-parts.ts";

interface KeyInput extends Pick<KeyOptions, "version"> {
  readonly key: string;
}

interface SetInput extends KeyInput {
  readonly value: string;
  readonly seconds?: number;
}

const KEY = textSchema(
  "The key, such as notes/today. Keys under `shared/…` belong to the whole workspace, under `session/…` to this session; other keys are your own.",
  1,
  keyCharactersMax,
);
const VERSION = countSchema("Fail unless the stored version is this one.", 0, Number.MAX_SAFE_INTEGER);

export const MEMORY_TOOLS: readonly BuiltinTool[] = [
  {
    name: "memory_get",
    description: "Read the value stored under a key; null if there is none.",
    input: objectSchema({ key: KEY }, ["key"]),
    verbs: ["memory.read"],
    requests: (input, reading) => requestsFor(reading, { verb: "memory.read", key: keyOf(input) }),
    execute: async (input, { memory }) => {
      const key = keyOf(input);
      const found = await memory.get(key);
      if (!found.ok) return found;
      return useResult(found.value === null ? null : { key: nameOf(key), ...found.value });
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
        version: VERSION,
        seconds: countSchema("Expire the value after this many seconds.", 1, storedSecondsMax),
      },
      ["key", "value"],
    ),
    verbs: ["memory.write"],
    requests: (input, reading) => requestsFor(reading, { verb: "memory.write", key: keyOf(input) }),
    execute: async (input, { memory }) => {
      const { key, value, version, seconds } = input as unknown as SetInput;
      const written = await memory.set(key, value, { version, secondsMax: seconds });
      return written.ok ? useResult({ version: written.value.version }) : written;
    },
  },
  {
    name: "memory_list",
    description: "List readable keys and values, filtered by key prefix or by text in the value.",
    input: objectSchema({
      prefix: textSchema("A prefix of the keys.", 0, keyCharactersMax),
      text: textSchema("A string the values contain.", 1, keyCharactersMax),
      after: textSchema("The last key of the previous page.", 1, keyCharactersMax),
      count: countSchema("Maximum number of results; default 100.", 1, listedKeysMax),
    }),
    verbs: ["memory.read"],
    // Each key is decided separately; listing at all requires that some key is readable.
    requests: () => done([]),
    execute: async (input, { memory }) => {
      const found = await memory.find(input as KeyQuery);
      return found.ok ? useResult(found.value.map((one) => ({ ...one }))) : found;
    },
  },
  {
    name: "memory_delete",
    description: "Delete the value stored under a key.",
    input: objectSchema({ key: KEY, version: VERSION }, ["key"]),
    verbs: ["memory.write"],
    requests: (input, reading) => requestsFor(reading, { verb: "memory.write", key: keyOf(input) }),
    execute: async (input, { memory }) => {
      const { key, version } = input as unknown as KeyInput;
      const gone = await memory.delete(key, { version });
      return gone.ok ? useResult({ deleted: gone.value }) : gone;
    },
  },
];

function keyOf(input: object): string {
  return (input as KeyInput).key;
}

/** The key as it was decided on, and no other spelling of it. */
function nameOf(key: string): string {
  const name = parseName(key);
  return name.ok ? nameText(name.value.segments) : key;
}
