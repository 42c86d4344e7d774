// Control messages about shared stores: people list, read, write and define them, and see their history.
import { numberIn, objectIn, optionalText, textIn } from "../../core/base/fields.ts";
import { member } from "../../core/base/json.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { StoreChange } from "../../core/ports/daemon/store-messages.ts";
import type { Ledger } from "../../core/ports/stores/ledger.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import { NO_ACTOR } from "../log/entries.ts";
import type { Exchange, MessageHandler } from "../rpc/serving.ts";
import type { StoreFault, StoreWriter, WorkspaceStores } from "../stores/workspace-stores.ts";
import type { Admission } from "./admission.ts";

const pathCharactersMax = 4096;
const nameCharactersMax = 128;
const keyCharactersMax = 512;
const historyMax = 1000;
const revisionMax = Number.MAX_SAFE_INTEGER;
const BAD = refusal("invalid_input", "the message cannot be parsed");

export function storeAnswers(
  stores: WorkspaceStores,
  ledger: Pick<Ledger, "log">,
  admission: Admission,
): readonly (readonly [string, MessageHandler])[] {
  const placeIn = ({ value }: Exchange): { workspace: string; store: string } | null => {
    const workspace = textIn(value, "workspace", pathCharactersMax);
    const store = textIn(value, "store", nameCharactersMax);
    return workspace === null || store === null ? null : { workspace, store };
  };
  const writerIn = (exchange: Exchange): Answer<StoreWriter> => {
    const admitted = admission.handling(exchange);
    if (!admitted.ok) return admitted;
    return { ok: true, value: { who: NO_ACTOR, name: admitted.value.by, isClean: true } };
  };
  return [
    [
      "store.list",
      async ({ value }) => {
        const workspace = textIn(value, "workspace", pathCharactersMax);
        if (workspace === null) return BAD;
        const found = await stores.list(workspace);
        return "ok" in found ? refused(found) : { ok: true, value: { stores: found } };
      },
    ],
    [
      "store.get",
      async (exchange) => {
        const place = placeIn(exchange);
        const key = optionalText(exchange.value, "key", keyCharactersMax);
        if (place === null || key === undefined) return BAD;
        const found = await stores.content(place.workspace, place.store);
        if (!found.ok) return refused(found);
        const items = found.items.filter((item) => key === null || item.key === key);
        return { ok: true, value: { revision: found.revision, items } };
      },
    ],
    [
      "store.put",
      async (exchange) => {
        const writer = writerIn(exchange);
        if (!writer.ok) return writer;
        const place = placeIn(exchange);
        const key = textIn(exchange.value, "key", keyCharactersMax);
        const revision = numberIn(exchange.value, "revision", 0, revisionMax);
        const given = member(exchange.value, "value");
        if (place === null || key === null || revision === null || given === undefined) return BAD;
        const value = exchange.value["isRemoved"] === true ? undefined : given;
        const written = await stores.write(place.workspace, { store: place.store, key, value, revision }, writer.value);
        return written.ok ? { ok: true, value: { revision: written.revision } } : refused(written);
      },
    ],
    [
      "store.define",
      async (exchange) => {
        const writer = writerIn(exchange);
        if (!writer.ok) return writer;
        const place = placeIn(exchange);
        const schema = objectIn(exchange.value, "schema");
        if (place === null || schema === null) return BAD;
        const made = await stores.define(place.workspace, place.store, schema, writer.value);
        return made.ok ? { ok: true, value: {} } : refused(made);
      },
    ],
    [
      "store.history",
      async (exchange) => {
        const place = placeIn(exchange);
        const key = optionalText(exchange.value, "key", keyCharactersMax);
        const count = numberIn(exchange.value, "count", 1, historyMax);
        if (place === null || key === undefined || count === null) return BAD;
        const changes = await historyOf(ledger, place, key, count);
        return Array.isArray(changes) ? { ok: true, value: { changes } } : refused(changes as StoreFault);
      },
    ],
  ];
}

function refused({ code, message }: StoreFault): Answer<never> {
  return refusal(code, message);
}

const pageEntries = 1000;
const pagesMax = 50;
const CHANGES = ["put", "delete", "define"] as const;

/** From the log, which is what proves it. */
async function historyOf(
  ledger: Pick<Ledger, "log">,
  { workspace, store }: { readonly workspace: string; readonly store: string },
  key: string | null,
  count: number,
): Promise<readonly StoreChange[] | StoreFault> {
  const changes: StoreChange[] = [];
  let before: number | undefined;
  for (let page = 0; page < pagesMax && changes.length < count; page++) {
    const query = { workspace, kind: "control", count: pageEntries } as const;
    const found = await ledger.log(before === undefined ? query : { ...query, before });
    if (!found.ok) return found;
    for (const { entry } of found.value) {
      const change = changeOf(entry, store);
      if (change !== null && (key === null || change.key === key)) changes.push(change);
    }
    before = found.value.at(-1)?.place;
    if (found.value.length < pageEntries) break;
  }
  return changes.slice(0, count);
}

function changeOf({ id, at, outcome, more }: LogEntry, store: string): StoreChange | null {
  const change = CHANGES.find((one) => outcome === `store ${one}`);
  if (change === undefined || more["store"] !== store) return null;
  const text = (name: string): string | null => {
    const value = more[name];
    return typeof value === "string" ? value : null;
  };
  const revision = typeof more["revision"] === "number" ? more["revision"] : null;
  return {
    ...{ id, at, change, key: text("key"), revision, by: text("by") ?? "", digest: text("digest") },
    value: more["value"] ?? null,
  };
}
