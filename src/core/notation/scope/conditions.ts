// The conditions of a grant, written beside its scope keys: ask, calls, rate, tokens, money, per, expires, users, pass, clean.
import type { VerbEntry } from "../../authority/catalog.ts";
import { type Conditions, isCounted, type Level, type Pass, type Rate, UNCONDITIONAL } from "../../authority/grant.ts";
import {
  EVERY_USER,
  PRINCIPAL_NAME,
  type Principal,
  type PrincipalKind,
  principal,
} from "../../authority/principal.ts";
import { done, type Result, refuse } from "../../base/result.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { instantText, parseInstant } from "../instant.ts";
import { type Entry, entryOf, type Mapping } from "../tree.ts";
import { flagOf, kindName, readEach, textOf } from "./scope-values.ts";

/** In the order they are printed. */
export const CONDITION_KEYS = [
  "ask",
  "calls",
  "rate",
  "tokens",
  "money",
  "per",
  "expires",
  "users",
  "pass",
  "clean",
] as const;
export type ConditionKey = (typeof CONDITION_KEYS)[number];

/** A budget of tokens or money on a verb whose uses cost none would limit nothing. */
const METERED: ReadonlySet<ConditionKey> = new Set(["tokens", "money"]);

export function conditionKeys({ isMetered }: VerbEntry): readonly ConditionKey[] {
  return isMetered ? CONDITION_KEYS : CONDITION_KEYS.filter((key) => !METERED.has(key));
}

/** Null when a condition is not understood: a grant without it would be wider than what was meant. */
export function readConditions(scope: Mapping | null, diagnostics: Diagnostics): Conditions | null {
  if (scope === null) return UNCONDITIONAL;
  const ask = condition(scope, "ask", UNCONDITIONAL.ask, diagnostics, readAsk);
  const calls = condition(scope, "calls", UNCONDITIONAL.calls, diagnostics, readWhole);
  const rate = condition(scope, "rate", UNCONDITIONAL.rate, diagnostics, readRate);
  const tokens = condition(scope, "tokens", UNCONDITIONAL.tokens, diagnostics, readWhole);
  const money = condition(scope, "money", UNCONDITIONAL.money, diagnostics, readMoney);
  const per = condition(scope, "per", UNCONDITIONAL.per, diagnostics, readPer);
  const expires = condition(scope, "expires", UNCONDITIONAL.expires, diagnostics, readExpires);
  const principals = condition(scope, "users", UNCONDITIONAL.principals, diagnostics, readUsers);
  const pass = condition(scope, "pass", UNCONDITIONAL.pass, diagnostics, readPass);
  const clean = condition(scope, "clean", UNCONDITIONAL.clean, diagnostics, flagOf);
  if (ask === FAILED || calls === FAILED || rate === FAILED || tokens === FAILED || money === FAILED) return null;
  if (expires === FAILED || pass === FAILED || clean === FAILED || per === FAILED || principals === FAILED) return null;
  const conditions: Conditions = { ask, calls, rate, tokens, money, per, expires, principals, pass, clean };
  if (per !== null && !isCounted(conditions)) {
    const { value } = entryOf(scope, "per") as Entry;
    diagnostics.error("bad_value", value.span, "`per` needs `calls`, `rate`, `tokens` or `money`, and none is set", {
      fix: "per: user, rate: 10/min",
    });
    return null;
  }
  return conditions;
}

const FAILED = Symbol("failed");

function condition<T>(
  scope: Mapping,
  key: ConditionKey,
  absent: T,
  diagnostics: Diagnostics,
  read: (entry: Entry, diagnostics: Diagnostics) => T | null,
): T | typeof FAILED {
  const entry = entryOf(scope, key);
  if (entry === null) return absent;
  const value = read(entry, diagnostics);
  return value === null ? FAILED : value;
}

function readAsk({ value }: Entry, diagnostics: Diagnostics): Level | null {
  if (value.kind === "scalar") {
    if (value.value === true) return 1;
    if (value.value === false) return 0;
    if (value.value === "presence") return 2;
  }
  diagnostics.error("bad_value", value.span, "`ask` is true, false or presence", { fix: "ask: true" });
  return null;
}

function readWhole({ key, value }: Entry, diagnostics: Diagnostics): number | null {
  if (
    value.kind === "scalar" &&
    typeof value.value === "number" &&
    Number.isSafeInteger(value.value) &&
    value.value > 0
  ) {
    return value.value;
  }
  diagnostics.error("bad_value", value.span, `\`${key}\` is a whole number above 0, not ${kindName(value)}`, {
    fix: key === "tokens" ? "tokens: 2000000" : "calls: 5",
  });
  return null;
}

