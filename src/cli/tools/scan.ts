// Looks through one file of a tool for authority it takes by itself. It reads tokens, not scopes, and follows no values
// around: it helps an author; what holds a tool is the sandbox it runs in.
import * as ambient from "./ambient.ts";
import { type DeclaredNames, declaredIn, pairsOf } from "./names.ts";
import { type Token, tokensOf } from "./tokens.ts";

export interface AmbientUse extends ambient.Reason {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const usesMax = 500;
/** Tokens of one statement that are looked at; what is longer is not understood, and so is a finding where that matters. */
const lookMax = 512;

/** Null: too large to check. */
export function ambientUses(text: string): readonly AmbientUse[] | null {
  const tokens = tokensOf(text);
  if (tokens === null) return null;
  const pairs = pairsOf(tokens);
  const scan = new Scan(tokens, pairs, declaredIn(tokens, pairs));
  scan.run();
  return scan.uses.slice(0, usesMax);
}

class Scan {
  readonly uses: AmbientUse[] = [];
  readonly #tokens: readonly Token[];
  readonly #pairs: Int32Array;
  readonly #declared: DeclaredNames;

  constructor(tokens: readonly Token[], pairs: Int32Array, declared: DeclaredNames) {
    this.#tokens = tokens;
    this.#pairs = pairs;
    this.#declared = declared;
  }

