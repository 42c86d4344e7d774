// The shared stores of workspaces: every write goes through here, is checked, committed with its log entry, and then shown in the
// file that agents' programs read.

import type { Json, JsonObject } from "../../core/base/json.ts";
import type { CodedFailure } from "../../core/base/result.ts";
import type { StoreView } from "../../core/ports/daemon/store-messages.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { LogEntry, Who } from "../../core/ports/stores/log.ts";
import type {
  SharedStores,
  StoreContent,
  StoreItem,
  StoreRefusal,
  StoreWriteResult,
} from "../../core/ports/stores/shared-store.ts";
import { TASK_STATES, type TaskStore } from "../../core/ports/stores/task-store.ts";
import {
  BUILTIN_STORES,
  builtinStore,
  itemKey,
  parseStoreName,
  schemaCharactersMax,
  schemaFault,
  storeClass,
  storeText,
  valueFault,
} from "../../tools/stores/definitions.ts";
import type { OutputRedactor } from "../parts.ts";
import type { StoreFiles } from "./store-files.ts";

export interface WorkspaceStoresParts {
  readonly shared: SharedStores;
  readonly tasks: Pick<TaskStore, "list">;
  readonly files: StoreFiles;
  /** With secrets redacted. */
  entry(who: Who, outcome: string, more: JsonObject): LogEntry;
  readonly redacting: OutputRedactor;
  readonly digest: Digest;
  now(): number;
}

export interface StoreWriter {
  readonly who: Who;
  /** As items and the log name it. */
  readonly name: string;
  readonly isClean: boolean;
}

export type StoreFault = CodedFailure<string>;

/** A store that programs can be shown. */
export interface VisibleStore {
  readonly store: string;
  readonly recordClass: string;
  /** The folder with its file. */
  readonly folder: string;
}

const tasksShownMax = 1000;
/** Longer values are in the log by their digest alone. */
const loggedCharactersMax = 8192;
/** Of the JSON text; the store has a limit in bytes. */
const valueCharactersMax = 256 * 1024;
const RUNTIME = "ambit";

export class WorkspaceStores {
  readonly #parts: WorkspaceStoresParts;

  constructor(parts: WorkspaceStoresParts) {
    this.#parts = parts;
  }

  /** All stores, built-in ones first. */
  async list(workspace: string): Promise<readonly StoreView[] | StoreFault> {
    const defined = await this.#parts.shared.definitions(workspace);
    if (!defined.ok) return defined;
    const views: StoreView[] = [];
    const own = defined.value.map(({ store, schema }) => ({ store, about: textOf(schema["description"]), schema }));
    const builtin = Object.entries(BUILTIN_STORES).map(([store, { about, schema }]) => ({
      ...{ store, about, schema: schema as JsonObject | null },
    }));
    for (const { store, about, schema } of [...builtin, ...own]) {
      const content = await this.content(workspace, store);
      if (!content.ok) return content;
      const { items, revision } = content;
      views.push({ store, class: storeClass(store), about, schema, items: items.length, revision });
    }
    return views;
  }

  async content(workspace: string, store: string): Promise<(StoreContent & { readonly ok: true }) | StoreFault> {
    const name = parseStoreName(store);
    if (!name.ok) return { ok: false, code: "invalid_input", message: name.message };
    if (builtinStore(store)?.schema === null) return this.#tasks(workspace);
    if (builtinStore(store) === null && !(await this.#isDefined(workspace, store))) return unknown(store);
    const found = await this.#parts.shared.content({ workspace, store });
    return found.ok ? { ok: true, ...found.value } : found;
  }

  async write(
    workspace: string,
    { store, key, value, revision }: StoreChangeRequest,
    writer: StoreWriter,
  ): Promise<StoreWriteResult | StoreFault> {
    const { shared, now, digest, redacting } = this.#parts;
    const [name, id] = [parseStoreName(store), itemKey(key)];
    if (!name.ok) return { ok: false, code: "invalid_input", message: name.message };
    if (!id.ok) return { ok: false, code: "invalid_input", message: id.message };
    const text = value === undefined ? null : JSON.stringify(value);
    if (text !== null && text.length > valueCharactersMax)
      return { ok: false, code: "quota", message: `a value has at most ${valueCharactersMax} characters` };
    const written = [store, key, text ?? ""].join("\n");
    if (redacting.known !== null && redacting.text(written) !== written)
      return {
        ok: false,
        code: "secret_refused",
        message: "it contains the value of a secret: write the secret's name instead",
      };
    const entry = (made: number): LogEntry =>
      this.#entry(writer, `store ${value === undefined ? "delete" : "put"}`, workspace, {
        ...{ store, key, revision: made, replaces: revision },
        ...(text === null ? {} : { digest: digest(text), bytes: text.length }),
        ...(text === null || text.length > loggedCharactersMax ? {} : { value: value as Json }),
      });
    const result = await shared.write(
      {
        ...{ workspace, store, key, value, revision, at: now(), writer: writer.name, isClean: writer.isClean },
        check: (schema) => valueFault(store, schema, value as Json),
      },
      entry,
    );
    if (!result.ok) return result;
    if (result.value.ok) await this.#show(workspace, store);
    return result.value;
  }

