// A context for code in another process: the same shape, every use a message to the process of the context. It only holds
// the send function; forged messages are decided in the same way. `serveUse` answers such a message: a fixed table of methods.

import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import { type Context, type OpenContext, signalInstrument } from "./context.ts";
import type { FilesInstrument, ListOptions, WriteOptions } from "./files.ts";
import type { KeyOptions, KeyQuery, KeysInstrument } from "./keys.ts";
import { ContextLifetime, sealMembers } from "./life.ts";
import type { ObservationsQuery } from "./observations.ts";
import type { ProgramOptions } from "./programs.ts";
import { remoteJson, remoteValue } from "./remote-value.ts";
import { type FetchedResponse, responseOf } from "./response.ts";
import type { SecretOptions } from "./secrets.ts";
import { invalid, type UseResult, useCodeOf, useDenial, useResult } from "./use-result.ts";

/** Sends a use and resolves to its result. An exception yields a refusal. */
export type SendUse = (use: JsonObject) => Promise<Json>;

/** Characters of one use's JSON, and of one result's: a file of the largest size still fits. */
export const useCharactersMax = 25_165_824;

export function remoteContext(send: SendUse): OpenContext {
  const life = new ContextLifetime();
  const ask = <T>(
    verb: string,
    instrument: string,
    method: string,
    given: readonly unknown[],
    read: (value: unknown) => UseResult<T> = (value) => useResult(value as T),
  ): Promise<UseResult<T>> =>
    life.use(verb, async () => {
      const use = useOf(instrument, method, given);
      if (use === null) return invalid(verb, "arguments of an instrument must be plain data or bytes");
      const answer = await send(use);
      return told(answer, verb, read);
    });
  const files = sealMembers({
    read: (path: string, range?: object) => ask<Uint8Array>("fs.read", "files", "read", [path, range]),
    readText: (path: string) => ask<string>("fs.read", "files", "readText", [path]),
    locate: (path?: string) => ask("fs.read", "files", "locate", [path]),
    write: (path: string, content: string | Uint8Array, options?: WriteOptions) =>
      ask<null>("fs.write", "files", "write", [path, content, options]),
    edit: (path: string, edits: readonly object[]) => ask("fs.write", "files", "edit", [path, edits]),
    append: (path: string, content: string | Uint8Array) => ask<null>("fs.write", "files", "append", [path, content]),
    remove: (path: string) => ask<null>("fs.delete", "files", "remove", [path]),
    stat: (path: string) => ask("fs.read", "files", "stat", [path]),
    list: (path: string, options?: ListOptions) => ask("fs.read", "files", "list", [path, options]),
    glob: (root: string, pattern: string, options?: ListOptions) =>
      ask("fs.read", "files", "glob", [root, pattern, options]),
    search: (root: string, text: string, options?: ListOptions) =>
      ask("fs.read", "files", "search", [root, text, options]),
  }) as FilesInstrument;
  const keys = (instrument: "storage" | "memory"): KeysInstrument =>
    sealMembers({
      get: (key: string) => ask("memory.read", instrument, "get", [key]),
      set: (key: string, value: string, options?: KeyOptions) =>
        ask("memory.write", instrument, "set", [key, value, options]),
      delete: (key: string, options?: KeyOptions) => ask("memory.write", instrument, "delete", [key, options]),
      list: (prefix?: string) => ask("memory.read", instrument, "list", [prefix]),
      find: (query?: KeyQuery) => ask("memory.read", instrument, "find", [query]),
    }) as KeysInstrument;
  const context = sealMembers({
    net: sealMembers({
      fetch: (url: string, options?: object) => ask("net.get", "net", "fetch", [url, options], responseIn),
    }),
    files,
    process: sealMembers({
      run: (argv: readonly string[], options?: ProgramOptions) => ask("proc.exec", "process", "run", [argv, options]),
      evaluate: (line: string, options?: ProgramOptions) => ask("proc.eval", "process", "evaluate", [line, options]),
      isolated: (argv: readonly string[], options?: ProgramOptions) =>
        ask("sandbox.exec", "process", "isolated", [argv, options]),
    }),
    secrets: sealMembers({
      has: (name: string, options?: SecretOptions) => ask("secret.use", "secrets", "has", [name, options]),
      use: (name: string, options?: SecretOptions) => ask("secret.use", "secrets", "use", [name, options]),
    }),
    storage: keys("storage"),
    memory: keys("memory"),
    observe: sealMembers({
      append: (text: string, tags?: readonly string[]) => ask("obs.append", "observe", "append", [text, tags]),
      query: (asked?: ObservationsQuery) => ask("obs.query", "observe", "query", [asked]),
    }),
    signal: signalInstrument(life),
  });
  return { context: context as OpenContext["context"], end: () => life.end() };
}

/** Omits absent trailing arguments; null if one is not plain data. */
function useOf(instrument: string, method: string, given: readonly unknown[]): JsonObject | null {
  let { length } = given;
  while (length > 0 && given[length - 1] === undefined) length--;
  const json = remoteJson(given.slice(0, length));
  return json === undefined ? null : { instrument, method, arguments: json };
}

