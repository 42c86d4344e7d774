// `{a,b}` in a path pattern is spelled out at parse time, so that no later step knows about braces.
import { braceExpansionsMax } from "../../base/limits.ts";
import { done, type Result, refuse } from "../../base/result.ts";

export function braces(text: string): Result<readonly string[]> {
  if (!/[{}]/.test(text)) return done([text]);
  let open: string[] = [text];
  const finished: string[] = [];
  while (open.length > 0) {
    const next: string[] = [];
    for (const one of open) {
      const close = one.indexOf("}");
      const start = one.lastIndexOf("{", close < 0 ? one.length : close);
      if (close < 0 && start < 0) {
        finished.push(one);
        continue;
      }
      if (close < 0 || start < 0) return refuse("bad_pattern", `${JSON.stringify(text)} has an unbalanced brace`);
      const choices = one.slice(start + 1, close).split(",");
      if (choices.length < 2)
        return refuse("bad_pattern", `${JSON.stringify(text)}: braces need at least two alternatives`, "{a,b}");
      for (const choice of choices) next.push(one.slice(0, start) + choice + one.slice(close + 1));
    }
    if (next.length + finished.length > braceExpansionsMax)
      return refuse("too_long", `the braces expand to more than ${braceExpansionsMax} patterns`);
    open = [...new Set(next)];
  }
  return done([...new Set(finished)]);
}