const millionths = 1_000_000;

/** An amount of money as written, in millionths; null where it has more digits, is negative or too large. */
export function parseMoney(value: unknown): number | null {
  if (typeof value !== "number") return null;
  const amount = Math.round(value * millionths);
  return Number.isSafeInteger(amount) && amount >= 0 && amount / millionths === value ? amount : null;
}

export function moneyText(amount: number): string {
  const digits = String(amount % millionths)
    .padStart(6, "0")
    .replace(/0+$/, "");
  const whole = String(Math.floor(amount / millionths));
  return digits === "" ? whole : `${whole}.${digits.padEnd(2, "0")}`;
}

function readMoney({ value }: Entry, diagnostics: Diagnostics): number | null {
  const amount = value.kind === "scalar" ? parseMoney(value.value) : null;
  if (amount !== null && amount > 0) return amount;
  const message = "`money` is a number above 0 with at most six decimals, in the currency of your prices";
  diagnostics.error("bad_value", value.span, message, { fix: "money: 2.50" });
  return null;
}

const SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  sec: 1,
  min: 60,
  h: 3600,
  hour: 3600,
  d: 86_400,
  day: 86_400,
};

function readRate({ value }: Entry, diagnostics: Diagnostics): Rate | null {
  const text = value.kind === "scalar" && typeof value.value === "string" ? value.value : "";
  const match = /^([1-9]\d{0,8})\/(s|sec|min|h|hour|d|day)$/.exec(text);
  if (match !== null) return { calls: Number(match[1]), seconds: SECONDS[match[2] as string] as number };
  diagnostics.error("bad_value", value.span, "`rate` is a number of calls per s, min, h or d", {
    fix: "rate: 10/min",
  });
  return null;
}

/** Rates of other lengths than the units are never read here; they print so that reading them again refuses. */
export function rateText({ calls, seconds }: Rate): string {
  const unit = ["s", "min", "h", "d"].find((name) => SECONDS[name] === seconds);
  return `${calls}/${unit ?? `${seconds}s`}`;
}

function readExpires(entry: Entry, diagnostics: Diagnostics): number | null {
  const written = textOf(entry, diagnostics);
  if (written === null) return null;
  const instant = parseInstant(written.text);
  if (instant !== null) return instant;
  const day = /^\d{4}-\d{2}-\d{2}$/.test(written.text) ? parseInstant(`${written.text}T00:00:00Z`) : null;
  const fix = day === null ? "expires: 2026-12-01T00:00:00Z" : `expires: ${instantText(day)}`;
  diagnostics.error("bad_value", written.span, "`expires` is a date and a time with a time zone", { fix });
  return null;
}

function readPer({ value }: Entry, diagnostics: Diagnostics): PrincipalKind | null {
  if (value.kind === "scalar" && value.value === "user") return "user";
  diagnostics.error("bad_value", value.span, "`per` is user: each user has a budget of their own", {
    fix: "per: user",
  });
  return null;
}

const GROUP = "group:";

/** An empty list is no user: such a grant covers nothing. */
function readUsers(entry: Entry, diagnostics: Diagnostics): readonly Principal[] | null {
  const read = readEach(entry, diagnostics, readUser);
  return read === null ? null : [...new Set(read)];
}

function readUser(text: string): Result<readonly Principal[]> {
  if (text === "*") return done([EVERY_USER]);
  const isGroup = text.startsWith(GROUP);
  const name = isGroup ? text.slice(GROUP.length) : text;
  if (PRINCIPAL_NAME.test(name)) return done([principal(isGroup ? "group" : "user", name)]);
  return refuse("bad_value", `${JSON.stringify(text)} is neither a user, nor \`group:NAME\`, nor \`*\` for every user`);
}

/** The inverse of `users`. */
export function principalText(one: Principal): string {
  return one.startsWith("user:") ? one.slice("user:".length) : one;
}

function readPass({ value }: Entry, diagnostics: Diagnostics): Pass | null {
  const text = value.kind === "scalar" ? value.value : null;
  if (text === "use" || text === "pass" || text === "both") return text;
  diagnostics.error("bad_value", value.span, "`pass` is use, pass or both", { fix: "pass: use" });
  return null;
}
