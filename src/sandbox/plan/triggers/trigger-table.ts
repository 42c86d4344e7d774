// Looks up a path among the trigger names, as the configuration has moved them. Spelling-insensitive; see
// `spelling.ts`.
import type { TriggerRule, WrittenTriggers } from "../../../core/notation/config/trigger-setting.ts";
import { LAND_BY_ASK } from "./land-by-ask.ts";
import { NEVER_LAND } from "./never-land.ts";
import { isShortName, nameKey } from "./spelling.ts";
import type { Trigger, TriggerClass, TriggerPosition } from "./trigger.ts";

type Path = readonly string[];

export interface TriggerMatch {
  readonly class: TriggerClass;
  readonly tool: string;
}

/** Base paths of the positions on this machine; absolute, without links. */
export interface TriggerBases {
  readonly root: Path;
  readonly home: Path | null;
  readonly workspaces: readonly Path[];
}

interface Branch {
  readonly literals: Map<string, Branch>;
  readonly globs: { readonly glob: string; readonly branch: Branch }[];
  /** The rules that end here. */
  readonly rules: Rule[];
}

interface Rule {
  readonly class: TriggerClass | "free";
  readonly tool: string;
  readonly by: "table" | "fixed" | "user" | "project";
  /** Keys of its names; a `*` in one matches any run of characters. */
  readonly pattern: readonly string[];
}

/** A matching rule, and the index in the path at which its names begin. */
interface RuleMatch {
  readonly rule: Rule;
  readonly start: number;
}

interface KnownName {
  readonly key: string;
  /** The positions in which a rule begins with this name. */
  readonly starts: readonly TriggerPosition[];
}

const PLACES: readonly TriggerPosition[] = ["anywhere", "top", "home"];
const knownNamesMax = 20_000;
const CONFIGURATION = "the configuration of ambit";
const NOTHING_MOVED: WrittenTriggers = { rules: [] };

/** Of a configuration with an error, only the rules that make names stricter count. */
export function strictTriggers(
  config: { readonly triggers: WrittenTriggers; readonly broken: boolean } | null | undefined,
): WrittenTriggers {
  if (config === null || config === undefined) return NOTHING_MOVED;
  return config.broken ? { rules: config.triggers.rules.filter((one) => one.class === "never") } : config.triggers;
}

export class TriggerTable {
  readonly #branches: Readonly<Record<TriggerPosition, Branch>> = { anywhere: branch(), top: branch(), home: branch() };

  /** A cache: the same names occur again and again. */
  readonly #names = new Map<string, KnownName>();

  /** Trees of programs from the configuration, which every sandbox sees; those inside a root never change. */
  readonly runtime: readonly Path[];

  /** The user's rules move names between classes; a project's rules only make them stricter. */
  constructor(
    user: WrittenTriggers = NOTHING_MOVED,
    project: WrittenTriggers = NOTHING_MOVED,
    runtime: readonly Path[] = [],
  ) {
    this.runtime = runtime;
    for (const one of [...NEVER_LAND, ...LAND_BY_ASK]) this.#add(one.place, tableRule(one));
    for (const one of user.rules) this.#add(one.place, writtenRule(one, "user"));
    for (const one of project.rules) this.#add(one.place, writtenRule(one, "project"));
  }

