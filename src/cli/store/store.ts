// `ambit store list | get | put | delete | define | history`: the shared stores of a workspace, by the daemon that writes them.
import type { Json, JsonObject } from "../../core/base/json.ts";
import type { StoreChange, StoreView } from "../../core/ports/daemon/store-messages.ts";
import type { StoreItem } from "../../core/ports/stores/shared-store.ts";
import { askOnce, type ControlPorts, tellRefusal } from "../control-ports.ts";
import type { OrgPorts } from "../org/ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import { timeText } from "../terminal/time.ts";

export type StorePorts = ControlPorts & Pick<OrgPorts, "orgs">;

export interface PutOptions extends JsonOption {
  readonly revision?: string;
  /** A file with the value. */
  readonly file?: string;
}
export interface RemoveOptions extends JsonOption {
  readonly revision: string;
}
export interface HistoryOptions extends JsonOption {
  readonly count: string;
}

const countMax = 1000;
const NO_WORKSPACE = "stores need a workspace, and there is no workspace here";

export async function storeList(ports: StorePorts, options: JsonOption): Promise<ExitCode> {
  return inWorkspace(ports, options, async (workspace) => {
    const answer = await askOnce(ports, "store.list", { workspace });
    if (!answer.ok) return tellRefusal(ports, answer, options.json);
    if (options.json) ports.print(jsonLine({ stores: answer.value.stores }));
    else for (const one of answer.value.stores) ports.print(storeLine(ports, one));
    return EXIT.ok;
  });
}

function storeLine({ paint }: StorePorts, { store, class: recordClass, items, about, revision }: StoreView): string {
  const count = `${countText(items, "item", "items")}${revision === 0 ? "" : `, revision ${revision}`}`;
  return `${paint.strong(visibleText(store.padEnd(12)))} class ${visibleText(recordClass.padEnd(10))} ${count}  ${paint.dim(visibleText(about))}`;
}

export async function storeGet(
  ports: StorePorts,
  store: string,
  key: string | undefined,
  options: JsonOption,
): Promise<ExitCode> {
  return inWorkspace(ports, options, async (workspace) => {
    const answer = await askOnce(ports, "store.get", { workspace, store, key: key ?? null });
    if (!answer.ok) return tellRefusal(ports, answer, options.json);
    const { items, revision } = answer.value;
    if (key !== undefined && items.length === 0)
      return fail(ports, options, EXIT.error, `there is no item ${key} in ${store}`, `ambit store get ${store}`);
    if (options.json)
      ports.print(jsonLine(key === undefined ? { store, revision, items } : { store, item: items[0] ?? null }));
    else {
      for (const item of items) ports.print(itemText(ports, item));
      if (items.length === 0) ports.print(ports.paint.dim("no items"));
    }
    return EXIT.ok;
  });
}

function itemText({ paint }: StorePorts, { key, value, revision, writer, at }: StoreItem): string {
  const head = `${paint.strong(visibleText(key))}  ${paint.dim(`revision ${revision} by ${visibleText(writer)} at ${timeText(at)}`)}`;
  const body = JSON.stringify(value, null, 2)
    .split("\n")
    .map((line) => `  ${visibleText(line)}`);
  return [head, ...body].join("\n");
}

export async function storePut(
  ports: StorePorts,
  store: string,
  key: string,
  written: string | undefined,
  options: PutOptions,
): Promise<ExitCode> {
  const usage = (message: string): ExitCode =>
    fail(ports, options, EXIT.usage, message, `ambit store put ${store} ${key} '{"name": "..."}'`);
  if ((written === undefined) === (options.file === undefined)) return usage("give a value or --file, and not both");
  const read = options.file === undefined ? null : ports.orgs.read(options.file);
  if (read?.ok === false) return fail(ports, options, EXIT.error, `${options.file}: ${read.message}`, null);
  let value: Json;
  try {
    value = JSON.parse(read?.value.text ?? written ?? "") as Json;
  } catch (error) {
    return usage(`the value is not JSON: ${error instanceof Error ? error.message : ""}`);
  }
  return change(ports, store, key, { value, isRemoved: false, revision: options.revision ?? "0" }, options);
}

export async function storeDelete(
  ports: StorePorts,
  store: string,
  key: string,
  options: RemoveOptions,
): Promise<ExitCode> {
  return change(ports, store, key, { value: null, isRemoved: true, revision: options.revision }, options);
}

