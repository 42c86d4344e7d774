// Observations as a tool sees them: append one for its own agent, and read those of granted agents.
import { agentIdOf } from "../../core/base/agent-id.ts";
import type { ObservationsPort, ObservationView } from "../../core/ports/instruments.ts";
import { type ContextLifetime, sealMembers } from "./life.ts";
import * as limits from "./limits.ts";
import type { UseGate } from "./use-gate.ts";
import {
  countOf,
  invalid,
  optionsOf,
  textsOf,
  type UseResult,
  useDenial,
  useFailure,
  useResult,
} from "./use-result.ts";

export interface ObservationsQuery {
  /** The agent; its own by default. */
  readonly agent?: string | undefined;
  /** Several agents, as one transcript. Each needs a grant. */
  readonly agents?: readonly string[] | undefined;
  readonly text?: string | undefined;
  readonly tag?: string | undefined;
  /** Not before this time, in milliseconds since 1970. */
  readonly since?: number | undefined;
  /** Older than this one. */
  readonly before?: string | undefined;
  readonly count?: number | undefined;
}

export interface ObserveInstrument {
  append(text: string, tags?: readonly string[]): Promise<UseResult<{ readonly id: string }>>;
  query(asked?: ObservationsQuery): Promise<UseResult<readonly ObservationView[]>>;
}

export function observeInstrument(
  port: ObservationsPort | null,
  asker: UseGate,
  life: ContextLifetime,
): ObserveInstrument {
  return sealMembers({
    append: (text: string, tags?: readonly string[]) =>
      life.use("obs.append", async () => {
        const words = textsOf(tags, limits.tagsMax, limits.tagCharactersMax);
        const isText = typeof text === "string" && text !== "" && text.length <= limits.observationCharactersMax;
        // ambit tags its own notes about denials with that word.
        if (words === null || !isText || words.includes("denial"))
          return invalid(
            "obs.append",
            `needs a text of at most ${limits.observationCharactersMax} characters, and tags`,
          );
        const granted = asker.ask({ verb: "obs.append", agent: asker.agent });
        if (!granted.ok) return granted;
        if (port === null) return nowhere("obs.append");
        const kept = await port.append(text, words);
        return kept.ok ? useResult(Object.freeze({ id: kept.value.id })) : useFailure("obs.append", kept);
      }),
    query: (asked?: ObservationsQuery) => life.use("obs.query", () => query(port, asker, asked)),
  });
}

async function query(
  port: ObservationsPort | null,
  asker: UseGate,
  asked: unknown,
): Promise<UseResult<readonly ObservationView[]>> {
  const read = optionsOf(asked, ["agent", "agents", "text", "tag", "since", "before", "count"]);
  const count = countOf(read?.["count"], 100, limits.observationsMax);
  const since = countOf(read?.["since"], 0, Number.MAX_SAFE_INTEGER, 0);
  if (read === null || count === null || since === null)
    return invalid("obs.query", "not a valid query of observations");
  const agents = agentsIn(read, asker.agent);
  const words = [read["text"], read["tag"], read["before"]].map((word) => word ?? null);
  if (agents === null || !words.every((word) => word === null || typeof word === "string"))
    return invalid(
      "obs.query",
      `text, tag and before must be strings, for one \`agent\` or at most ${limits.observedAgentsMax} \`agents\``,
    );
  for (const agent of agents) {
    const granted = asker.ask({ verb: "obs.query", agent });
    if (!granted.ok) return granted;
  }
  if (port === null) return nowhere("obs.query");
  const [text = null, tag = null, before = null] = words as readonly (string | null)[];
  const found = await port.query({ agents, text, tag, since: since === 0 ? null : since, before, count });
  if (!found.ok) return useFailure("obs.query", found);
  // A port that returns another agent's observations has a bug; they are not shown.
  const own = found.value.filter((one) => agents.includes(one.agent));
  return useResult(Object.freeze(own.map((one) => Object.freeze({ ...one, tags: Object.freeze([...one.tags]) }))));
}

/** The agents of a query, by their ids; null for both keys at once, an empty list, or what names no agent. */
function agentsIn(read: Readonly<Record<string, unknown>>, own: string): readonly string[] | null {
  const { agent, agents } = read;
  if (agents === undefined || agents === null) {
    const named = agent ?? own;
    return typeof named === "string" ? [agentIdOf(named)] : null;
  }
  const names = textsOf(agents, limits.observedAgentsMax, limits.observedAgentCharactersMax);
  if (names === null || names.length === 0 || (agent ?? null) !== null) return null;
  return [...new Set(names.map(agentIdOf))];
}

function nowhere(verb: string): UseResult<never> {
  return useDenial("not_available", verb, "observations are not available here");
}
