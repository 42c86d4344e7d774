// Decision 0005 as a regular expression, sharing no code with the core: what our rule predicts for a glob case.

/** Why our language does not have a pattern, or the equivalent expressions. */
export type Glob =
  | { readonly ok: true; readonly of: readonly RegExp[] }
  | { readonly ok: false; readonly reason: string };

const expansionsMax = 64;
const charactersMax = 4096;

export function glob(pattern: string, base: string): Glob {
  if (pattern === "") return refused("empty pattern");
  if (pattern.length > charactersMax) return refused("pattern too long");
  if (/[\0\ue000\ue001]/.test(pattern)) return refused("reserved character in the pattern");
  const spelled = braces(pattern);
  if (typeof spelled === "string") return refused(spelled);
  const inBase = !fromRoot(pattern);
  const of: RegExp[] = [];
  for (const one of spelled) {
    if (one === "") return refused("empty pattern");
    if (/[?[\]]/.test(one)) return refused("question mark or class");
    if (one.startsWith("!")) return refused("leading !");
    if (/[@+!]\(/.test(one)) return refused("extended glob");
    const segments = normal(one, base, true);
    if (segments === null) return refused("`..` after a wildcard");
    if (inBase && !`/${segments.join("/")}/`.startsWith(`${base}/`)) return refused("leaves its root");
    of.push(expression(segments));
  }
  return { ok: true, of };
}

/** Whether the pattern is relative to `/`: only if every choice of its braces is absolute; otherwise all of it is in the base. */
export function fromRoot(pattern: string): boolean {
  const spelled = braces(pattern);
  return typeof spelled !== "string" && spelled.every((one) => /^(\/|~(\/|$))/.test(one));
}

/** Segments of a path without `.`, `..` and empty ones; `~` is a home folder. Null: a pattern with `..` after a star. */
function normal(path: string, base: string, isPattern: boolean): readonly string[] | null {
  const whole = path.startsWith("/") ? path : /^~(\/|$)/.test(path) ? `/home/user${path.slice(1)}` : `${base}/${path}`;
  const segments: string[] = [];
  for (const segment of whole.split("/")) {
    if (segment === "..") {
      if (/\*/.test(segments.pop() ?? "") && isPattern) return null;
    } else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return segments;
}

export function predictedMatch(of: readonly RegExp[], input: string, base: string): boolean {
  if (input === "" || /[\0\ue000\ue001]/.test(input)) return false;
  const segments = normal(input, base, false);
  return segments !== null && of.some((one) => one.test(`/${segments.join("/")}`));
}

/** Innermost braces first; literal text if they are invalid. */
function braces(pattern: string): readonly string[] | string {
  let open = [pattern];
  for (;;) {
    const next: string[] = [];
    let changed = false;
    for (const one of open) {
      const inner = /\{([^{}]*)\}/.exec(one);
      if (inner === null) {
        if (/[{}]/.test(one)) return "has an unbalanced brace";
        next.push(one);
        continue;
      }
      const choices = (inner[1] as string).split(",");
      if (choices.length < 2) return "braces without a choice";
      changed = true;
      for (const choice of choices)
        next.push(one.slice(0, inner.index) + choice + one.slice(inner.index + inner[0].length));
    }
    if (next.length > expansionsMax) return "too many choices in braces";
    if (!changed) return next;
    open = next;
  }
}

/** `**` is any number of whole segments, a star anything inside one. */
function expression(segments: readonly string[]): RegExp {
  let source = "";
  for (const segment of segments) {
    if (segment === "**") source += "(?:/[^/]+)*";
    else
      source += `/(?=[^/])${segment.replace(/[.*+?^${}()|[\]\\]/g, (each) => (each === "*" ? "[^/]*" : `\\${each}`))}`;
  }
  return new RegExp(segments.length === 0 ? "^/$" : `^${source}/?$`, "s");
}

function refused(reason: string): Glob {
  return { ok: false, reason };
}
