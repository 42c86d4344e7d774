// The canonical printer: a grant as the compact notation writes it, so that reading it again gives the same grant.
import { guardArgv } from "../authority/axes/argv.ts";
import { hostTexts, openingTexts } from "../authority/axes/destination.ts";
import { namePatternText, toolPatternText } from "../authority/axes/name.ts";
import { pathText, tree } from "../authority/axes/path.ts";
import type { Scope } from "../authority/axes/scope.ts";
import { uriPatternText } from "../authority/axes/uri.ts";
import type { Axis, ScopeKey } from "../authority/catalog.ts";
import type { Conditions, Grant } from "../authority/grant.ts";
import { literal, type Segment, segmentText } from "../authority/patterns/segment.ts";
import { type Sequence, sameSequence } from "../authority/patterns/sequence.ts";
import { compactList, compactWord } from "./compact/compact-word.ts";
import { instantText } from "./instant.ts";
import { argumentPairs } from "./scope/arguments-printer.ts";
import { moneyText, principalText, rateText } from "./scope/conditions.ts";
import { pathEntryText } from "./scope/path-entry.ts";
import { argvTexts, portText } from "./scope/pattern-text.ts";

export { grantWords } from "./grant-words.ts";

/**
 * Keys in the catalog's order, then conditions; entries as they were written. Roots are printed in full, and "nothing"
 * is spelled out, so that the text means the same under any hoisted root.
 * A scope that no reader makes (a materialised meet over several process roots) is printed as something narrower.
 */
export function compactText(grant: Grant): string {
  const pairs = [
    ...grant.verb.axes.flatMap((axis, at) => axisPairs(axis, grant.scopes[at] as Scope, grant)),
    ...conditionPairs(grant.conditions),
  ];
  return pairs.length === 0 ? grant.verb.verb : `${grant.verb.verb}{${pairs.join(",")}}`;
}

function axisPairs(axis: Axis, scope: Scope, grant: Grant): string[] {
  if (scope.kind === "any") return anyPairs(axis, grant);
  switch (scope.kind) {
    case "sequences":
      return sequencePairs(axis, scope.of, grant);
    case "destinations": {
      const openings = openingTexts(scope);
      return [
        `hosts=${compactList(hostTexts(scope))}`,
        ...(openings.length === 0 ? [] : [`private=${compactList(openings)}`]),
      ];
    }
    case "ports":
      // Bare numbers: a port is one of the few values that are read as a number.
      return [`ports=[${scope.of.map(portText).join(",")}]`];
    case "words":
      return wordPairs(axis, scope.of);
    case "arguments":
      return argumentPairs(scope);
    default:
      return scope satisfies never;
  }
}

/** What a missing key means is the catalog's; where it does not mean any, any has to be written. */
function anyPairs(axis: Axis, { verb }: Grant): string[] {
  const isFirst = verb.family === "external" && verb.axes[0] === axis;
  switch (axis.kind) {
    case "path":
      return axis.name === "root" ? ["in=[]"] : ["in=/"];
    case "name":
      return isFirst ? [`${axis.keys[0]}=[**]`] : [];
    case "destination":
      return isFirst ? ["hosts=[*]"] : [];
    case "tool":
      return verb.verb === "tool.invoke" ? ["tools=[**]"] : [];
    case "port":
      return verb.verb === "net.connect" ? ["ports=[*]"] : [];
    case "argv":
    case "arguments":
      return [];
    case "word":
      return axis.name === "raw" ? ["raw"] : [];
    default:
      return axis.kind satisfies never;
  }
}

