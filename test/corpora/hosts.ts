// hosts.json: patterns over host names from five other tools, canonical spellings, and look-alikes.
import {
  type DestinationScope,
  destinationMatches,
  type HostEntry,
  parseHost,
  parseHostEntry,
} from "../../src/core/authority/axes/destination.ts";
import { DEEP } from "../../src/core/authority/patterns/segment.ts";
import type { Sequence } from "../../src/core/authority/patterns/sequence.ts";
import { toAscii } from "../../src/platform/ascii.ts";
import { cases, type Data, flag, list, nameOf, text, texts } from "./data.ts";
import { type HostInput, hostDifferences, PORT_IN_HOST } from "./hosts-differences.ts";
import { expectedMatch, isPattern } from "./hosts-reference.ts";
import { canonicalOutcome } from "./hosts-spelling.ts";
import { type Case, compareAnswers, type Group, type Outcome } from "./tally.ts";

export function runHosts(file: Data): readonly Group[] {
  const all = cases(file);
  const spelled = all.filter((each) => text(each, "normalizes_to") !== null);
  const patterns = all.filter((each) => !spelled.includes(each));
  return [
    group("cases", patterns, (each) => matched(each, null)),
    group("normalizes_to", spelled, (each) => canonicalOutcome(text(each, "host") ?? "", text(each, "normalizes_to"))),
    group("own_adversarial", list(file, "own_adversarial"), (each) => matched(each, [PORT_IN_HOST])),
    group("idn_toascii", list(file, "idn_toascii"), (each) =>
      canonicalOutcome(text(each, "input") ?? "", text(each, "ascii")),
    ),
    group("psl_registrable", list(file, "psl_registrable"), () => ({ kind: "skipped", reason: "reading" })),
    group("semantics_disagreements", list(file, "semantics_disagreements"), () => ({
      kind: "skipped",
      reason: "reading",
    })),
  ];
}

function group(name: string, rows: readonly Data[], outcome: (row: Data) => Outcome): Group {
  const found = rows.map((row, at): Case => ({ name: nameOf(row, at), shown: shown(row), outcome: outcome(row) }));
  return { corpus: "hosts", group: name, cases: found };
}

function shown(row: Data): string {
  return JSON.stringify([row["pattern"] ?? row["input"], row["host"]].filter((each) => each !== undefined));
}

/** A case of a pattern and a host, or of a pattern alone. `allowed`: the only differences that excuse, null for any. */
function matched(row: Data, allowed: readonly string[] | null): Outcome {
  const patterns = texts(row["pattern"]);
  if (patterns === null) return { kind: "skipped", reason: "no pattern" };
  const host = text(row, "host");
  const expected = host === null ? flag(row, "pattern_valid") : flag(row, "match");
  if (expected === null) return { kind: "skipped", reason: "no expected answer" };
  const ours =
    host === null ? patterns.every((each) => parseHostEntry(each, toAscii).ok) : destinationAllowed(patterns, host);
  if (ours === expected) return compareAnswers(expected, ours, "");
  const input: HostInput = { patterns, host, semantics: text(row, "semantics") ?? "" };
  const foreseen = host === null ? patterns.every(isPattern) : expectedMatch(patterns, host);
  const reason = hostDifferences.find(({ name, holds }) => (allowed?.includes(name) ?? true) && holds(input))?.name;
  if (foreseen === ours && reason !== undefined) return { kind: "decided", reason };
  return compareAnswers(expected, ours, "no named difference");
}

/** `hosts: [patterns]` against one host. An entry that does not parse grants nothing; the others remain valid. */
function destinationAllowed(patterns: readonly string[], host: string): boolean {
  const entries: HostEntry[] = [];
  for (const each of patterns) {
    const entry = parseHostEntry(each, toAscii);
    if (entry.ok) entries.push(entry.value);
  }
  const value = parseHost(host, toAscii);
  return value.ok && destinationMatches(scopeOf(entries), value.value);
}

function scopeOf(entries: readonly HostEntry[]): DestinationScope {
  const everyPublic = entries.some((each) => each.kind === "every");
  const names: Sequence[] = everyPublic ? [[DEEP]] : [];
  for (const each of entries) if (each.kind === "name") names.push(each.name);
  const ranges = entries.flatMap((each) => (each.kind === "range" ? [each.range] : []));
  return { kind: "destinations", names, ranges, everyPublic, openings: [] };
}