function told<T>(answer: Json, verb: string, read: (value: unknown) => UseResult<T>): UseResult<T> {
  if (!isJsonObject(answer)) return unheard(verb);
  const { ok, value, code, message, verb: needed } = answer;
  if (ok === true && value !== undefined) {
    const decoded = remoteValue(value);
    return decoded === undefined ? unheard(verb) : read(decoded);
  }
  const known = ok === false ? useCodeOf(code) : null;
  if (known === null) return unheard(verb);
  const plain = useDenial(
    known,
    typeof needed === "string" ? needed : null,
    typeof message === "string" ? message : "",
  );
  const { need, hint, id } = answer;
  if (typeof id !== "string" || typeof hint !== "string") return plain;
  return Object.freeze({ ...plain, need: typeof need === "string" ? need : null, hint, id });
}

function unheard(verb: string): UseResult<never> {
  return useDenial("not_available", verb, "the response cannot be parsed");
}

function responseIn(value: unknown): UseResult<FetchedResponse> {
  const { status, url, redirects, isTruncated, headers, body } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isResponse =
    typeof status === "number" &&
    typeof url === "string" &&
    typeof redirects === "number" &&
    typeof isTruncated === "boolean" &&
    Array.isArray(headers) &&
    headers.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every((one) => typeof one === "string")) &&
    body instanceof Uint8Array;
  if (!isResponse) return unheard("net.get");
  return useResult(responseOf({ status, url, redirects, isTruncated, headers: headers as never, body }));
}

/** Hostile arguments are refused by the instruments, as for a local tool. */
type Act = (context: Context, given: readonly never[]) => Promise<UseResult<unknown>>;

const METHODS: ReadonlyMap<string, Act> = new Map<string, Act>([
  ["net.fetch", async ({ net }, [url, options]) => plainly(await net.fetch(url as never, options))],
  ["files.read", ({ files }, [path, range]) => files.read(path as never, range)],
  ["files.readText", ({ files }, [path]) => files.readText(path as never)],
  ["files.locate", ({ files }, [path]) => files.locate(path)],
  ["files.write", ({ files }, [path, content, options]) => files.write(path as never, content as never, options)],
  ["files.edit", ({ files }, [path, edits]) => files.edit(path as never, edits as never)],
  ["files.append", ({ files }, [path, content]) => files.append(path as never, content as never)],
  ["files.remove", ({ files }, [path]) => files.remove(path as never)],
  ["files.stat", ({ files }, [path]) => files.stat(path as never)],
  ["files.list", ({ files }, [path, options]) => files.list(path as never, options)],
  ["files.glob", ({ files }, [root, pattern, options]) => files.glob(root as never, pattern as never, options)],
  ["files.search", ({ files }, [root, text, options]) => files.search(root as never, text as never, options)],
  ["process.run", ({ process }, [argv, options]) => process.run(argv as never, options)],
  ["process.evaluate", ({ process }, [line, options]) => process.evaluate(line as never, options)],
  ["process.isolated", ({ process }, [argv, options]) => process.isolated(argv as never, options)],
  ["secrets.has", ({ secrets }, [name, options]) => secrets.has(name as never, options)],
  ["secrets.use", ({ secrets }, [name, options]) => secrets.use(name as never, options)],
  ...(["storage", "memory"] as const).flatMap((store): readonly (readonly [string, Act])[] => [
    [`${store}.get`, (context, [key]) => context[store].get(key as never)],
    [`${store}.set`, (context, [key, value, options]) => context[store].set(key as never, value as never, options)],
    [`${store}.delete`, (context, [key, options]) => context[store].delete(key as never, options)],
    [`${store}.list`, (context, [prefix]) => context[store].list(prefix)],
    [`${store}.find`, (context, [query]) => context[store].find(query)],
  ]),
  ["observe.append", ({ observe }, [text, tags]) => observe.append(text as never, tags)],
  ["observe.query", ({ observe }, [asked]) => observe.query(asked)],
]);

const argumentsMax = 4;

/** INVARIANT: returns what `remoteContext` parses, and throws for no input. */
export async function serveUse(context: Context, use: JsonObject): Promise<Json> {
  const { instrument, method, arguments: given } = use;
  const act =
    typeof instrument === "string" && typeof method === "string" ? METHODS.get(`${instrument}.${method}`) : null;
  if (act === null || act === undefined) return { ...invalid(null, "no such instrument or method") };
  if (!isJsonList(given) || given.length > argumentsMax || Object.keys(use).length !== 3)
    return { ...invalid(null, "a use needs `instrument`, `method` and at most 4 arguments") };
  // Decoded one by one: an omitted argument in the middle is undefined.
  const values = given.map((one) => (one === null ? undefined : (remoteValue(one) ?? NOTHING)));
  if (values.includes(NOTHING)) return { ...invalid(null, "an argument is too large, or its bytes are not valid") };
  const answer = await act(context, values as unknown as readonly never[]);
  if (!answer.ok) return { ...answer };
  const value = remoteJson(answer.value);
  return value === undefined ? { ...invalid(null, "the response is too large") } : { ok: true, value };
}

const NOTHING: unique symbol = Symbol("nothing");

async function plainly(answer: UseResult<FetchedResponse>): Promise<UseResult<unknown>> {
  if (!answer.ok) return answer;
  const { status, url, redirects, truncated: isTruncated, headers } = answer.value;
  return useResult({
    status,
    url,
    redirects,
    isTruncated,
    headers: headers.entries(),
    body: await answer.value.bytes(),
  });
}