  /** The trigger that an absolute path is, or lies below; null for none. */
  find(path: Path, bases: TriggerBases): TriggerMatch | null {
    return decided(this.#rules(path, bases, false));
  }

  /** The strictest trigger below a path by its names: a link with this name would replace that trigger. */
  findBelow(path: Path, bases: TriggerBases): TriggerMatch | null {
    return decided(this.#rules(path, bases, true));
  }

  /** Whether a trigger that counts at every depth begins with this name. */
  isStart(name: string): boolean {
    return this.#name(name).starts.includes("anywhere");
  }

  #rules(path: Path, { root, home, workspaces }: TriggerBases, isBelow: boolean): readonly RuleMatch[] {
    const known = path.map((name) => this.#name(name));
    const keys = known.map(({ key }) => key);
    const found: RuleMatch[] = [];
    const look = (place: TriggerPosition, start: number): void => {
      if (known[start]?.starts.includes(place) !== true) return;
      const rules: Rule[] = [];
      collect(this.#branches[place], keys, start, isBelow, rules);
      for (const rule of rules) found.push({ rule, start });
    };
    const bases = [root, ...workspaces, ...(home === null ? [] : [home])];
    const starts = new Set(bases.filter((base) => isBelowBase(path, base)).map((base) => base.length));
    for (const start of starts) look("top", start);
    if (home !== null && isBelowBase(path, home)) look("home", home.length);
    if (isBelowBase(path, root)) for (let at = root.length; at < keys.length; at++) starts.add(at);
    for (const start of starts) look("anywhere", start);
    return found;
  }

  #name(name: string): KnownName {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const key = nameKey(name);
    const found = { key, starts: PLACES.filter((place) => isStart(this.#branches[place], key)) };
    if (this.#names.size >= knownNamesMax) this.#names.clear();
    this.#names.set(name, found);
    return found;
  }

  #add(place: TriggerPosition, rule: Rule): void {
    let at = this.#branches[place];
    for (const key of rule.pattern) at = key.includes("*") ? globBranch(at, key) : literalBranch(at, key);
    at.rules.push(rule);
  }
}

function isBelowBase(path: Path, base: Path): boolean {
  return path.length > base.length && base.every((name, at) => name === path[at]);
}

function isStart({ literals, globs }: Branch, key: string): boolean {
  if (literals.has(key) || globs.some(({ glob }) => isGlobMatch(key, glob))) return true;
  return key.includes("~") && [...literals.keys()].some((name) => isShortName(key, name));
}

function collect(from: Branch, keys: Path, at: number, isBelow: boolean, found: Rule[]): void {
  if (!isBelow) found.push(...from.rules);
  const key = keys[at];
  if (key === undefined) {
    if (isBelow) everyRule(from, found);
    return;
  }
  const exact = from.literals.get(key);
  if (exact !== undefined) collect(exact, keys, at + 1, isBelow, found);
  if (key.includes("~"))
    for (const [name, next] of from.literals) if (isShortName(key, name)) collect(next, keys, at + 1, isBelow, found);
  for (const { glob, branch: next } of from.globs)
    if (isGlobMatch(key, glob)) collect(next, keys, at + 1, isBelow, found);
}

function everyRule(from: Branch, found: Rule[]): void {
  for (const next of [...from.literals.values(), ...from.globs.map((one) => one.branch)]) {
    found.push(...next.rules);
    everyRule(next, found);
  }
}

const STRICTNESS: readonly Rule["class"][] = ["free", "ask", "never"];

/**
 * A user's rule replaces each rule that it names: the longest first, then the strictest. Fixed names and a project's
 * additions remain. The strictest of the result decides, so a rule about other names never loosens anything.
 */
function decided(found: readonly RuleMatch[]): TriggerMatch | null {
  if (found.length === 0) return null;
  const user = found.filter(({ rule }) => rule.by === "user");
  const rule = strictest(found.map((one) => replacement(one, user)));
  if (rule === null || rule.class === "free") return null;
  return { class: rule.class, tool: rule.tool };
}

function replacement(one: RuleMatch, user: readonly RuleMatch[]): Rule {
  const { rule } = one;
  if (rule.by === "fixed" || rule.by === "project") return rule;
  const naming = user.filter(
    (other) => isNaming(other, one) && (rule.by === "table" || other.rule.pattern.length > rule.pattern.length),
  );
  const longest = Math.max(...naming.map((other) => other.rule.pattern.length));
  return strictest(naming.map((other) => other.rule).filter(({ pattern }) => pattern.length === longest)) ?? rule;
}

/** Whether the first rule names those of the second literally, without a wildcard. */
function isNaming(first: RuleMatch, second: RuleMatch): boolean {
  const offset = second.start - first.start;
  return (
    offset >= 0 &&
    second.rule.pattern.every((key, at) => {
      const name = first.rule.pattern[offset + at];
      return name !== undefined && (name === key || (key.includes("*") && isGlobMatch(name, key)));
    })
  );
}

function strictest(rules: readonly Rule[]): Rule | null {
  let found: Rule | null = null;
  for (const rule of rules) if (found === null || weight(rule) > weight(found)) found = rule;
  return found;
}

function weight(rule: Rule): number {
  return STRICTNESS.indexOf(rule.class);
}

function tableRule({ class: of, tool, isFixed, names }: Trigger): Rule {
  return { class: of, tool, by: isFixed ? "fixed" : "table", pattern: names.map(patternKey) };
}

function writtenRule({ class: written, names }: TriggerRule, by: "user" | "project"): Rule {
  const of = written === "allow" ? "free" : written;
  return { class: of, tool: CONFIGURATION, by, pattern: names.map(patternKey) };
}

/** Dots before a wildcard are part of the pattern, not trailing dots. */
function patternKey(name: string): string {
  const [start = "", end = null] = name.split("*");
  return end === null ? nameKey(name) : `${nameKey(`${start}x`).slice(0, -1)}*${nameKey(end)}`;
}

function branch(): Branch {
  return { literals: new Map(), globs: [], rules: [] };
}

function literalBranch(at: Branch, key: string): Branch {
  const next = at.literals.get(key) ?? branch();
  at.literals.set(key, next);
  return next;
}

function globBranch(at: Branch, glob: string): Branch {
  const known = at.globs.find((one) => one.glob === glob);
  if (known !== undefined) return known.branch;
  const next = branch();
  at.globs.push({ glob, branch: next });
  return next;
}

/** A single wildcard: linear time. */
function isGlobMatch(key: string, glob: string): boolean {
  const star = glob.indexOf("*");
  const [start, end] = [glob.slice(0, star), glob.slice(star + 1)];
  return key.length >= start.length + end.length && key.startsWith(start) && key.endsWith(end);
}
