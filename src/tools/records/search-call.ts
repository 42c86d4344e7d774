// records_search: every record shown was decided on its own.

import { readOne } from "../../agents/records/record-collection.ts";
import type { RecordData } from "../../agents/records/record-data.ts";
import { queryWords, RecordSearch } from "../../agents/records/search.ts";
import { snippetOf } from "../../agents/records/search-snippet.ts";
import { verbEntry } from "../../core/authority/catalog.ts";
import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Result } from "../../core/base/result.ts";
import { versionOf } from "./find-record.ts";
import type { LibraryListing } from "./library.ts";
import { mayRead, summary } from "./read-call.ts";
import type { RecordCall, RecordCallContext } from "./record-call.ts";
import { recordRequest } from "./requests.ts";

export interface SearchInput {
  readonly query: string;
  readonly class: string | null;
  readonly count: number;
}

/** Records that are decided on and compared in one event-loop turn. */
const recordsPerTurn = 128;

export async function searchCall(input: SearchInput, context: RecordCallContext): Promise<Result<RecordCall>> {
  const words = queryWords(input.query);
  if (!words.ok) return words;
  // An agent that may read no record is denied, instead of getting an empty result.
  const verb = verbEntry("records.read");
  if (!context.readsAny() && verb !== null)
    return done({ requests: [{ verb, values: verb.axes.map(() => undefined) }], execute: async () => NOTHING });
  const shelved = await context.place.library.open(context.place.machine);
  const search = new RecordSearch(words.value);
  const readable: RecordData[] = [];
  for (const [at, record] of shelved.records.entries()) {
    if (at > 0 && at % recordsPerTurn === 0) await context.place.library.pause();
    if ((input.class !== null && record.recordClass !== input.class) || !mayRead(record, context)) continue;
    readable.push(record);
    search.add(record.words);
  }
  const found = search.found().map((number) => readable[number] as RecordData);
  const first = found.slice(0, input.count);
  const requests: Request[] = [];
  for (const { recordClass, id } of first) {
    const request = recordRequest("records.read", recordClass, id);
    if (request.ok) requests.push(request.value);
  }
  return done({
    requests,
    execute: async () => {
      const shown: JsonObject[] = [];
      let isUntrusted = false;
      for (const record of first) {
        const one = await shownRecord(record, shelved, words.value, context);
        if (one === null) continue;
        shown.push(one.value);
        isUntrusted ||= one.isUntrusted;
      }
      return {
        ok: true,
        value: { records: shown, total: found.length, more: found.length > first.length },
        isUntrusted,
      };
    },
  });
}

const NOTHING = { ok: true, value: { records: [], total: 0, more: false }, isUntrusted: false } as const;

/** From the current file; null if it is another record by now, or none. */
async function shownRecord(
  { path, id, recordClass }: RecordData,
  { files }: LibraryListing,
  words: readonly string[],
  { place, digest, isKnownClean }: RecordCallContext,
): Promise<{ readonly value: JsonObject; readonly isUntrusted: boolean } | null> {
  const file = files.get(path);
  if (file === undefined) return null;
  const { record, source, body } = readOne(place.machine, file);
  if (record === null || record.id !== id || record.recordClass !== recordClass) return null;
  const snippet = snippetOf(source, body, words);
  const version = versionOf(source.text, digest);
  return {
    value: { ...summary(record), version, line: snippet === null ? null : snippet.text },
    isUntrusted: !(await isKnownClean(id, version)),
  };
}
