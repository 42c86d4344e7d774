// Patterns as the scope keys hold them.
import { argvPatternText, programOf } from "../../authority/axes/argv.ts";
import type { PortRange } from "../../authority/axes/scope.ts";
import type { Sequence } from "../../authority/patterns/sequence.ts";

/** Programs for `cmds` and the other patterns for `patterns`. */
export function argvTexts(patterns: readonly Sequence[]): { readonly cmds: string[]; readonly patterns: string[] } {
  const cmds: string[] = [];
  const rest: string[] = [];
  for (const pattern of patterns) {
    const program = programOf(pattern);
    if (program === null) rest.push(argvPatternText(pattern));
    else cmds.push(program);
  }
  return { cmds, patterns: rest };
}

export function portText({ low, high }: PortRange): string {
  return low === high ? String(low) : `${low}-${high}`;
}
