// records_create, records_update, records_delete: whole texts, written atomically, and never over a concurrent change.
import type { Request } from "../../core/authority/request.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import { findRecord, versionOf } from "./find-record.ts";
import {
  missingRecord,
  type RecordAnswer,
  type RecordCall,
  type RecordCallContext,
  recordFailure,
  UNREADABLE,
} from "./record-call.ts";
import { recordId, recordRequest } from "./requests.ts";
import { changedText, newText, type RecordParts } from "./text.ts";

export interface CreateInput extends RecordParts {
  readonly id: string;
  readonly class: string;
}

/** The requests follow from the input alone. */
export function createRequests({ id, class: recordClass }: CreateInput): Result<readonly Request[]> {
  const segments = recordId(id);
  if (!segments.ok) return segments;
  const request = recordRequest("records.create", recordClass, id);
  return request.ok ? done([request.value]) : request;
}

export async function createCall(input: CreateInput, context: RecordCallContext): Promise<Result<RecordCall>> {
  const requests = createRequests(input);
  const segments = recordId(input.id);
  const text = newText(input, context.place.machine.frontmatter);
  if (!requests.ok) return requests;
  if (!segments.ok) return segments;
  if (!text.ok) return text;
  return done({
    requests: requests.value,
    execute: async () => {
      if ((await findRecord(context.place, input.id)).kind !== "none") return taken(input.id);
      const written = context.create(segments.value, text.value);
      return written.ok
        ? changed(input.id, text.value, context.isClean, context)
        : recordFailure("not_available", written.message);
    },
  });
}

export interface UpdateInput extends RecordParts {
  readonly id: string;
  readonly version: string | null;
}

export async function updateCall(input: UpdateInput, context: RecordCallContext): Promise<Result<RecordCall>> {
  const { id, version, ...parts } = input;
  if (version === null) return refuse("bad_value", "`version` is required: use the one returned by records_read");
  if (Object.keys(parts).length === 0) return refuse("bad_value", "nothing to change: pass class, title, tags or body");
  const found = await findRecord(context.place, id);
  const before = found.kind === "record" ? found.record.recordClass : null;
  const requests = requestsFor("records.update", before, id);
  if (!requests.ok) return requests;
  // A change of class is a removal from one class and a creation in the other.
  const into =
    parts.class === undefined || parts.class === before ? done([]) : requestsFor("records.update", parts.class, id);
  if (!into.ok) return into;
  return done({
    requests: [...requests.value, ...into.value],
    execute: async () => {
      if (found.kind === "unreadable") return UNREADABLE;
      if (found.kind !== "record") return missingRecord(id);
      const { source, record } = found;
      if (versionOf(source.text, context.digest) !== version) return STALE;
      const text = changedText(source, parts, context.place.machine.frontmatter);
      if (!text.ok) return recordFailure("not_available", text.message);
      // The parts that stay are as untrusted as before.
      const isClean = context.isClean && (await context.isKnownClean(id, version));
      const written = context.change(record.path, source.text, text.value);
      if (written === "changed") return STALE;
      return written.ok ? changed(id, text.value, isClean, context) : recordFailure("not_available", written.message);
    },
  });
}

export async function deleteCall(id: string, version: string, context: RecordCallContext): Promise<Result<RecordCall>> {
  const found = await findRecord(context.place, id);
  const requests = requestsFor("records.delete", found.kind === "record" ? found.record.recordClass : null, id);
  if (!requests.ok) return requests;
  return done({
    requests: requests.value,
    execute: async () => {
      if (found.kind === "unreadable") return UNREADABLE;
      if (found.kind !== "record") return missingRecord(id);
      const { source, record } = found;
      if (versionOf(source.text, context.digest) !== version) return STALE;
      const gone = context.change(record.path, source.text, null);
      if (gone === "changed") return STALE;
      return gone.ok
        ? { ok: true, value: { id, deleted: true }, isUntrusted: false }
        : recordFailure("not_available", gone.message);
    },
  });
}

function requestsFor(
  verb: "records.update" | "records.delete",
  recordClass: string | null,
  id: string,
): Result<readonly Request[]> {
  const request = recordRequest(verb, recordClass, id);
  return request.ok ? done([request.value]) : request;
}

const STALE: RecordAnswer = recordFailure(
  "version_conflict",
  "the record changed since that version; nothing was written",
  "read it again with records_read and use the new version",
);

function taken(id: string): RecordAnswer {
  return recordFailure(
    "not_available",
    `the record ${JSON.stringify(id)} already exists`,
    "change it with records_update",
  );
}

async function changed(id: string, text: string, isClean: boolean, context: RecordCallContext): Promise<RecordAnswer> {
  const version = versionOf(text, context.digest);
  await context.noteClean(id, version, isClean);
  return { ok: true, value: { id, version }, isUntrusted: false };
}
