// obs_append and obs_query: an agent's notes and its denials, for later turns.

import {
  observedAgentCharactersMax as nameCharactersMax,
  observationCharactersMax,
  observedAgentsMax,
  tagCharactersMax,
  tagsMax,
} from "../../runtime/context/limits.ts";
import type { ObservationsQuery } from "../../runtime/context/observations.ts";
import { useResult } from "../../runtime/context/use-result.ts";
import { type BuiltinTool, requestsFor } from "../../runtime/tool/builtin.ts";
import { countSchema, objectSchema, textSchema, textsSchema } from "../../runtime/tool/schema-parts.ts";

const countMax = 500;
const countUsual = 50;

interface AppendInput {
  readonly text: string;
  readonly tags?: readonly string[];
}

export const OBSERVATION_TOOLS: readonly BuiltinTool[] = [
  {
    name: "obs_append",
    description: "Record an observation for later turns. It cannot be changed afterwards.",
    input: objectSchema(
      {
        text: textSchema("The text of the observation.", 1, observationCharactersMax),
        tags: textsSchema("Short words for searching.", tagsMax, tagCharactersMax),
      },
      ["text"],
    ),
    verbs: ["obs.append"],
    requests: (_input, reading) => requestsFor(reading, { verb: "obs.append", agent: reading.agent }),
    execute: async (input, { observe }) => {
      const { text, tags } = input as unknown as AppendInput;
      const written = await observe.append(text, tags);
      return written.ok ? useResult({ id: written.value.id }) : written;
    },
  },
  {
    name: "obs_query",
    description:
      "Read recorded observations, newest first. Your denied calls are recorded with the tag `denial`. With `agents`: the transcript that several agents share.",
    input: objectSchema({
      agent: textSchema("Whose observations; default: your own.", 1, nameCharactersMax),
      agents: {
        ...textsSchema("Several agents instead of one `agent`.", observedAgentsMax, nameCharactersMax),
        minItems: 1,
      },
      text: textSchema("A string the observation contains.", 1, nameCharactersMax),
      tag: textSchema("A tag of the observation.", 1, nameCharactersMax),
      since: countSchema("Only observations since this time, in milliseconds since 1970.", 0, Number.MAX_SAFE_INTEGER),
      before: textSchema("The last id of the previous page.", 1, nameCharactersMax),
      count: countSchema("Maximum number of results; default 50.", 1, countMax),
    }),
    verbs: ["obs.query"],
    requests: (input, reading) => {
      const { agent = reading.agent, agents = [agent] } = input as ObservationsQuery;
      return requestsFor(reading, ...agents.map((one) => ({ verb: "obs.query", agent: one }) as const));
    },
    execute: async (input, { observe }) => {
      const found = await observe.query({ count: countUsual, ...(input as ObservationsQuery) });
      return found.ok ? useResult(found.value.map((one) => ({ ...one }))) : found;
    },
  },
];