  /** A store of this name, or a new schema for it. INVARIANT: every item fits the schema of its store. */
  async define(
    workspace: string,
    store: string,
    schema: JsonObject,
    writer: StoreWriter,
  ): Promise<{ readonly ok: true } | StoreRefusal | StoreFault> {
    const name = parseStoreName(store);
    if (!name.ok) return { ok: false, code: "invalid_input", message: name.message };
    if (builtinStore(store) !== null)
      return { ok: false, code: "invalid_input", message: `${store} is built in, and has a schema of its own` };
    const text = JSON.stringify(schema);
    if (text.length > schemaCharactersMax)
      return { ok: false, code: "quota", message: `a schema has at most ${schemaCharactersMax} characters` };
    const fault = schemaFault(schema);
    if (fault !== null) return { ok: false, code: "invalid_input", message: `the schema cannot be used: ${fault}` };
    const check = ({ value }: StoreItem): string | null => valueFault(store, schema, value);
    const more = { store, digest: this.#parts.digest(text) };
    const entry = this.#entry(writer, "store define", workspace, more);
    const made = await this.#parts.shared.define({ workspace, store, schema, at: this.#parts.now() }, check, entry);
    if (!made.ok) return made;
    if (made.value.ok) await this.#show(workspace, store);
    return made.value;
  }

  /** The stores of a workspace that are in use, each with a file that has its newest content. */
  async visible(workspace: string): Promise<readonly VisibleStore[]> {
    const { shared, files } = this.#parts;
    const inUse = await shared.inUse(workspace);
    if (!inUse.ok) return [];
    const tasks = await this.#tasks(workspace);
    const names = new Set([...inUse.value, ...(tasks.ok && tasks.items.length > 0 ? ["tasks"] : [])]);
    const shown: VisibleStore[] = [];
    for (const store of [...names].sort()) {
      if (!(await this.#show(workspace, store))) continue;
      shown.push({ store, recordClass: storeClass(store), folder: files.folderOf(workspace, store) });
    }
    return shown;
  }

  /** False where the file cannot be written: then no program sees the store. */
  async #show(workspace: string, store: string): Promise<boolean> {
    const content = await this.content(workspace, store);
    if (!content.ok) return false;
    return this.#parts.files.write(workspace, store, storeText(store, content.revision, content.items));
  }

  async #isDefined(workspace: string, store: string): Promise<boolean> {
    const defined = await this.#parts.shared.definitions(workspace);
    return defined.ok && defined.value.some((one) => one.store === store);
  }

  async #tasks(workspace: string): Promise<(StoreContent & { readonly ok: true }) | StoreFault> {
    const found = await this.#parts.tasks.list(workspace, TASK_STATES, tasksShownMax);
    if (!found.ok) return found;
    const items = found.value.map(({ id, agent, state, prompt, argv, reason, created, generation }): StoreItem => {
      const value = { agent, state, prompt, argv: argv === null ? null : [...argv], reason };
      // What an agent or a program wrote into a reason is not known.
      return { key: id, value, revision: generation, at: created, writer: RUNTIME, isClean: false };
    });
    const sorted = items.sort((left, right) => (left.key < right.key ? -1 : 1));
    return { ok: true, revision: Math.max(0, ...items.map(({ revision }) => revision)), items: sorted };
  }

  #entry({ who, name }: StoreWriter, outcome: string, workspace: string, more: JsonObject): LogEntry {
    return this.#parts.entry({ ...who, workspace }, outcome, { ...more, by: name });
  }
}

export interface StoreChangeRequest {
  readonly store: string;
  readonly key: string;
  /** Undefined removes the item. */
  readonly value: Json | undefined;
  readonly revision: number;
}

function unknown(store: string): StoreFault {
  return { ok: false, code: "unknown_store", message: `there is no store ${store}` };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value.slice(0, 200) : "";
}
