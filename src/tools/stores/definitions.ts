// The stores that every workspace has, their names and classes, and the check of a value against the schema of its store.
import { parseRecordId } from "../../agents/records/record-data.ts";
import { parseName } from "../../core/authority/axes/name.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Request } from "../../core/authority/request.ts";
import type { Json, JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { StoreItem } from "../../core/ports/stores/shared-store.ts";
import { inputParser } from "../../runtime/tool/input.ts";
import type { JsonSchema } from "../../runtime/tool/json-schema.ts";
import { objectSchema, textSchema, textsSchema } from "../../runtime/tool/schema-parts.ts";

export const storeNameCharactersMax = 64;
export const storeKeyCharactersMax = 256;
export const schemaCharactersMax: number = 64 * 1024;

const lineCharactersMax = 400;
const textCharactersMax = 40_000;
const wordsMax = 64;

const line = (about: string): JsonSchema => textSchema(about, 1, lineCharactersMax);

export interface BuiltinStore {
  /** The class of its records, which grants name. */
  readonly recordClass: string;
  readonly about: string;
  /** Null: the daemon itself is the only writer. */
  readonly schema: JsonSchema | null;
}

export const BUILTIN_STORES: Readonly<Record<string, BuiltinStore>> = {
  artifacts: {
    recordClass: "artifact",
    about: "what agents found or made, by agent: AGENT/NAME",
    schema: objectSchema(
      {
        title: line("What it is, in one line."),
        body: textSchema("The text.", 0, textCharactersMax),
        type: textSchema("A media type, such as text/markdown.", 1, wordsMax),
      },
      ["title", "body"],
    ),
  },
  crm: {
    recordClass: "contact",
    about: "contacts of the org",
    schema: objectSchema(
      {
        name: line("The name of the person or the company."),
        company: line("The company."),
        email: line("The mail address."),
        phone: line("The telephone number."),
        stage: line("The stage of the relationship, such as lead or customer."),
        owner: line("The agent that is responsible."),
        tags: textsSchema("Short words for searching.", wordsMax, lineCharactersMax),
        notes: textSchema("What is known.", 0, textCharactersMax),
      },
      ["name"],
    ),
  },
  goals: {
    recordClass: "goal",
    about: "what the org works towards",
    schema: objectSchema(
      {
        title: line("The goal, in one line."),
        state: { enum: ["open", "active", "done", "dropped"], description: "Its status." },
        owner: line("The agent that is responsible."),
        due: line("A date."),
        notes: textSchema("What is known.", 0, textCharactersMax),
      },
      ["title"],
    ),
  },
  tasks: { recordClass: "task", about: "tasks of the workspace: ambit tasks", schema: null },
};

const STORE_NAME = /^[a-z][a-z0-9-]{0,63}$/;
/** Classes of built-in stores and of agents: a store of that name would have records of another store's class. */
const TAKEN: ReadonlySet<string> = new Set([
  ...Object.values(BUILTIN_STORES).map(({ recordClass }) => recordClass),
  ...["agent", "agents", "skill"],
]);

export function parseStoreName(text: string): Result<string> {
  if (!STORE_NAME.test(text))
    return refuse("bad_value", "a store is named by lower case letters, digits and dashes, at most 64");
  return TAKEN.has(text)
    ? refuse("bad_value", `no store can be called ${text}: it is the name of a class`)
    : done(text);
}

export function builtinStore(store: string): BuiltinStore | null {
  return Object.hasOwn(BUILTIN_STORES, store) ? (BUILTIN_STORES[store] ?? null) : null;
}

export function storeClass(store: string): string {
  return builtinStore(store)?.recordClass ?? store;
}

export type StoreVerb = "records.read" | "records.create" | "records.update" | "records.delete";

/** An item is a record of the store's class, with the id STORE/KEY. */
export function storeRequest(verb: StoreVerb, store: string, key: string): Result<Request> {
  const entry = verbEntry(verb);
  const name = parseStoreName(store);
  if (entry === null) return refuse("bad_value", `no verb ${verb}`);
  if (!name.ok) return name;
  const id = itemKey(key);
  if (!id.ok) return id;
  const path = parseName(`${store}/${key}`);
  const kind = parseName(storeClass(store));
  if (!path.ok) return path;
  return kind.ok ? done({ verb: entry, values: [kind.value, path.value] }) : kind;
}

/** A key has one spelling: no empty part, no part that begins with a dot. */
export function itemKey(key: string): Result<string> {
  if (key.length > storeKeyCharactersMax)
    return refuse("too_long", `a key has at most ${storeKeyCharactersMax} characters`);
  const id = parseRecordId(key);
  if (!id.ok) return id;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (/[\u0000-\u001f\u007f]/.test(key) || id.value.segments.join("/") !== key)
    return refuse("bad_value", "a key has no control characters and no empty parts");
  return done(key);
}

/** Null: a schema that can be used. References are not supported: nothing is ever fetched for a check. */
export function schemaFault(schema: Json): string | null {
  const [fault] = inputParser(schema as JsonSchema).faults;
  return fault === undefined ? null : `${fault.at}: ${fault.message}`;
}

/** What is wrong with a value of this store; null for a valid one. `defined`: the schema that a person defined. */
export function valueFault(store: string, defined: JsonObject | null, value: Json): string | null {
  const builtin = builtinStore(store);
  const schema = builtin === null ? defined : builtin.schema;
  if (schema === null)
    return builtin === null ? `there is no store ${store}` : `${store} is written only by ambit: ambit tasks add`;
  const { accept, faults } = inputParser(schema as JsonSchema);
  if (faults.length > 0) return "the schema of the store cannot be used";
  const accepted = accept(value as JsonObject);
  if (accepted.ok) return null;
  const [issue] = accepted.issues;
  return issue === undefined
    ? "it does not fit the schema"
    : `${issue.at === "" ? "the value" : issue.at} ${issue.message}`;
}

/** The file that agents read. */
export function storeText(store: string, revision: number, items: readonly StoreItem[]): string {
  const shown = items.map(({ key, value, revision: own, writer }) => [key, { revision: own, writer, value }] as const);
  return `${JSON.stringify({ store, revision, items: Object.fromEntries(shown) }, null, 1)}\n`;
}
