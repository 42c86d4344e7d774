// Control messages about the log: query, follow, verify, export.
import { setTimeout as pause } from "node:timers/promises";
import { agentIdOf } from "../../core/base/agent-id.ts";
import { numberIn, numberOr, optionalText, textIn } from "../../core/base/fields.ts";
import { isJsonObject, type JsonObject, member } from "../../core/base/json.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import { ENTRY_KINDS, type LogQuery } from "../../core/ports/stores/log.ts";
import type { DaemonParts } from "../parts.ts";
import type { Exchange, MessageHandler } from "../rpc/serving.ts";
import type { Admission } from "./admission.ts";

const countMax = 10_000;
const followMilliseconds = 200;
const exportLinesMax = 100;
/** A channel without a reader: sending on it waits until there is room. */
const ROOM = 9;
const NOTHING = new Uint8Array(1);
const far = Number.MAX_SAFE_INTEGER;

export function logAnswers(parts: DaemonParts, admission: Admission): readonly (readonly [string, MessageHandler])[] {
  const { stores, proof, redacting } = parts;
  const query = async (asked: LogQuery): Promise<Answer<{ readonly entries: readonly object[] }>> => {
    const found = await stores.ledger.log(asked);
    if (!found.ok) return refusal(found.code, found.message);
    // A secret that became known after the entry was written is redacted, too.
    return { ok: true, value: { entries: redacting.json(found.value as never) as readonly object[] } };
  };
  return [
    [
      "log.query",
      async ({ value }) => {
        const asked = queryIn(value);
        return asked === null ? BAD : query(asked);
      },
    ],
    ["log.follow", (exchange) => follow(exchange, query)],
    [
      "log.entry",
      async ({ value }) => {
        const found = await stores.ledger.entry(textIn(value, "id", 128) ?? "");
        if (!found.ok) return refusal(found.code, found.message);
        if (found.value === null) return refusal("unknown_entry", "no entry, or more than one, has this id");
        return { ok: true, value: redacting.json(found.value as never) as object };
      },
    ],
    ["audit.verify", ({ value }) => proof.verify(headIn(value))],
    [
      "audit.export",
      async (exchange) => {
        const from = numberOr(exchange.value, "from", 1, 1, far);
        if (from === null) return BAD;
        let lines: string[] = [];
        // Reads no further than the client has taken.
        const send = async (): Promise<void> => {
          if (lines.length > 0) exchange.tell({ lines });
          lines = [];
          await exchange.send(ROOM, NOTHING);
        };
        const done = await proof.export(from, async (line) => {
          lines.push(line);
          if (lines.length >= exportLinesMax) await send();
        });
        await send();
        return done;
      },
    ],
    ["audit.key", async () => ({ ok: true, value: { keys: proof.keys() } })],
    [
      "audit.rotate",
      async (exchange) => {
        const admitted = await admission.widening(exchange);
        return admitted.ok ? proof.rotate() : admitted;
      },
    ],
    [
      "audit.retain",
      async (exchange) => {
        const days = numberIn(exchange.value, "days", 1, 36_500);
        const admitted = await admission.widening(exchange);
        if (!admitted.ok) return admitted;
        return days === null ? BAD : proof.retain(days);
      },
    ],
    [
      "accounts.list",
      async ({ value }) => {
        const family = optionalText(value, "family", 4096);
        if (family === undefined) return BAD;
        const found = await stores.ledger.accounts(family);
        return found.ok ? { ok: true, value: { accounts: found.value } } : refusal(found.code, found.message);
      },
    ],
  ];
}

const BAD = refusal("invalid_input", "the query cannot be parsed");

/** Polls until the client stops: new entries are found by position, so none is repeated or missed. */
async function follow(
  exchange: Exchange,
  query: (asked: LogQuery) => Promise<Answer<{ readonly entries: readonly object[] }>>,
): Promise<Answer<object>> {
  const asked = queryIn(exchange.value);
  if (asked === null) return BAD;
  let after = asked.after ?? (await lastPlace(query));
  const { signal } = exchange;
  while (!signal.aborted) {
    const { before: _before, ...rest } = asked;
    const found = await query({ ...rest, after, count: countMax });
    if (!found.ok) return found;
    const { entries } = found.value;
    if (entries.length > 0) exchange.tell({ entries: entries as never });
    after = placeOf(entries.at(-1)) ?? after;
    await pause(followMilliseconds, undefined, { signal }).catch(() => undefined);
  }
  return { ok: true, value: {} };
}

async function lastPlace(
  query: (asked: LogQuery) => Promise<Answer<{ readonly entries: readonly object[] }>>,
): Promise<number> {
  const last = await query({ count: 1 });
  return (last.ok ? placeOf(last.value.entries[0]) : null) ?? 0;
}

function placeOf(entry: object | undefined): number | null {
  const place = entry === undefined ? null : (entry as { readonly place?: unknown }).place;
  return typeof place === "number" ? place : null;
}

const TEXTS = ["user", "agent", "session", "workspace", "verb", "code", "outcome", "text"] as const;
const NUMBERS = ["since", "until", "after", "before"] as const;

function queryIn(value: JsonObject): LogQuery | null {
  const count = numberOr(value, "count", 100, 1, countMax);
  const kind = optionalText(value, "kind", 32);
  const known = ENTRY_KINDS.find((one) => one === kind);
  if (count === null || kind === undefined || (kind !== null && known === undefined)) return null;
  const query: Record<string, unknown> = { count, ...(known === undefined ? {} : { kind: known }) };
  for (const key of TEXTS) {
    const text = optionalText(value, key, 4096);
    if (text === undefined) return null;
    if (text !== null) query[key] = key === "agent" ? agentIdOf(text) : text;
  }
  for (const key of NUMBERS) {
    if (member(value, key) === undefined || member(value, key) === null) continue;
    const number = numberIn(value, key, 0, far);
    if (number === null) return null;
    query[key] = number;
  }
  return query as unknown as LogQuery;
}

function headIn(value: JsonObject): { readonly place: number; readonly hash: string } | null {
  const head = member(value, "head");
  if (!isJsonObject(head)) return null;
  const place = numberIn(head, "place", 0, far);
  const hash = textIn(head, "hash", 64);
  // A head that cannot be parsed matches nothing: it must not be treated as absent.
  return { place: place ?? far, hash: hash ?? "" };
}