function sequencePairs(axis: Axis, patterns: readonly Sequence[], grant: Grant): string[] {
  switch (axis.kind) {
    case "path":
      return axis.name === "root" ? rootPairs(patterns) : pathPairs(patterns, grant.root);
    case "argv": {
      const texts = argvTexts(patterns.filter((pattern) => !opensOptions(pattern)));
      const hasCmds = texts.cmds.length > 0 || texts.patterns.length === 0;
      return [
        ...(hasCmds ? [`cmds=${compactList(texts.cmds)}`] : []),
        ...(texts.patterns.length > 0 ? [`patterns=${compactList(texts.patterns)}`] : []),
      ];
    }
    case "tool":
      return [`tools=${compactList(patterns.map(toolPatternText))}`];
    default: {
      const texts = patterns.map(axis.name === "uri" ? uriPatternText : namePatternText);
      const [only] = texts;
      if (axis.keys[0] === "id" && only !== undefined && texts.length === 1) return [`id=${compactWord(only)}`];
      return [`${axis.keys[axis.keys.length - 1] as ScopeKey}=${compactList(texts)}`];
    }
  }
}

function rootPairs(patterns: readonly Sequence[]): string[] {
  const root = patterns.map(rootOf).find((found) => found !== null);
  return [root === undefined || root === null ? "in=[]" : `in=${compactWord(pathText(root))}`];
}

/** The folder whose tree a pattern is. */
function rootOf(pattern: Sequence): readonly string[] | null {
  const names = pattern.slice(0, -1).map((segment) => (segment.kind === "literal" ? segment.text : null));
  const isTree = pattern[pattern.length - 1]?.kind === "deep" && names.every((name) => name !== null);
  return isTree ? (names as string[]) : null;
}

/**
 * A text that met a star covers no guarded segment, and no reader makes such a thing: written as a literal it would open
 * protected paths and risky options. Such a pattern is left out; what is printed is then less, never more.
 */
function isMet(segment: Segment): boolean {
  return segment.kind === "glob" && segment.parts.length === 1;
}

function opensOptions(pattern: Sequence): boolean {
  const { guarded } = guardArgv(pattern.map(segmentText));
  return pattern.some((segment, at) => isMet(segment) && guarded?.[at] === true);
}

function pathPairs(all: readonly Sequence[], written: readonly string[] | null): string[] {
  const patterns = all.filter((pattern) => !pattern.some(isMet));
  if (written === null && patterns.length === 0) return ["in=[]"];
  const root = written !== null && patterns.every((pattern) => startsWith(pattern, written)) ? written : [];
  const start = `in=${compactWord(pathText(root))}`;
  const [only] = patterns;
  if (only !== undefined && patterns.length === 1 && sameSequence(only, tree(root))) return [start];
  return [start, `paths=${compactList(patterns.map((pattern) => pathEntryText(pattern, root)))}`];
}

function startsWith(pattern: Sequence, root: readonly string[]): boolean {
  return sameSequence(pattern.slice(0, root.length), root.map(literal));
}

function wordPairs(axis: Axis, words: readonly string[]): string[] {
  if (axis.name === "raw") return words.includes("raw") ? ["raw"] : [];
  if (words.includes("live")) return ["root=live"];
  return words.includes("rw") ? [] : ["root=ro"];
}

function conditionPairs(conditions: Conditions): string[] {
  const { ask, calls, rate, tokens, money, per, expires, principals, pass, clean } = conditions;
  const pairs: string[] = [];
  if (ask > 0) pairs.push(ask === 1 ? "ask" : "ask=presence");
  if (calls !== null) pairs.push(`calls=${calls}`);
  if (rate !== null) pairs.push(`rate=${rateText(rate)}`);
  if (tokens !== null) pairs.push(`tokens=${tokens}`);
  if (money !== null) pairs.push(`money=${moneyText(money)}`);
  if (per !== null) pairs.push(`per=${per}`);
  if (expires !== null) pairs.push(`expires=${expiresText(expires)}`);
  if (principals !== null) pairs.push(`users=${compactList(principals.map(principalText))}`);
  if (pass !== "both") pairs.push(`pass=${pass}`);
  if (clean) pairs.push("clean");
  return pairs;
}

/** Moments outside the calendar we write become the nearest one in it: over long ago, or the last there is. */
function expiresText(expires: number): string {
  return instantText(expires) ?? (expires < 0 ? "0000-01-01T00:00:00Z" : "9999-12-31T23:59:59.999Z");
}
