// A context for code in another process: the same shape, every use a message to the process of the context. It only holds
// the send function; forged messages are decided in the same way.
import { isJsonObject, type Json, type JsonObject } from "../../core/base/json.ts";
import { closed } from "./closed.ts";
import { type OpenContext, signalInstrument } from "./context.ts";
import type { FilesInstrument } from "./files.ts";
import type { KeyOptions, KeyQuery, KeysInstrument } from "./keys.ts";
import { Life } from "./life.ts";
import type { ObservationsQuery } from "./observations.ts";
import type { ProgramOptions } from "./programs.ts";
import { remoteJson, remoteValue } from "./remote-value.ts";
import { type FetchedResponse, responseOf } from "./response.ts";
import type { SecretOptions } from "./secrets.ts";
import { invalid, type UseResult, useCodeOf, useDenial, useResult } from "./use-result.ts";

export { serveUse } from "./serve-use.ts";

/** Sends a use and resolves to its result. An exception yields a refusal. */
export type SendUse = (use: JsonObject) => Promise<Json>;

/** Characters of one use's JSON, and of one result's: a file of the largest size still fits. */
export const useCharactersMax = 25_165_824;

export function remoteContext(send: SendUse): OpenContext {
  const life = new Life();
  const ask = <T>(
    verb: string,
    instrument: string,
    method: string,
    given: readonly unknown[],
    read: (value: unknown) => UseResult<T> = (value) => useResult(value as T),
  ): Promise<UseResult<T>> =>
    life.use(verb, async () => {
      const use = useOf(instrument, method, given);
      if (use === null) return invalid(verb, "what an instrument is given is plain data or bytes");
      const answer = await send(use);
      return told(answer, verb, read);
    });
  const files = closed({
    read: (path: string, range?: object) => ask<Uint8Array>("fs.read", "files", "read", [path, range]),
    readText: (path: string) => ask<string>("fs.read", "files", "readText", [path]),
    write: (path: string, content: string | Uint8Array) => ask<null>("fs.write", "files", "write", [path, content]),
    append: (path: string, content: string | Uint8Array) => ask<null>("fs.write", "files", "append", [path, content]),
    remove: (path: string) => ask<null>("fs.delete", "files", "remove", [path]),
    stat: (path: string) => ask("fs.read", "files", "stat", [path]),
    list: (path: string) => ask("fs.read", "files", "list", [path]),
    glob: (root: string, pattern: string) => ask("fs.read", "files", "glob", [root, pattern]),
    search: (root: string, text: string) => ask("fs.read", "files", "search", [root, text]),
  }) as FilesInstrument;
  const keys = (instrument: "storage" | "memory"): KeysInstrument =>
    closed({
      get: (key: string) => ask("memory.read", instrument, "get", [key]),
      set: (key: string, value: string, options?: KeyOptions) =>
        ask("memory.write", instrument, "set", [key, value, options]),
      delete: (key: string, options?: KeyOptions) => ask("memory.write", instrument, "delete", [key, options]),
      list: (prefix?: string) => ask("memory.read", instrument, "list", [prefix]),
      find: (query?: KeyQuery) => ask("memory.read", instrument, "find", [query]),
    }) as KeysInstrument;
  const context = closed({
    net: closed({
      fetch: (url: string, options?: object) => ask("net.get", "net", "fetch", [url, options], responseIn),
    }),
    files,
    process: closed({
      run: (argv: readonly string[], options?: ProgramOptions) => ask("proc.exec", "process", "run", [argv, options]),
    }),
    secrets: closed({
      has: (name: string, options?: SecretOptions) => ask("secret.use", "secrets", "has", [name, options]),
      use: (name: string, options?: SecretOptions) => ask("secret.use", "secrets", "use", [name, options]),
    }),
    storage: keys("storage"),
    memory: keys("memory"),
    observe: closed({
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
  return useDenial("not_available", verb, "the answer could not be read");
}

function responseIn(value: unknown): UseResult<FetchedResponse> {
  const { status, url, redirected, headers, body } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isResponse =
    typeof status === "number" &&
    typeof url === "string" &&
    typeof redirected === "boolean" &&
    Array.isArray(headers) &&
    headers.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every((one) => typeof one === "string")) &&
    body instanceof Uint8Array;
  if (!isResponse) return unheard("net.get");
  return useResult(responseOf({ status, url, redirected, headers: headers as never, body }));
}
