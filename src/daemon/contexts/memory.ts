// Stored data of a context: values by key and observations. The first segment of a key names its owner: `tool` is the tool,
// `session` this session, `shared` the workspace; every other key is the agent's, as for the memory tools.

import type { KeysPort, ObservationsPort, PortFailure } from "../../core/ports/instruments.ts";
import type { MemoryStore, Namespace, ObservationStore } from "../../core/ports/stores/memory-store.ts";
import type { Session } from "../session.ts";

export interface ContextStorageOptions {
  readonly session: Session;
  readonly tool: string;
  /** Written by a third-party tool, and therefore untrusted. */
  readonly isForeign: boolean;
  now(): number;
  id(): string;
}

const sessionSeconds = 86_400;
const valueCharactersMax = 262_144;
const observationCharactersMax = 16_384;

interface KeyLocation {
  readonly namespace: Namespace;
  /** The prefix of the key in its namespace, as grants see it. */
  readonly start: readonly string[];
}

export function contextKeys(memory: MemoryStore, asked: ContextStorageOptions): KeysPort {
  const { session, now } = asked;
  const placed = (key: readonly string[]): KeyLocation & { readonly key: string } => {
    const place = locationOf(key, asked);
    return { ...place, key: key.slice(place.start.length).join("/") };
  };
  return {
    get: async (name) => {
      const { namespace, key } = placed(name);
      const found = await memory.get(namespace, key, now());
      if (!found.ok || found.value === null) return found.ok ? { ok: true, value: null } : failure(found);
      const { value, version, isClean } = found.value;
      if (!isClean) session.taint("a tool's reading of memory");
      return { ok: true, value: { value, version } };
    },
    set: async (name, value, { version, secondsMax }) => {
      const { namespace, key } = placed(name);
      if (key === "" || value.length > valueCharactersMax)
        return { ok: false, code: "invalid_input", message: `a value has at most ${valueCharactersMax} characters` };
      const at = now();
      const written = await memory.set({
        ...{ namespace, key, value, version, at },
        expires: expiryOf(namespace, secondsMax, at),
        isClean: session.isClean && !asked.isForeign,
        writer: session.facts.name,
      });
      if (!written.ok) return failure(written);
      return written.value.ok ? { ok: true, value: { version: written.value.version } } : failure(written.value);
    },
    delete: async (name) => {
      const { namespace, key } = placed(name);
      const gone = await memory.delete(namespace, key, null);
      return gone.ok ? gone : failure(gone);
    },
    list: async (prefix, { after, count }) => {
      const { namespace, start, key } = placed(prefix);
      const from = after === null ? null : after.slice(start.length).join("/");
      // Below it, not every key with the same prefix characters.
      const below = key === "" ? "" : `${key}/`;
      const found = await memory.list(namespace, { prefix: below, text: null, after: from, count }, now());
      if (!found.ok) return failure(found);
      return { ok: true, value: found.value.map((one) => [...start, ...one.key.split("/")]) };
    },
  };
}

function locationOf([first]: readonly string[], { session, tool }: ContextStorageOptions): KeyLocation {
  const { name, id } = session.facts;
  if (first === "tool") return { namespace: { kind: "tool", tool, workspace: name.workspace }, start: ["tool"] };
  if (first === "session") return { namespace: { kind: "session", session: id }, start: ["session"] };
  if (first === "shared") return { namespace: { kind: "shared", workspace: name.workspace }, start: ["shared"] };
  return { namespace: { kind: "agent", name }, start: [] };
}

/** Session data expires after at most a day. */
function expiryOf({ kind }: Namespace, seconds: number | null, at: number): number | null {
  const most = kind === "session" ? sessionSeconds : Number.POSITIVE_INFINITY;
  const lasts = Math.min(seconds ?? Number.POSITIVE_INFINITY, most);
  return lasts === Number.POSITIVE_INFINITY ? null : at + lasts * 1000;
}

export function contextObservations(observations: ObservationStore, asked: ContextStorageOptions): ObservationsPort {
  const { session, now } = asked;
  const { name, id: of } = session.facts;
  return {
    append: async (text, tags) => {
      if (text === "" || text.length > observationCharactersMax || tags.includes("denial"))
        return {
          ok: false,
          code: "invalid_input",
          message: `a text of at most ${observationCharactersMax} characters`,
        };
      const id = asked.id();
      const isClean = session.isClean && !asked.isForeign;
      const written = await observations.append({ id, name, session: of, at: now(), text, tags, isClean });
      return written.ok ? { ok: true, value: { id } } : failure(written);
    },
    query: async ({ agent, text, tag, before, count }) => {
      const whose = [{ workspace: name.workspace, agent }];
      const found = await observations.query({ of: whose, text, tag, since: null, before, count });
      if (!found.ok) return failure(found);
      if (found.value.some(({ isClean }) => !isClean)) session.taint("a tool's reading of observations");
      const seen = found.value.map((one) => ({
        id: one.id,
        agent: one.name.agent,
        at: one.at,
        text: one.text,
        tags: one.tags,
      }));
      return { ok: true, value: seen };
    },
  };
}

function failure({ code, message }: { readonly code: string; readonly message: string }): PortFailure {
  return { ok: false, code, message };
}
