// obs_append and obs_query: an agent's notes and its denials, for later turns.

import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { Observation, ObservationStore } from "../../core/ports/stores/memory-store.ts";
import { countSchema, objectSchema, textSchema, textsSchema } from "../../runtime/tool/schema-parts.ts";
import { nameRequest, numberOr, optionalText, textIn, textsIn } from "../input.ts";
import type { Session } from "../session.ts";
import type { ExecutionResult, OwnerTool } from "./owner-tool.ts";

const textMax = 16_384;
const tagCharactersMax = 64;
const tagsMax = 16;
const countMax = 500;
const nameCharactersMax = 256;

export function observationTools(
  observations: ObservationStore,
  now: () => number,
  id: () => string,
): readonly OwnerTool[] {
  return [
    {
      name: "obs_append",
      description: "Record an observation for later turns. It cannot be changed afterwards.",
      input: objectSchema(
        {
          text: textSchema("The text of the observation.", 1, textMax),
          tags: textsSchema("Short words for searching.", tagsMax, tagCharactersMax),
        },
        ["text"],
      ),
      verbs: ["obs.append"],
      requests: (_input, _reading, session) => about("obs.append", session.facts.name.agent),
      execute: async ({ input, session }) => {
        const text = textIn(input, "text", textMax);
        const tags = input["tags"] === undefined ? [] : textsIn(input, "tags", tagsMax);
        if (text === null || tags === null || tags.some((tag) => tag.length > tagCharactersMax || tag === "denial"))
          return BAD;
        const { facts, isClean } = session;
        const observation = { id: id(), name: facts.name, session: facts.id, at: now(), text, tags, isClean };
        const written = await observations.append(observation);
        return written.ok ? { ok: true, value: { id: observation.id }, isUntrusted: false } : written;
      },
    },
    {
      name: "obs_query",
      description: "Read recorded observations, newest first. Your denied calls are recorded with the tag `denial`.",
      input: objectSchema({
        agent: textSchema("Whose observations; default: your own.", 1, nameCharactersMax),
        text: textSchema("A string the observation contains.", 1, nameCharactersMax),
        tag: textSchema("A tag of the observation.", 1, nameCharactersMax),
        since: countSchema(
          "Only observations since this time, in milliseconds since 1970.",
          0,
          Number.MAX_SAFE_INTEGER,
        ),
        before: textSchema("The last id of the previous page.", 1, nameCharactersMax),
        count: countSchema("Maximum number of results; default 50.", 1, countMax),
      }),
      verbs: ["obs.query"],
      requests: (input, _reading, session) => {
        const agent = agentOf(input, session);
        return agent === null ? refuse("bad_value", "`agent` must be the id of an agent") : about("obs.query", agent);
      },
      execute: async ({ input, session }) => {
        const agent = agentOf(input, session);
        const [text, tag, before] = ["text", "tag", "before"].map((key) => optionalText(input, key, nameCharactersMax));
        const since = numberOr(input, "since", 0, 0, Number.MAX_SAFE_INTEGER);
        const count = numberOr(input, "count", 50, 1, countMax);
        if (agent === null || text === undefined || tag === undefined || before === undefined) return BAD;
        if (since === null || count === null) return BAD;
        const of = [{ workspace: session.facts.name.workspace, agent }];
        const found = await observations.query({ of, text, tag, since: since === 0 ? null : since, before, count });
        if (!found.ok) return found;
        return { ok: true, value: found.value.map(shown), isUntrusted: found.value.some(({ isClean }) => !isClean) };
      },
    },
  ];
}

const BAD: ExecutionResult = {
  ok: false,
  code: "invalid_input",
  message: "an observation must be a text with a few short tags",
};

function agentOf(input: JsonObject, session: Session): string | null {
  const named = optionalText(input, "agent", nameCharactersMax);
  return named === undefined ? null : (named ?? session.facts.name.agent);
}

function about(verb: string, agent: string): Result<readonly Request[]> {
  const request = nameRequest(verb, agent);
  return request.ok ? done([request.value]) : request;
}

function shown({ id, name, at, text, tags, isClean, session }: Observation): JsonObject {
  return { id, agent: name.agent, at, text, tags, clean: isClean, session };
}