  run(): void {
    for (let at = 0; at < this.#tokens.length && this.uses.length < usesMax; at++)
      if (this.#tokens[at]?.kind === "name") this.#name(at);
    for (const { open, close, from } of this.#declared.fromGlobals) this.#pattern(open, close, from);
    this.uses.sort((left, right) => left.start - right.start);
  }

  #text(at: number): string {
    const token = this.#tokens[at];
    return token === undefined || token.kind === "text" ? "" : token.text;
  }

  #add(at: number, name: string, reason: ambient.Reason, until = at): void {
    const [first, last] = [this.#tokens[at], this.#tokens[until]];
    if (first === undefined || last === undefined) return;
    const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name;
    this.uses.push({ name: shown, start: first.start, end: last.end, ...reason });
  }

  #module(at: number): void {
    const token = this.#tokens[at];
    const reason = token?.kind === "text" ? ambient.ambientModule(token.text) : null;
    if (token !== undefined && reason !== null) this.#add(at, token.text, reason);
  }

  #name(at: number): void {
    const text = this.#text(at);
    switch (text) {
      case "import":
        this.#import(at);
        return;
      case "export":
        this.#export(at);
        return;
      case "require":
      case "getBuiltinModule":
      case "binding":
      case "_linkedBinding":
        if (this.#text(at + 1) === "(" && !this.#isMethod(at)) this.#load(at, text, at + 2);
        return;
      case "createRequire":
        if (this.#text(at + 1) === "(") this.#add(at, text, ambient.LOADER);
        return;
      case "constructor":
        if (this.#isMember(at) && this.#text(at + 1) === "(" && !["this", "super"].includes(this.#text(at - 2)))
          this.#add(at, text, ambient.CODE);
        return;
      case "process":
        this.#process(at);
        return;
      default:
        if (ambient.GLOBAL_OBJECTS.has(text) && !this.#isMember(at)) this.#globalObject(at);
        else this.#global(at, text);
    }
  }

  #isMember(at: number): boolean {
    const before = this.#text(at - 1);
    return before === "." || before === "?.";
  }

  /** `fetch() {`, `fetch: 1`: a name that is given, not one that is used. */
  #isMethod(at: number): boolean {
    const before = this.#text(at - 1);
    const isFirst = ["{", ",", ";", "}", "async", "static", "get", "set", "*"].includes(before);
    if (!isFirst) return false;
    if (this.#text(at + 1) === ":") return before === "{" || before === ",";
    const close = this.#text(at + 1) === "(" ? (this.#pairs[at + 1] as number) : -1;
    return close >= 0 && this.#text(close + 1) === "{";
  }

  #global(at: number, text: string): void {
    const reason = ambient.GLOBALS.get(text);
    if (reason === undefined || this.#isMember(at) || this.#isMethod(at) || this.#declared.names.has(text)) return;
    this.#add(at, text, reason);
  }

  /** `globalThis.fetch`, `globalThis["fetch"]`, `globalThis[name]`. */
  #globalObject(at: number): void {
    const after = this.#text(at + 1);
    if (after === "." || after === "?.") {
      const reason = ambient.GLOBALS.get(this.#text(at + 2));
      if (reason !== undefined) this.#add(at, this.#text(at + 2), reason, at + 2);
      if (after === "." || this.#text(at + 2) !== "[") return;
    }
    this.#computed(after === "?." ? at + 2 : at + 1, at, ambient.GLOBALS);
  }

  #process(at: number): void {
    const isOfGlobal = this.#isMember(at) && ambient.GLOBAL_OBJECTS.has(this.#text(at - 2)) && !this.#isMember(at - 2);
    if ((this.#isMember(at) && !isOfGlobal) || this.#declared.names.has("process") || this.#isMethod(at)) return;
    // TypeScript's `process!.env`.
    const next = this.#text(at + 1) === "!" ? at + 2 : at + 1;
    const after = this.#text(next);
    if (after === "." || after === "?.") {
      const member = this.#text(next + 1);
      const reason = ambient.PROCESS_MEMBERS.get(member);
      if (reason !== undefined) this.#add(at, `process.${member}`, reason, next + 1);
    }
    this.#computed(after === "?." ? next + 1 : next, at, ambient.PROCESS_MEMBERS);
  }

  #computed(open: number, at: number, known: ReadonlyMap<string, ambient.Reason>): void {
    if (this.#text(open) !== "[") return;
    const close = this.#pairs[open] as number;
    const written = this.#written(open + 1, close);
    const reason = written === null ? ambient.LOADER : known.get(written);
    if (reason !== undefined) this.#add(at, written ?? `${this.#text(at)}[…]`, reason, close < 0 ? open : close);
  }

  #pattern(open: number, close: number, from: "process" | "global"): void {
    const known = from === "process" ? ambient.PROCESS_MEMBERS : ambient.GLOBALS;
    for (let at = open + 1; at < close; at++) {
      const token = this.#tokens[at] as Token;
      const isKey = ["{", ","].includes(this.#text(at - 1));
      const reason = isKey ? known.get(token.text) : undefined;
      if (reason !== undefined) this.#add(at, from === "process" ? `process.${token.text}` : token.text, reason);
    }
  }

  /** The text between two places, of texts joined by `+`; null where anything else stands there. */
  #written(from: number, until: number): string | null {
    const parts: string[] = [];
    for (let at = from; at < until; at++) {
      const token = this.#tokens[at] as Token;
      if ((at - from) % 2 === 0 ? token.kind !== "text" : token.text !== "+") return null;
      if (token.kind === "text") parts.push(token.text);
    }
    return parts.length === 0 || (until - from) % 2 === 0 ? null : parts.join("");
  }

  #load(at: number, name: string, first: number): void {
    const close = this.#pairs[first - 1] as number;
    if (close === first) return;
    let comma = -1;
    for (let place = first; place < Math.min(close, first + lookMax) && comma < 0; place++)
      if (this.#text(place) === ",") comma = place;
    const written = close < 0 ? null : this.#written(first, comma < 0 ? close : comma);
    if (written === null) this.#add(at, name, ambient.COMPUTED);
    else {
      const reason = ambient.ambientModule(written);
      if (reason !== null) this.#add(first, written, reason);
    }
  }

  #import(at: number): void {
    if (this.#isMember(at)) return;
    const after = this.#text(at + 1);
    if (after === "(") this.#load(at, "import()", at + 2);
    else if (after === ".") this.#meta(at);
    else if (this.#tokens[at + 1]?.kind === "text") this.#module(at + 1);
    else if (!this.#isTypeOnly(at + 1)) this.#from(at + 1);
  }

  #meta(at: number): void {
    const member = this.#text(at + 2) === "meta" && this.#text(at + 3) === "." ? this.#text(at + 4) : "";
    if (member === "resolve") this.#add(at, "import.meta.resolve", ambient.LOADER, at + 4);
    const environment = ambient.PROCESS_MEMBERS.get("env");
    if (member === "env" && environment !== undefined) this.#add(at, "import.meta.env", environment, at + 4);
  }

  #export(at: number): void {
    if (this.#text(at + 1) === "*" || this.#text(at + 1) === "{") this.#from(at + 1);
  }

  /** `import type { A } from`, and `import { type A } from` where every name is one. */
  #isTypeOnly(at: number): boolean {
    if (this.#text(at) === "type" && !["from", ",", "="].includes(this.#text(at + 1))) return true;
    const close = this.#text(at) === "{" ? (this.#pairs[at] as number) : -1;
    if (close <= at + 1 || close > at + lookMax) return false;
    for (let place = at; place < close; place++)
      if (["{", ","].includes(this.#text(place)) && place + 1 < close && this.#text(place + 1) !== "type") return false;
    return true;
  }

  /** The module behind the next `from`, if that belongs to the same statement. */
  #from(at: number): void {
    let place = at;
    for (let count = 0; count < lookMax; count++, place++) {
      const text = this.#text(place);
      if (text === "{") {
        place = this.#pairs[place] as number;
        if (place < 0) return;
      } else if (text === "from" && this.#tokens[place + 1]?.kind === "text") {
        this.#module(place + 1);
        return;
      } else if (text === ";" || text === "=" || text === "(") return;
    }
  }
}
