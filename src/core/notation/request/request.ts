// One request as a person writes it: `net.get https://api.github.com/x`, `proc.exec -- git log`.

import { schemeOf } from "../../authority/axes/url.ts";
import { type VerbEntry, verbEntry } from "../../authority/catalog.ts";
import type { Grant, Span } from "../../authority/grant.ts";
import type { Request } from "../../authority/request.ts";
import { argvTokensMax } from "../../base/limits.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import { readCompact } from "../compact/compact.ts";
import { splitSpecs } from "../compact/specs.ts";
import { Diagnostics } from "../diagnostic.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { nearestVerb } from "../scope/verb-reader.ts";
import { resourceOf } from "../tokens/token-text.ts";
import { readValues } from "./request-values.ts";
import { splitWords } from "./request-words.ts";

export function readRequest(words: readonly string[], reading: Reading): Result<Request> {
  const [name, ...rest] = words;
  if (name === undefined) return refuse("bad_value", "the request is empty", "net.get https://example.com/");
  if (words.length > argvTokensMax + 8) return refuse("too_long", `more than ${argvTokensMax} words`);
  const verb = verbEntry(name);
  if (verb === null) {
    const nearest = nearestVerb(name);
    return nearest === null
      ? refuse("bad_value", `${quoteText(name)} is not a verb`)
      : refuse("bad_value", `${quoteText(name)} is not a verb`, nearest);
  }
  return verb.verb === "agent.grant" ? readDelegation(verb, rest, reading) : plainRequest(verb, rest, reading);
}

/** One line, as in a record's `tests`. Behind a tool's name everything is JSON, behind a target everything is specs. */
export function readRequestText(text: string, reading: Reading): Result<Request> {
  const raw = /^\s*(tool\.invoke|agent\.grant)\s+([^\s'"\\]+)\s+([^\s'"].*)$/s.exec(text);
  if (raw !== null) {
    const [, name, target, rest] = raw as unknown as [string, string, string, string];
    if (name === "tool.invoke") return readRequest([name, target, rest], reading);
    const specs = splitSpecs(rest, { source: "request", start: 0, end: rest.length }, new Diagnostics());
    return specs === null
      ? refuse("too_long", "the line is too long")
      : readRequest([name, target, ...specs.map((spec) => spec.text)], reading);
  }
  const words = splitWords(text);
  return words.ok ? readRequest(words.value, reading) : words;
}

function plainRequest(verb: VerbEntry, words: readonly string[], reading: Reading): Result<Request> {
  const values = readValues(verb, words, reading);
  if (!values.ok) return values;
  // Of all the words that are read, only an address begins like one.
  const scheme = resourceOf(verb) === "net" ? words.map(schemeOf).find((one) => one !== null) : null;
  return done({ verb, values: values.value, ...(scheme ? { scheme } : {}) });
}

function readDelegation(verb: VerbEntry, [target, ...specs]: readonly string[], reading: Reading): Result<Request> {
  if (target === undefined)
    return refuse(
      "bad_value",
      `${verb.verb} needs the agent that receives`,
      `${verb.verb} scout net.get{hosts=[example.com]}`,
    );
  const values = readValues(verb, [target], reading);
  if (!values.ok) return values;
  const diagnostics = new Diagnostics();
  const proposed: Grant[] = [];
  for (const spec of specs) {
    const span: Span = { source: "request", start: 0, end: spec.length };
    const grant = readCompact(spec, { reading, diagnostics, span, root: null });
    if (grant !== null) proposed.push(grant);
  }
  const mistake = diagnostics.list.find((one) => one.severity === "error");
  if (mistake !== undefined || proposed.length !== specs.length) {
    const fix = mistake?.fix ?? mistake?.suggestion;
    const message = mistake?.message ?? "the grant to delegate cannot be parsed";
    return fix === undefined || fix === null ? refuse("bad_value", message) : refuse("bad_value", message, fix);
  }
  return done({ verb, values: values.value, delegation: { target, proposed } });
}