async function change(
  ports: StorePorts,
  store: string,
  key: string,
  asked: { readonly value: Json; readonly isRemoved: boolean; readonly revision: string },
  options: JsonOption,
): Promise<ExitCode> {
  const revision = /^\d{1,15}$/.test(asked.revision) ? Number(asked.revision) : null;
  if (revision === null)
    return fail(ports, options, EXIT.usage, "--revision is a number", `ambit store get ${store} ${key}`);
  const { value, isRemoved } = asked;
  return inWorkspace(ports, options, async (workspace) => {
    const answer = await askOnce(ports, "store.put", { workspace, store, key, value, isRemoved, revision });
    if (!answer.ok) {
      const fix = answer.code === "version_conflict" ? `ambit store get ${store} ${key}, then --revision` : answer.fix;
      return tellRefusal(ports, { ...answer, ...(fix === undefined ? {} : { fix }) }, options.json);
    }
    const made = answer.value.revision;
    if (options.json) ports.print(jsonLine({ ok: true, store, key, revision: made }));
    else ports.print(`${isRemoved ? "removed" : "wrote"} ${visibleText(store)} ${visibleText(key)}, revision ${made}`);
    return EXIT.ok;
  });
}

export async function storeDefine(
  ports: StorePorts,
  store: string,
  file: string,
  options: JsonOption,
): Promise<ExitCode> {
  const read = ports.orgs.read(file);
  if (!read.ok) return fail(ports, options, EXIT.error, `${file}: ${read.message}`, null);
  let schema: unknown;
  try {
    schema = JSON.parse(read.value.text);
  } catch (error) {
    return fail(
      ports,
      options,
      EXIT.error,
      `${file} is not JSON: ${error instanceof Error ? error.message : ""}`,
      null,
    );
  }
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    return fail(ports, options, EXIT.error, `${file} is not a JSON Schema`, '{"type": "object"}');
  return inWorkspace(ports, options, async (workspace) => {
    const answer = await askOnce(ports, "store.define", { workspace, store, schema: schema as JsonObject });
    if (!answer.ok) return tellRefusal(ports, answer, options.json);
    if (options.json) ports.print(jsonLine({ ok: true, store }));
    else ports.print(`defined ${visibleText(store)}: agents need records.* of the class ${visibleText(store)}`);
    return EXIT.ok;
  });
}

export async function storeHistory(
  ports: StorePorts,
  store: string,
  key: string | undefined,
  options: HistoryOptions,
): Promise<ExitCode> {
  const count = Number(options.count);
  if (!Number.isInteger(count) || count < 1 || count > countMax)
    return fail(ports, options, EXIT.usage, `--count is a number from 1 to ${countMax}`, null);
  return inWorkspace(ports, options, async (workspace) => {
    const answer = await askOnce(ports, "store.history", { workspace, store, key: key ?? null, count });
    if (!answer.ok) return tellRefusal(ports, answer, options.json);
    if (options.json) ports.print(jsonLine({ store, changes: answer.value.changes }));
    else {
      for (const one of answer.value.changes) ports.print(changeLine(ports, one));
      if (answer.value.changes.length === 0) ports.print(ports.paint.dim("no changes"));
    }
    return EXIT.ok;
  });
}

const valueShownMax = 80;

function changeLine({ paint }: StorePorts, { id, at, change: kind, key, revision, by, value }: StoreChange): string {
  const text = value === null ? "" : JSON.stringify(value);
  const cut = text.length > valueShownMax ? `${text.slice(0, valueShownMax - 3)}...` : text;
  const what = [kind.padEnd(6), key ?? "", revision === null ? "" : `revision ${revision}`, `by ${by}`, cut];
  const words = what.filter((word) => word !== "").map((word) => visibleText(word));
  return `${timeText(at)}  ${words.join("  ")}  ${paint.dim(visibleText(id))}`;
}

async function inWorkspace(
  ports: StorePorts,
  options: JsonOption,
  act: (workspace: string) => Promise<ExitCode>,
): Promise<ExitCode> {
  const workspace = ports.workspaceAt?.() ?? null;
  return workspace === null ? fail(ports, options, EXIT.error, NO_WORKSPACE, "ambit init") : act(workspace);
}
