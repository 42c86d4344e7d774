// Which names a file declares itself, as far as its tokens tell: a `fetch` taken out of the context is the file's own.
import { GLOBAL_OBJECTS } from "./ambient.ts";
import type { Token } from "./tokens.ts";

const unfittingMax = 64;
/** Looks at tokens inside of patterns, of all patterns together; past it no more names count as the file's own. */
const looksMax = 5_000_000;

const OPENING: ReadonlyMap<string, string> = new Map([
  [")", "("],
  ["]", "["],
  ["}", "{"],
]);

/** For each bracket the place of its other one; -1 where there is none. */
export function pairsOf(tokens: readonly Token[]): Int32Array {
  const pairs = new Int32Array(tokens.length).fill(-1);
  const open: number[] = [];
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== "sign") continue;
    if (text === "(" || text === "[" || text === "{") open.push(at);
    const wanted = OPENING.get(text);
    if (wanted === undefined) continue;
    // Brackets that do not fit are passed over, a few of them.
    let other = open.length - 1;
    while (other >= 0 && other > open.length - unfittingMax && tokens[open[other] as number]?.text !== wanted) other--;
    if (other < 0 || tokens[open[other] as number]?.text !== wanted) continue;
    const place = open[other] as number;
    pairs[place] = at;
    pairs[at] = place;
    open.length = other;
  }
  return pairs;
}

const DECLARING: ReadonlySet<string> = new Set(["const", "let", "var", "function", "class"]);
const NO_FUNCTION: ReadonlySet<string> = new Set(["if", "while", "for", "switch", "with", "await", "return"]);

export interface DeclaredNames {
  readonly names: ReadonlySet<string>;
  /** Patterns that take things out of a global: place of the brace, and of which. */
  readonly fromGlobals: readonly {
    readonly open: number;
    readonly close: number;
    readonly from: "process" | "global";
  }[];
}

export function declaredIn(tokens: readonly Token[], pairs: Int32Array): DeclaredNames {
  const names = new Set<string>();
  let looks = 0;
  const add = (open: number, close: number): void => {
    looks += close - open;
    if (looks < looksMax) addNames(tokens, open, close, names);
  };
  const fromGlobals: { open: number; close: number; from: "process" | "global" }[] = [];
  for (const [at, { kind, text }] of tokens.entries()) {
    const before = tokens[at - 1];
    const after = tokens[at + 1];
    if (kind === "name" && before?.kind === "name" && DECLARING.has(before.text)) names.add(text);
    // The one parameter of an arrow, and an import's own names.
    if (kind === "name" && after?.text === "=>") names.add(text);
    if (kind === "name" && before?.text === "import" && after?.text !== "(" && after?.text !== ".") names.add(text);
    if (text !== "{" && text !== "(" && text !== "[") continue;
    const close = pairs[at] as number;
    if (close < 0) continue;
    if (text === "(" && isParameters(tokens, at, close)) add(at, close);
    if (text === "(" || !isPattern(tokens, at, close)) continue;
    const from = globalAfter(tokens, close);
    if (from === null) add(at, close);
    else fromGlobals.push({ open: at, close, from });
  }
  return { names, fromGlobals };
}

function isParameters(tokens: readonly Token[], open: number, close: number): boolean {
  const after = tokens[close + 1]?.text;
  if (after === "=>") return true;
  const before = tokens[open - 1];
  return after === "{" && before?.kind === "name" && !NO_FUNCTION.has(before.text);
}

/** `const { a } =`, `import { a } from`. */
function isPattern(tokens: readonly Token[], open: number, close: number): boolean {
  const before = tokens[open - 1]?.text ?? "";
  const after = tokens[close + 1]?.text;
  if (after === "=" || after === ":") return DECLARING.has(before);
  return after === "from" && (before === "import" || before === "," || before === "type");
}

function globalAfter(tokens: readonly Token[], close: number): "process" | "global" | null {
  const from = tokens[close + 2]?.text ?? "";
  const next = tokens[close + 3]?.text;
  if (from === "process" && next !== "." && next !== "?.") return "process";
  if (!GLOBAL_OBJECTS.has(from)) return null;
  if (next !== "." && next !== "?.") return "global";
  return tokens[close + 4]?.text === "process" && tokens[close + 5]?.text !== "." ? "process" : null;
}

/** What a pattern names: not the keys before a colon, but what stands behind it. */
function addNames(tokens: readonly Token[], open: number, close: number, names: Set<string>): void {
  for (let at = open + 1; at < close; at++) {
    const { kind, text } = tokens[at] as Token;
    const before = tokens[at - 1]?.text ?? "";
    const after = tokens[at + 1]?.text ?? "";
    if (kind === "name" && after !== ":" && ["{", ",", "[", "(", ":", "...", "as", "type"].includes(before))
      names.add(text);
    // A typed parameter of TypeScript has its colon behind it.
    if (kind === "name" && after === ":" && before === "(") names.add(text);
  }
}
