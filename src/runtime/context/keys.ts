// Values by key. `memory` is all keys an agent is granted; `storage` is the one store a tool declares, under its own name.

import { parseName } from "../../core/authority/axes/name.ts";
import type { KeysPort, KeyValue } from "../../core/ports/instruments.ts";
import { type ContextLifetime, sealMembers } from "./life.ts";
import { keyCharactersMax, keyPagesMax, listedKeysMax, storedSecondsMax, valueCharactersMax } from "./limits.ts";
import type { UseGate } from "./use-gate.ts";
import {
  countOf,
  invalid,
  optionsOf,
  type UseResult,
  unreadable,
  useDenial,
  useFailure,
  useResult,
} from "./use-result.ts";

export interface KeyOptions {
  /** Expected version; 0 requires that the key does not exist. */
  readonly version?: number | undefined;
  /** Time to live. */
  readonly secondsMax?: number | undefined;
}

export interface KeyQuery {
  /** The characters that the keys begin with. */
  readonly prefix?: string | undefined;
  /** A string that the values contain. */
  readonly text?: string | undefined;
  /** The last key of the previous page. */
  readonly after?: string | undefined;
  readonly count?: number | undefined;
}

export interface FoundKey extends KeyValue {
  readonly key: string;
}

export interface KeysInstrument {
  get(key: string): Promise<UseResult<KeyValue | null>>;
  set(key: string, value: string, options?: KeyOptions): Promise<UseResult<{ readonly version: number }>>;
  /** With a version, only if the stored version is that one. */
  delete(key: string, options?: Pick<KeyOptions, "version">): Promise<UseResult<boolean>>;
  /** Readable keys below a prefix. */
  list(prefix?: string): Promise<UseResult<readonly string[]>>;
  /** Readable keys with their values, sorted by key. */
  find(query?: KeyQuery): Promise<UseResult<readonly FoundKey[]>>;
}

/** Which keys: all of them, those of one store, or none. */
export type KeyRange = { readonly kind: "all" } | { readonly kind: "store"; readonly store: string } | null;

type KeyVerb = "memory.read" | "memory.write";

export function keysInstrument(
  port: KeysPort | null,
  range: KeyRange,
  asker: UseGate,
  life: ContextLifetime,
): KeysInstrument {
  const touch = <T>(
    verb: KeyVerb,
    key: unknown,
    act: (keys: KeysPort, key: readonly string[]) => Promise<UseResult<T>>,
  ): Promise<UseResult<T>> =>
    life.use(verb, async () => {
      const whole = wholeKey(key, range, verb);
      if (!whole.ok) return whole;
      const granted = asker.ask({ verb, key: whole.value.join("/") });
      if (!granted.ok) return granted;
      return port === null ? useDenial("not_available", verb, "no store is available here") : act(port, whole.value);
    });
  return sealMembers({
    get: (key: string) =>
      touch("memory.read", key, async (keys, at) => {
        const found = await keys.get(at);
        if (!found.ok) return useFailure("memory.read", found);
        if (found.value === null) return useResult(null);
        keys.shown(found.value);
        return useResult(frozenValue(found.value));
      }),
    set: (key: string, value: string, options?: KeyOptions) =>
      touch("memory.write", key, async (keys, at) => {
        const read = optionsOf(options, ["version", "secondsMax"]);
        const version = countOf(read?.["version"], -1, Number.MAX_SAFE_INTEGER, 0);
        const secondsMax = countOf(read?.["secondsMax"], -1, storedSecondsMax);
        if (read === null || version === null || secondsMax === null)
          return invalid("memory.write", "the version and the seconds must be whole numbers");
        if (typeof value !== "string" || value.length > valueCharactersMax)
          return invalid("memory.write", `a value must be text of at most ${valueCharactersMax} characters`);
        const write = { version: version < 0 ? null : version, secondsMax: secondsMax < 0 ? null : secondsMax };
        const kept = await keys.set(at, value, write);
        return kept.ok ? useResult(Object.freeze({ version: kept.value.version })) : useFailure("memory.write", kept);
      }),
    delete: (key: string, options?: Pick<KeyOptions, "version">) =>
      touch("memory.write", key, async (keys, at) => {
        const read = optionsOf(options, ["version"]);
        const version = countOf(read?.["version"], -1, Number.MAX_SAFE_INTEGER, 0);
        if (read === null || version === null) return invalid("memory.write", "the version must be a whole number");
        const gone = await keys.delete(at, version < 0 ? null : version);
        return gone.ok ? useResult(gone.value) : useFailure("memory.write", gone);
      }),
    list: (prefix?: string) =>
      life.use("memory.read", async () => {
        const below = prefix === undefined || prefix === "" ? useResult([]) : wholeKey(prefix, ALL, "memory.read");
        if (!below.ok) return below;
        const start = below.value.map((name) => `${name}/`).join("");
        const found = await entriesOf(port, range, asker, life, { prefix: start, count: listedKeysMax });
        return found.ok ? useResult(Object.freeze(found.value.map(({ key }) => key))) : found;
      }),
    find: (query?: KeyQuery) =>
      life.use("memory.read", async () => {
        const read = optionsOf(query, ["prefix", "text", "after", "count"]);
        const count = countOf(read?.["count"], 100, listedKeysMax);
        const [prefix = "", text = null, after = null] = [read?.["prefix"], read?.["text"], read?.["after"]];
        const isText = (one: unknown): one is string => typeof one === "string" && one.length <= keyCharactersMax;
        if (count === null || !isText(prefix) || !(text === null || isText(text)) || !(after === null || isText(after)))
          return invalid(
            "memory.read",
            `needs a prefix and a text of at most ${keyCharactersMax} characters, and a count`,
          );
        const found = await entriesOf(port, range, asker, life, { prefix, text, after, count });
        if (found.ok) for (const one of found.value) port?.shown(one);
        return found;
      }),
  });
}

