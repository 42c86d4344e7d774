// The six records tools: the requests that follow from the input alone, and the call itself, once the records are
// available.
import { queryWords } from "../../agents/records/search.ts";
import type { Request } from "../../core/authority/request.ts";
import { isJsonList, type JsonObject, member } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { requestIdentity } from "../../core/notation/request/request-printer.ts";
import type { Digest } from "../../core/ports/digest.ts";
import { invalid, useResult } from "../../runtime/context/use-result.ts";
import type { BuiltinTool } from "../../runtime/tool/builtin.ts";
import { createCall, createRequests, deleteCall, updateCall } from "./change-call.ts";
import { RECORD_TOOL_DEFINITIONS, type RecordToolDefinition, type RecordToolName } from "./definitions.ts";
import { readCharactersUsual, resultsUsual } from "./limits.ts";
import { linksCall, readCall } from "./read-call.ts";
import { type RecordCall, type RecordCallContext, type RecordPowers, recordFailure } from "./record-call.ts";
import { type AgentAct, agentRequests, recordId } from "./requests.ts";
import { searchCall } from "./search-call.ts";
import { newText, type ReadHead, type RecordParts } from "./text.ts";

export function recordTools(read: ReadHead, digest: Digest): readonly BuiltinTool<RecordPowers>[] {
  return RECORD_TOOL_DEFINITIONS.map((definition) => toolOf(definition, read, digest));
}

const ACTS: Readonly<Record<RecordToolName, AgentAct>> = {
  records_search: "look",
  records_read: "look",
  records_links: "look",
  records_create: "create",
  records_update: "update",
  records_delete: "delete",
};

function toolOf(definition: RecordToolDefinition, read: ReadHead, digest: Digest): BuiltinTool<RecordPowers> {
  const { name } = definition;
  const agents = (input: JsonObject, reading: Reading): Result<readonly Request[]> | null =>
    name === "records_search" ? null : agentRequests(ACTS[name], input, idOf(input, digest), null, reading);
  const requests = (input: JsonObject, reading: Reading): Result<readonly Request[]> =>
    agents(input, reading) ?? asked(name, input, read, digest);
  const call = async (input: JsonObject, reading: Reading, records: RecordCallContext): Promise<Result<RecordCall>> => {
    const about = agents(input, reading);
    if (about === null) return called(name, input, records, digest);
    return about.ok ? done({ requests: about.value, execute: async () => AGENT }) : about;
  };
  return {
    ...definition,
    requests: (input, { notation }) => requests(input, notation),
    derive: async (input, { notation }, { records }) => {
      if (records === null) return done([]);
      const made = await call(input, notation, records);
      const known = requests(input, notation);
      if (!made.ok || !known.ok) return made.ok ? done([]) : made;
      // Requested once, however it was found.
      const texts = new Set(known.value.map(requestIdentity));
      return done(made.value.requests.filter((one) => !texts.has(requestIdentity(one))));
    },
    execute: async (input, { records }) => {
      if (records === null) return NO_WORKSPACE;
      const made = await call(input, records.reading, records);
      if (!made.ok) return invalid(null, made.message);
      // INVARIANT: what is executed is what was decided; the record may have changed since.
      if (!records.isDecided(made.value.requests)) return MOVED;
      const answer = await made.value.execute();
      if (!answer.ok) return answer;
      if (answer.isUntrusted) records.taint();
      return useResult(answer.value);
    },
  };
}

const MOVED = recordFailure("not_available", "the records changed in the meantime; call again");
const NO_WORKSPACE = recordFailure(
  "not_available",
  "there are no records here: no .ambit folder here or above",
  "tell the user to create one: ambit init",
);

/** Known from the input alone; what depends on the record is determined later. */
function asked(name: RecordToolName, input: JsonObject, read: ReadHead, digest: Digest): Result<readonly Request[]> {
  if (name === "records_search") {
    const words = queryWords(textIn(input, "query") ?? "");
    return words.ok ? done([]) : words;
  }
  const id = idOf(input, digest);
  const segments = recordId(id);
  if (!segments.ok) return segments;
  if (name === "records_create") {
    const parts = { ...partsOf(input), class: textIn(input, "class") ?? "" };
    const text = newText(parts, read);
    return text.ok ? createRequests({ ...parts, id }) : text;
  }
  if (name !== "records_update") return done([]);
  if (textIn(input, "version") === null)
    return refuse("bad_value", "`version` is required: use the one returned by records_read");
  return Object.keys(partsOf(input)).length > 0
    ? done([])
    : refuse("bad_value", "nothing to change: pass class, title, tags or body");
}

function called(
  name: RecordToolName,
  input: JsonObject,
  context: RecordCallContext,
  digest: Digest,
): Promise<Result<RecordCall>> {
  const id = idOf(input, digest);
  switch (name) {
    case "records_search":
      return searchCall(
        {
          query: textIn(input, "query") ?? "",
          class: textIn(input, "class"),
          count: numberIn(input, "count", resultsUsual),
        },
        context,
      );
    case "records_read": {
      const characters = numberIn(input, "characters", readCharactersUsual);
      return readCall({ id, offset: numberIn(input, "offset", 0), characters }, context);
    }
    case "records_links":
      return linksCall(id, context);
    case "records_create":
      return createCall({ ...partsOf(input), class: textIn(input, "class") ?? "", id }, context);
    case "records_update":
      return updateCall({ ...partsOf(input), id, version: textIn(input, "version") }, context);
    case "records_delete":
      return deleteCall(id, textIn(input, "version") ?? "", context);
  }
}

/** Not even with the grant: an agent has a text of another kind, and tools of its own. */
const AGENT = recordFailure(
  "not_available",
  "agents cannot be used as records",
  "use agent_create, agent_update, agent_grant, agent_delete and agent_discover",
);

const slugCharactersMax = 60;
const digestCharacters = 12;

/** Deterministic: the same input has the same id. */
function idOf(input: JsonObject, digest: Digest): string {
  const id = textIn(input, "id");
  if (id !== null) return id;
  const slug = (textIn(input, "title") ?? "")
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, slugCharactersMax)
    .replace(/^-+|-+$|[\uD800-\uDBFF]$/g, "");
  return `${textIn(input, "class") ?? ""}/${slug === "" ? digest(JSON.stringify(input)).slice(0, digestCharacters) : slug}`;
}

function partsOf(input: JsonObject): RecordParts {
  const [recordClass, title, body] = ["class", "title", "body"].map((key) => textIn(input, key));
  const tags = member(input, "tags");
  return {
    ...(recordClass == null ? {} : { class: recordClass }),
    ...(title == null ? {} : { title }),
    ...(isJsonList(tags) ? { tags: tags.map(String) } : {}),
    ...(body == null ? {} : { body }),
  };
}

function textIn(input: JsonObject, key: string): string | null {
  const value = member(input, key);
  return typeof value === "string" ? value : null;
}

function numberIn(input: JsonObject, key: string, otherwise: number): number {
  const value = member(input, key);
  return typeof value === "number" ? value : otherwise;
}
