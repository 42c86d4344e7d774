// Serves one remote use of an instrument: a fixed table of methods; the context decides as for local code.
import { isJsonList, type Json, type JsonObject } from "../../core/base/json.ts";
import type { Context } from "./context.ts";
import { remoteJson, remoteValue } from "./remote-value.ts";
import type { FetchedResponse } from "./response.ts";
import { invalid, type UseResult, useResult } from "./use-result.ts";

/** Hostile arguments are refused by the instruments, as for a local tool. */
type Act = (context: Context, given: readonly never[]) => Promise<UseResult<unknown>>;

const METHODS: ReadonlyMap<string, Act> = new Map<string, Act>([
  ["net.fetch", async ({ net }, [url, options]) => plainly(await net.fetch(url as never, options))],
  ["files.read", ({ files }, [path, range]) => files.read(path as never, range)],
  ["files.readText", ({ files }, [path]) => files.readText(path as never)],
  ["files.write", ({ files }, [path, content]) => files.write(path as never, content as never)],
  ["files.append", ({ files }, [path, content]) => files.append(path as never, content as never)],
  ["files.remove", ({ files }, [path]) => files.remove(path as never)],
  ["files.stat", ({ files }, [path]) => files.stat(path as never)],
  ["files.list", ({ files }, [path]) => files.list(path as never)],
  ["files.glob", ({ files }, [root, pattern]) => files.glob(root as never, pattern as never)],
  ["files.search", ({ files }, [root, text]) => files.search(root as never, text as never)],
  ["process.run", ({ process }, [argv, options]) => process.run(argv as never, options)],
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
  if (act === null || act === undefined) return { ...invalid(null, "there is no such instrument") };
  if (!isJsonList(given) || given.length > argumentsMax || Object.keys(use).length !== 3)
    return { ...invalid(null, "a use is an instrument, its method and a few arguments") };
  // Decoded one by one: an omitted argument in the middle is undefined.
  const values = given.map((one) => (one === null ? undefined : (remoteValue(one) ?? NOTHING)));
  if (values.includes(NOTHING)) return { ...invalid(null, "an argument is too large, or no bytes where it says so") };
  const answer = await act(context, values as unknown as readonly never[]);
  if (!answer.ok) return { ...answer };
  const value = remoteJson(answer.value);
  return value === undefined ? { ...invalid(null, "the answer is too large to be told") } : { ok: true, value };
}

const NOTHING: unique symbol = Symbol("nothing");

async function plainly(answer: UseResult<FetchedResponse>): Promise<UseResult<unknown>> {
  if (!answer.ok) return answer;
  const { status, url, redirected, headers } = answer.value;
  return useResult({ status, url, redirected, headers: headers.entries(), body: await answer.value.bytes() });
}