const ALL: KeyRange = { kind: "all" };

function frozenValue({ value, version, at, expires, clean }: KeyValue): KeyValue {
  return Object.freeze({ value, version, at, expires, clean });
}

/** As grants see it: prefixed with the store, which the tool does not write. */
function wholeKey(key: unknown, range: KeyRange, verb: KeyVerb): UseResult<readonly string[]> {
  if (range === null) return useDenial("capability_absent", verb, "the tool declares no storage");
  const name = parseName(typeof key === "string" ? key : "");
  if (!name.ok) return unreadable(verb, name);
  return useResult([...(range.kind === "store" ? [range.store] : []), ...name.value.segments]);
}

interface EntriesQuery {
  readonly prefix: string;
  readonly text?: string | null;
  readonly after?: string | null;
  readonly count: number;
}

/** Page by page, and of each only readable keys, until there are enough or no more. */
async function entriesOf(
  port: KeysPort | null,
  range: KeyRange,
  asker: UseGate,
  life: ContextLifetime,
  { prefix, text = null, after: last = null, count }: EntriesQuery,
): Promise<UseResult<readonly FoundKey[]>> {
  const verb = "memory.read";
  if (range === null) return useDenial("capability_absent", verb, "the tool declares no storage");
  if (port === null) return useDenial("not_available", verb, "no store is available here");
  const store = range.kind === "store" ? `${range.store}/` : "";
  const found: FoundKey[] = [];
  let after = last === null ? null : `${store}${last}`;
  for (let page = 0; page < keyPagesMax && found.length < count && !life.isOver; page++) {
    const answer = await port.list({ prefix: `${store}${prefix}`, text, after, count });
    if (!answer.ok) return useFailure(verb, answer);
    for (const one of answer.value) {
      const key = one.key.join("/");
      // A port that returns another store's keys has a bug; they are not shown.
      if (found.length < count && key.startsWith(store) && asker.covers({ verb, key }))
        found.push(Object.freeze({ ...frozenValue(one), key: key.slice(store.length) }));
    }
    after = answer.value.at(-1)?.key.join("/") ?? null;
    if (answer.value.length < count) break;
  }
  return useResult(Object.freeze(found));
}
