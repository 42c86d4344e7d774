// The words of a request into one value for each axis of its verb. What the words do not say stays undefined.

import { parseHost } from "../../authority/axes/destination.ts";
import { parseAgentName, parseName, parseTool } from "../../authority/axes/name.ts";
import { parsePath } from "../../authority/axes/path.ts";
import type { Value } from "../../authority/axes/scope.ts";
import { parseUri } from "../../authority/axes/uri.ts";
import type { VerbEntry } from "../../authority/catalog.ts";
import { isJsonObject } from "../../base/json.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import { parseJson } from "../json-reader.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { resourceOf } from "../tokens/token-text.ts";
import { readConnection, readUrl } from "./request-network.ts";
import { readProgram, readShell } from "./request-process.ts";
import { namedWords } from "./request-words.ts";

type Values = Result<readonly Value[]>;

export function readValues(verb: VerbEntry, words: readonly string[], reading: Reading): Values {
  const sole = (read: (text: string) => Values): Values => soleWord(verb, words, read);
  switch (resourceOf(verb)) {
    case "records":
      return readRecord(verb, words);
    case "agent":
      return words.length === 0 ? unsaid(verb) : sole((text) => listed(parseAgentName(text), (id) => [id, id]));
    case "obs":
      return words.length === 0 ? unsaid(verb) : sole((text) => listed(parseAgentName(text)));
    case "memory":
      return words.length === 0 ? unsaid(verb) : sole((text) => listed(parseName(text)));
    case "tool":
      return readTool(verb, words);
    case "fs":
      return sole((text) => listed(parsePath(text, reading.pathSettings)));
    case "net": {
      const split = namedWords(words, verb.verb === "net.connect" ? ["address", "raw"] : ["address"]);
      if (!split.ok) return split;
      const { plain, named } = split.value;
      return soleWord(verb, plain, (text) =>
        verb.verb === "net.connect" ? readConnection(text, named, reading) : readUrl(text, named, reading),
      );
    }
    case "proc":
      return verb.verb === "proc.exec" ? readProgram(words, reading) : readShell(words, reading);
    case "secret":
      return readSecret(verb, words, reading);
    case "model":
      return readModel(verb, words);
    case "mcp":
      return readResource(verb, words);
    default:
      if (words.length === 0) return unsaid(verb);
      return verb.axes.length === 0 ? extra(verb, words[0]) : sole((text) => listed(parseHost(text, reading.toAscii)));
  }
}

const EXAMPLES: Readonly<Record<string, string>> = {
  "records.read": "id=notes/today class=note",
  "fs.read": "./src/a.ts",
  "net.get": "https://example.com/",
  "net.connect": "example.com:443",
  "secret.use": "openai-key",
  "model.use": "anthropic claude-sonnet-4-5",
  "mcp.resource": "docs docs://pages/start",
  "mcp.elicit": "docs",
  "mcp.sample": "docs",
  "tool.invoke": 'web_fetch {"url": "https://example.com/"}',
  "agent.update": "scout",
  "memory.read": "config",
  "obs.query": "scout",
};

function example(verb: VerbEntry): string {
  const similar =
    Object.keys(EXAMPLES).find((name) => name === verb.verb) ??
    Object.keys(EXAMPLES).find((name) => name.startsWith(`${resourceOf(verb)}.`));
  return similar === undefined ? verb.verb : `${verb.verb} ${EXAMPLES[similar]}`;
}

function unsaid(verb: VerbEntry): Values {
  return done(verb.axes.map(() => undefined));
}

function extra(verb: VerbEntry, word: string | undefined): Values {
  return refuse("bad_value", `${verb.verb} does not accept ${quoteText(word ?? "")}`, example(verb));
}

function soleWord(verb: VerbEntry, [word, second]: readonly string[], read: (text: string) => Values): Values {
  if (second !== undefined) return extra(verb, second);
  return word === undefined ? refuse("bad_value", `${verb.verb} needs a target`, example(verb)) : read(word);
}

function listed<T extends Value>(
  result: Result<T>,
  spread: (value: T) => readonly Value[] = (value) => [value],
): Values {
  return result.ok ? done(spread(result.value)) : result;
}

function readRecord(verb: VerbEntry, words: readonly string[]): Values {
  const split = namedWords(words, ["id", "class"]);
  if (!split.ok) return split;
  const { plain, named } = split.value;
  return plain.length > 0 ? extra(verb, plain[0]) : each([named.get("class"), parseName], [named.get("id"), parseName]);
}

function readSecret(verb: VerbEntry, words: readonly string[], { toAscii }: Reading): Values {
  const split = namedWords(words, ["tool", "host"]);
  if (!split.ok) return split;
  const { plain, named } = split.value;
  return soleWord(verb, plain, (name) =>
    each([name, parseName], [named.get("tool"), parseTool], [named.get("host"), (text) => parseHost(text, toAscii)]),
  );
}

function readModel(verb: VerbEntry, [provider, model, more]: readonly string[]): Values {
  if (provider === undefined) return refuse("bad_value", `${verb.verb} needs a provider`, example(verb));
  return more === undefined ? each([provider, parseName], [model, parseName]) : extra(verb, more);
}

function readResource(verb: VerbEntry, [server, uri, more]: readonly string[]): Values {
  if (server === undefined) return refuse("bad_value", `${verb.verb} needs a server`, example(verb));
  if (verb.axes.length === 1) return uri === undefined ? each([server, parseName]) : extra(verb, uri);
  return more === undefined ? each([server, parseName], [uri, parseUri]) : extra(verb, more);
}

/** Each text by its reader, in order; a missing text is a missing value. */
function each(...pairs: readonly (readonly [string | undefined, (text: string) => Result<Value>])[]): Values {
  const values: Value[] = [];
  for (const [text, read] of pairs) {
    const value = text === undefined ? done(undefined) : read(text);
    if (!value.ok) return value;
    values.push(value.value);
  }
  return done(values);
}

function readTool(verb: VerbEntry, [name, json, more]: readonly string[]): Values {
  if (name === undefined) return refuse("bad_value", `${verb.verb} needs a tool`, example(verb));
  if (more !== undefined) return extra(verb, more);
  const tool = parseTool(name);
  if (!tool.ok) return tool;
  if (json === undefined) return done([tool.value, undefined]);
  const parsed = parseJson(json);
  if (!parsed.ok) return parsed;
  if (!isJsonObject(parsed.value))
    return refuse("bad_value", "the arguments of a tool are a JSON object", example(verb));
  return done([tool.value, { kind: "json", value: parsed.value }]);
}
