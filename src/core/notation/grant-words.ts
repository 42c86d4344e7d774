// A grant as one sentence for people: what it does, where, and under which conditions.

import { placeText } from "../authority/axes/constraint.ts";
import { hostTexts, openingTexts } from "../authority/axes/destination.ts";
import { namePatternText, toolPatternText } from "../authority/axes/name.ts";
import { pathPatternText, pathText, tree } from "../authority/axes/path.ts";
import { isNothing, type Scope } from "../authority/axes/scope.ts";
import { uriPatternText } from "../authority/axes/uri.ts";
import type { Axis } from "../authority/catalog.ts";
import type { Conditions, Grant } from "../authority/grant.ts";
import { type Sequence, sameSequence } from "../authority/patterns/sequence.ts";
import { EVERY_USER, type Principal } from "../authority/principal.ts";
import { instantText } from "./instant.ts";
import { moneyText, principalText, rateText } from "./scope/conditions.ts";
import { pathEntryText } from "./scope/path-entry.ts";
import { argvTexts, portText } from "./scope/pattern-text.ts";
import { visible } from "./visible.ts";

const entriesShownMax = 12;

export function grantWords(grant: Grant): string {
  return visible([`${grant.verb.effect}${where(grant)}`, ...conditionWords(grant.conditions)].join("; "));
}

function where({ verb, scopes, root }: Grant): string {
  if (scopes.some(isNothing)) return ": nothing";
  const words = verb.axes.flatMap((axis, at) => axisWords(axis, scopes[at] as Scope, root));
  return words.length === 0 ? "" : `: ${words.join(", ")}`;
}

function axisWords(axis: Axis, scope: Scope, root: readonly string[] | null): string[] {
  switch (scope.kind) {
    case "any":
      return ANY_WORDS[axis.name] ?? [];
    case "sequences":
      return sequenceWords(axis, scope.of, root);
    case "destinations": {
      const openings = openingTexts(scope);
      const hosts = listed(hostTexts(scope).map((text) => (text === "*" ? "any public host" : text)));
      return [hosts, ...(openings.length === 0 ? [] : [`private ${listed(openings)}`])];
    }
    case "ports":
      return [`port ${listed(scope.of.map(portText))}`];
    case "words":
      if (axis.name === "raw") return scope.of.includes("raw") ? ["any protocol"] : [];
      if (scope.of.includes("live")) return ["its files synchronized while it runs"];
      return scope.of.includes("rw") ? [] : ["its files read-only"];
    case "arguments": {
      const places = scope.constrained.map(({ at }) => placeText(at));
      return [
        ...(places.length === 0 ? [] : [`with limits on ${listed(places)}`]),
        ...(scope.only ? [places.length === 0 ? "without arguments" : "no other arguments"] : []),
      ];
    }
    default:
      return scope satisfies never;
  }
}

/** What is said of an axis without a limit; of most, nothing. */
const ANY_WORDS: Readonly<Partial<Record<Axis["name"], string[]>>> = {
  port: ["any port"],
  argv: ["any program"],
  host: ["any host"],
  tool: ["any tool"],
  name: ["any name"],
};

function sequenceWords(axis: Axis, patterns: readonly Sequence[], root: readonly string[] | null): string[] {
  switch (axis.kind) {
    case "path":
      return [axis.name === "root" ? `in ${listed(patterns.map(folderText))}` : pathWords(patterns, root)];
    case "argv": {
      const texts = argvTexts(patterns);
      return [listed([...texts.cmds, ...texts.patterns.map((text) => `\`${text}\``)])];
    }
    case "tool":
      return [listed(patterns.map(toolPatternText))];
    default:
      return [`${axis.name} ${listed(patterns.map(axis.name === "uri" ? uriPatternText : namePatternText))}`];
  }
}

function pathWords(patterns: readonly Sequence[], root: readonly string[] | null): string {
  const isRooted =
    root !== null && patterns.every((pattern) => sameSequence(pattern.slice(0, root.length), tree(root).slice(0, -1)));
  if (!isRooted) return listed(patterns.map(pathPatternText));
  if (patterns.length === 1 && sameSequence(patterns[0] as Sequence, tree(root)))
    return `anything in ${pathText(root)}`;
  return `${listed(patterns.map((pattern) => pathEntryText(pattern, root)))} in ${pathText(root)}`;
}

function folderText(pattern: Sequence): string {
  return pathPatternText(pattern[pattern.length - 1]?.kind === "deep" ? pattern.slice(0, -1) : pattern);
}

function conditionWords(conditions: Conditions): string[] {
  const { ask, calls, rate, tokens, money, per, expires, principals, pass, clean } = conditions;
  const words: string[] = [];
  if (ask === 1) words.push("asks first");
  if (ask === 2) words.push("asks first and requires presence");
  if (calls !== null) words.push(calls === 1 ? "once" : `at most ${calls} calls`);
  if (rate !== null) words.push(`at most ${rateText(rate)}`);
  if (tokens !== null) words.push(`at most ${tokens} tokens`);
  if (money !== null) words.push(`at most ${moneyText(money)} by your prices`);
  if (per !== null) words.push(`counted for each ${per} separately`);
  if (principals !== null) words.push(usersWords(principals));
  if (expires !== null) words.push(`until ${instantText(expires) ?? `${expires} ms`}`);
  if (pass === "use") words.push("cannot be delegated");
  if (pass === "pass") words.push("can only be delegated, not used");
  if (clean) words.push("only until the session has read untrusted content");
  return words;
}

function usersWords(principals: readonly Principal[]): string {
  if (principals.length === 0) return "for no user";
  const names = principals.map((one) => (one === EVERY_USER ? "any named user" : principalText(one)));
  return `only in sessions for ${listed(names)}`;
}

function listed(texts: readonly string[]): string {
  const more = texts.length - entriesShownMax;
  return more > 0 ? `${texts.slice(0, entriesShownMax).join(", ")} and ${more} more` : texts.join(", ");
}
