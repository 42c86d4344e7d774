// Values by key. `memory` is all keys an agent is granted; `storage` is the one store a tool declares, under its own name.
import { parseName } from "../../core/authority/axes/name.ts";
import type { KeysPort, KeyValue } from "../../core/ports/instruments.ts";
import { closed } from "./closed.ts";
import type { Life } from "./life.ts";
import { keyPagesMax, listedKeysMax, storedSecondsMax, valueCharactersMax } from "./limits.ts";
import { countOf, optionsOf } from "./option.ts";
import type { UseGate } from "./use-gate.ts";
import { failed, invalid, type UseResult, unreadable, useDenial, useResult } from "./use-result.ts";

export interface KeyOptions {
  /** Expected version; 0 requires that the key does not exist. */
  readonly version?: number | undefined;
  /** Time to live. */
  readonly secondsMax?: number | undefined;
}

export interface KeysInstrument {
  get(key: string): Promise<UseResult<KeyValue | null>>;
  set(key: string, value: string, options?: KeyOptions): Promise<UseResult<{ readonly version: number }>>;
  delete(key: string): Promise<UseResult<boolean>>;
  /** Readable keys below a prefix. */
  list(prefix?: string): Promise<UseResult<readonly string[]>>;
}

/** Which keys: all of them, those of one store, or none. */
export type KeyRange = { readonly kind: "all" } | { readonly kind: "store"; readonly store: string } | null;

type KeyVerb = "memory.read" | "memory.write";

export function keysInstrument(port: KeysPort | null, range: KeyRange, asker: UseGate, life: Life): KeysInstrument {
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
      return port === null ? useDenial("not_available", verb, "nothing is kept here") : act(port, whole.value);
    });
  return closed({
    get: (key: string) =>
      touch("memory.read", key, async (keys, at) => {
        const found = await keys.get(at);
        if (!found.ok) return failed("memory.read", found);
        if (found.value === null) return useResult(null);
        const { value, version } = found.value;
        return useResult(Object.freeze({ value, version }));
      }),
    set: (key: string, value: string, options?: KeyOptions) =>
      touch("memory.write", key, async (keys, at) => {
        const read = optionsOf(options, ["version", "secondsMax"]);
        const version = countOf(read?.["version"], -1, Number.MAX_SAFE_INTEGER, 0);
        const secondsMax = countOf(read?.["secondsMax"], -1, storedSecondsMax);
        if (read === null || version === null || secondsMax === null)
          return invalid("memory.write", "the version and the seconds are whole numbers");
        if (typeof value !== "string" || value.length > valueCharactersMax)
          return invalid("memory.write", `a value is a text of at most ${valueCharactersMax} characters`);
        const write = { version: version < 0 ? null : version, secondsMax: secondsMax < 0 ? null : secondsMax };
        const kept = await keys.set(at, value, write);
        return kept.ok ? useResult(Object.freeze({ version: kept.value.version })) : failed("memory.write", kept);
      }),
    delete: (key: string) =>
      touch("memory.write", key, async (keys, at) => {
        const gone = await keys.delete(at);
        return gone.ok ? useResult(gone.value) : failed("memory.write", gone);
      }),
    list: (prefix?: string) => life.use("memory.read", () => listed(port, range, asker, life, prefix)),
  });
}

/** As grants see it: prefixed with the store, which the tool does not write. */
function wholeKey(key: unknown, range: KeyRange, verb: KeyVerb): UseResult<readonly string[]> {
  if (range === null) return useDenial("capability_absent", verb, "the tool declares no storage");
  const name = parseName(typeof key === "string" ? key : "");
  if (!name.ok) return unreadable(verb, name);
  return useResult([...(range.kind === "store" ? [range.store] : []), ...name.value.segments]);
}

/** Page by page, and of each only readable keys, until there are enough or no more. */
async function listed(
  port: KeysPort | null,
  range: KeyRange,
  asker: UseGate,
  life: Life,
  prefix: unknown,
): Promise<UseResult<readonly string[]>> {
  const verb = "memory.read";
  if (range === null) return useDenial("capability_absent", verb, "the tool declares no storage");
  const below = prefix === undefined || prefix === "" ? useResult([]) : wholeKey(prefix, { kind: "all" }, verb);
  if (!below.ok) return below;
  if (port === null) return useDenial("not_available", verb, "nothing is kept here");
  const store = range.kind === "store" ? [range.store] : [];
  const found: string[] = [];
  let after: readonly string[] | null = null;
  for (let page = 0; page < keyPagesMax && found.length < listedKeysMax && !life.isOver; page++) {
    const answer = await port.list([...store, ...below.value], { after, count: listedKeysMax });
    if (!answer.ok) return failed(verb, answer);
    for (const key of answer.value) {
      // A port that returns another store's keys has a bug; they are not shown.
      if (!store.every((one, at) => one === key[at])) continue;
      if (found.length < listedKeysMax && asker.covers({ verb, key: key.join("/") }))
        found.push(key.slice(store.length).join("/"));
    }
    after = answer.value.at(-1) ?? null;
    if (answer.value.length < listedKeysMax) break;
  }
  return useResult(Object.freeze(found));
}
