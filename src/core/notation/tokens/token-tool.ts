// Tool names as capability tokens write them, and the tools of ours they stand for.
import { BUILTIN_TOOLS, parseToolPattern } from "../../authority/axes/name.ts";
import { DEEP, ONE } from "../../authority/patterns/segment.ts";
import { type Sequence, segmentsOf, sequenceMatches } from "../../authority/patterns/sequence.ts";
import { done, type Result } from "../../base/result.ts";

/** Our tools by the names that tokens have for them: `fs.read` for `fs_read`. */
const OURS: ReadonlyMap<string, string> = new Map(BUILTIN_TOOLS.map((name) => [name.replace("_", "."), name]));

export interface ToolPatterns {
  readonly patterns: readonly Sequence[];
  /** A star before the last segment would match dots too where the notation comes from; here it is one segment. */
  readonly narrowed: boolean;
}

/**
 * In a token a star stops only at `/`, and tool names hold none: a last star reaches over dots, and a lone one is
 * any tool. A built-in of ours joins a pattern that matches the name it has in a token.
 */
export function parseTokenTools(text: string): Result<ToolPatterns> {
  if (text === "*" || text === "**") return done({ patterns: [[ONE, DEEP]], narrowed: false });
  const parsed = parseToolPattern(text);
  if (!parsed.ok) return parsed;
  if (!text.includes("*")) return done({ patterns: [parsed.value], narrowed: false });
  const last = parsed.value.at(-1)?.kind;
  const pattern: Sequence = last === "one" || last === "glob" ? [...parsed.value, DEEP] : parsed.value;
  const patterns: Sequence[] = [pattern];
  for (const [name, builtin] of OURS) {
    if (!name.includes(".") || !sequenceMatches(pattern, segmentsOf(["tool", ...name.split(".")]))) continue;
    const mapped = parseToolPattern(builtin);
    if (mapped.ok) patterns.push(mapped.value);
  }
  return done({
    patterns,
    narrowed: parsed.value.slice(1, -1).some((segment) => segment.kind === "one" || segment.kind === "glob"),
  });
}
