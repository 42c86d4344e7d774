// records_read and records_links: one record, and the records it links to.
import { linkGraph } from "../../agents/records/links.ts";
import type { RecordData } from "../../agents/records/record-data.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Result } from "../../core/base/result.ts";
import { type FoundRecord, findRecord, versionOf } from "./find-record.ts";
import { classCharactersMax, linkCharactersMax, linksShownMax, tagCharactersMax, tagsShownMax } from "./limits.ts";
import { missingRecord, type RecordCall, type RecordCallContext, UNREADABLE } from "./record-call.ts";
import { recordRequest } from "./requests.ts";

export interface ReadInput {
  readonly id: string;
  readonly offset: number;
  readonly characters: number;
}

export function readCall(
  { id, offset, characters }: ReadInput,
  context: RecordCallContext,
): Promise<Result<RecordCall>> {
  return looking(id, context, async (found) => {
    const { source, record, bodyStart } = found;
    const version = versionOf(source.text, context.digest);
    const body = source.text.slice(bodyStart);
    const start = wholeAt(body, Math.min(offset, body.length));
    const end = wholeAt(body, Math.min(start + characters, body.length), start);
    const isMore = end < body.length;
    const value: JsonObject = {
      ...summary(record),
      version,
      body: body.slice(start, end),
      characters: body.length,
      ...(isMore ? { next: end } : {}),
    };
    return { ok: true, value, isUntrusted: !(await context.isKnownClean(id, version)) };
  });
}

export function linksCall(id: string, context: RecordCallContext): Promise<Result<RecordCall>> {
  return looking(id, context, async (found) => {
    const { records } = await context.place.library.open(context.place.machine);
    // The current record, with the known data of the others.
    const all = [...records.filter((one) => one.id !== id), found.record];
    const byId = new Map(all.map((one) => [one.id, one]));
    const isShown = (other: string | null): other is string => {
      const record = other === null ? undefined : byId.get(other);
      return record !== undefined && mayRead(record, context);
    };
    const graph = linkGraph(all);
    const links = graph.linksOf(id).map(({ target, to }) => ({
      target: target.slice(0, linkCharactersMax),
      // A record that may not be read looks like one that does not exist.
      to: isShown(to) ? to : null,
    }));
    const backlinks = graph.backlinksOf(id).filter(isShown);
    const value: JsonObject = {
      id,
      links: links.slice(0, linksShownMax),
      backlinks: backlinks.slice(0, linksShownMax),
      more: links.length > linksShownMax || backlinks.length > linksShownMax,
    };
    return {
      ok: true,
      value,
      isUntrusted: !(await context.isKnownClean(id, versionOf(found.source.text, context.digest))),
    };
  });
}

/** One record requested by its id, and its data if it may be read and exists. */
async function looking(
  id: string,
  { place }: RecordCallContext,
  tell: (found: Extract<FoundRecord, { readonly kind: "record" }>) => ReturnType<RecordCall["execute"]>,
): Promise<Result<RecordCall>> {
  const found = await findRecord(place, id);
  const request = recordRequest("records.read", found.kind === "record" ? found.record.recordClass : null, id);
  if (!request.ok) return request;
  return done({
    requests: [request.value],
    execute: async () => {
      if (found.kind === "unreadable") return UNREADABLE;
      return found.kind === "record" ? tell(found) : missingRecord(id);
    },
  });
}

export function mayRead({ recordClass, id }: RecordData, context: RecordCallContext): boolean {
  const request = recordRequest("records.read", recordClass, id);
  return request.ok && context.mayRead(request.value);
}

export function summary({ id, recordClass, title, tags }: RecordData): JsonObject {
  const shown = tags.slice(0, tagsShownMax).map((tag) => tag.slice(0, tagCharactersMax));
  return { id, class: recordClass?.slice(0, classCharactersMax) ?? null, title, tags: shown };
}

/** Never between two surrogates, and never so that nothing is returned. */
function wholeAt(text: string, offset: number, after = -1): number {
  const isHalf = /^[\uDC00-\uDFFF]/.test(text.slice(offset, offset + 1)) && offset > 0;
  if (!isHalf) return offset;
  return offset - 1 > after ? offset - 1 : offset + 1;
}
