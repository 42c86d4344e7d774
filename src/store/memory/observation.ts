// Observations: appended per agent, immutable, found by words, tag and time. When an agent has too many, its oldest are
// removed and counted.
import { setImmediate as turn } from "node:timers/promises";
import type { Durable } from "../../core/ports/stores/durable.ts";
import type { AgentName } from "../../core/ports/stores/link-store.ts";
import type { Observation, ObservationStore } from "../../core/ports/stores/memory-store.ts";
import type { CommitLoop } from "../commit-loop.ts";
import { agentText, bytesOf, holdsWords, wordsOf } from "./memory-text.ts";
import { appendObservation, lookRowsMax, numberOf, type ObservationRow, observationRows } from "./observation-row.ts";

export const observationTextBytesMax: number = 64 * 1024;
export const observationTagsMax: number = 32;
export const observationTagBytesMax: number = 256;
/** Agents in one query, and observations in one answer. */
export const observationAgentsMax: number = 256;
export const observationListCountMax: number = 1_000;

type Query = Parameters<ObservationStore["query"]>[0];

export class SqliteObservationStore implements ObservationStore {
  readonly #loop: CommitLoop;

  constructor(loop: CommitLoop) {
    this.#loop = loop;
  }

  async append(observation: Observation): Durable<null> {
    const why = tooMuch(observation);
    if (why !== null) return { ok: false, code: "audit_unavailable", message: why };
    return this.#loop.write((connection) => appendObservation(connection, observation), bytesOf(observation.text));
  }

  async query(asked: Query): Durable<readonly Observation[]> {
    const holders = [...new Set(asked.of.slice(0, observationAgentsMax).map(agentText))];
    const words = wordsOf(asked.text);
    const count = Math.min(asked.count, observationListCountMax);
    const found: Observation[] = [];
    if (words === null) return { ok: true, value: found };
    const start = await this.#loop.read((connection) => numberOf(connection, asked.before));
    if (!start.ok) return start;
    let before = start.value;
    // Bounded: every iteration but the last advances by that many rows, and an agent has a limited number of them.
    for (;;) {
      const looked = await this.#loop.read((connection) => observationRows(connection, holders, before, asked.since));
      if (!looked.ok) return looked;
      for (const { observation } of looked.value) {
        if (found.length >= count) return { ok: true, value: found };
        if (isWanted(observation, words, asked.tag)) found.push(observation);
      }
      const last: ObservationRow | undefined = looked.value.at(-1);
      if (last === undefined || looked.value.length < lookRowsMax) return { ok: true, value: found };
      before = last.number;
      await turn();
    }
  }

  /** How many of the agent's oldest were removed. */
  removed(name: AgentName): Durable<number> {
    return this.#loop.read((connection) => {
      const row = connection.prepare("SELECT removed FROM observation_space WHERE holder = ?").get(agentText(name));
      return Number(row?.["removed"] ?? 0);
    });
  }
}

function isWanted(observation: Observation, words: readonly string[], tag: string | null): boolean {
  if (tag !== null && !observation.tags.includes(tag)) return false;
  return holdsWords(observation.text, words);
}

function tooMuch({ text, tags }: Observation): string | null {
  if (bytesOf(text) > observationTextBytesMax) return `an observation has at most ${observationTextBytesMax} bytes`;
  if (tags.length > observationTagsMax) return `an observation has at most ${observationTagsMax} tags`;
  if (tags.some((tag) => bytesOf(tag) > observationTagBytesMax))
    return `a tag has at most ${observationTagBytesMax} bytes`;
  return null;
}
