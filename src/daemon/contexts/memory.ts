// Stored data of a context: values by key and observations. In memory, `session/x` is this session's, `shared/x` the
// workspace's, and every other key the agent's. Storage has the tool's own store `tool/x` besides.

import type { KeyEntry, KeysPort, ObservationsPort, PortFailure } from "../../core/ports/instruments.ts";
import type { MemoryStore, MemoryValue, Namespace, ObservationStore } from "../../core/ports/stores/memory-store.ts";
import type { Session } from "../session.ts";

export interface ContextStorageOptions {
  readonly session: Session;
  readonly tool: string;
  /** The call, as the reason why its session is no longer clean. */
  readonly call: string;
  /** Written by a third-party tool, and therefore untrusted. */
  readonly isForeign: boolean;
  now(): number;
  id(): string;
}

const sessionSeconds = 86_400;

interface KeyLocation {
  readonly namespace: Namespace;
  /** The prefix of the key in its namespace, as grants see it. */
  readonly start: string;
  readonly key: string;
}

export function contextKeys(memory: MemoryStore, kind: "memory" | "storage", asked: ContextStorageOptions): KeysPort {
  const { session, now } = asked;
  const located = (key: string): KeyLocation => {
    const at = key.indexOf("/") + 1;
    const namespace = namespaceOf(key.slice(0, at), kind, asked);
    const start = namespace.kind === "agent" ? "" : key.slice(0, at);
    return { namespace, start, key: key.slice(start.length) };
  };
  return {
    get: async (name) => {
      const { namespace, start, key } = located(name.join("/"));
      const found = await memory.get(namespace, key, now());
      if (!found.ok) return failure(found);
      return { ok: true, value: found.value === null ? null : entryOf(found.value, start) };
    },
    set: async (name, value, { version, secondsMax }) => {
      const { namespace, key } = located(name.join("/"));
      if (key === "") return { ok: false, code: "invalid_input", message: "the name of a store is not a key" };
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
    delete: async (name, version) => {
      const { namespace, key } = located(name.join("/"));
      const gone = await memory.delete(namespace, key, version);
      return gone.ok ? gone : failure(gone);
    },
    list: async ({ prefix, text, after, count }) => {
      const { namespace, start, key } = located(prefix);
      const from = after === null || !after.startsWith(start) ? null : after.slice(start.length);
      const found = await memory.list(namespace, { prefix: key, text, after: from, count }, now());
      return found.ok ? { ok: true, value: found.value.map((one) => entryOf(one, start)) } : failure(found);
    },
    shown: ({ clean }) => {
      if (!clean) session.taint(asked.call);
    },
  };
}

function entryOf({ key, value, version, at, expires, isClean }: MemoryValue, start: string): KeyEntry {
  return { key: `${start}${key}`.split("/"), value, version, at, expires, clean: isClean };
}

function namespaceOf(first: string, kind: "memory" | "storage", { session, tool }: ContextStorageOptions): Namespace {
  const { name, id } = session.facts;
  if (first === "tool/" && kind === "storage") return { kind: "tool", tool, workspace: name.workspace };
  if (first === "session/") return { kind: "session", session: id };
  if (first === "shared/") return { kind: "shared", workspace: name.workspace };
  return { kind: "agent", name };
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
      const id = asked.id();
      const isClean = session.isClean && !asked.isForeign;
      const written = await observations.append({ id, name, session: of, at: now(), text, tags, isClean });
      return written.ok ? { ok: true, value: { id } } : failure(written);
    },
    query: async ({ agents, text, tag, since, before, count }) => {
      const whose = agents.map((agent) => ({ workspace: name.workspace, agent }));
      const found = await observations.query({ of: whose, text, tag, since, before, count });
      if (!found.ok) return failure(found);
      if (found.value.some(({ isClean }) => !isClean)) session.taint(asked.call);
      const seen = found.value.map((one) => ({
        id: one.id,
        agent: one.name.agent,
        at: one.at,
        text: one.text,
        tags: one.tags,
        clean: one.isClean,
        session: one.session,
      }));
      return { ok: true, value: seen };
    },
  };
}

function failure({ code, message }: { readonly code: string; readonly message: string }): PortFailure {
  return { ok: false, code, message };
}
