// `exec` of caveats: programs in the working directory, as far as the files there may be read.
import { parseProgram } from "../../authority/axes/argv.ts";
import { guardPath, pathText, tree } from "../../authority/axes/path.ts";
import { ANY, NOTHING } from "../../authority/axes/scope.ts";
import type { Grant } from "../../authority/grant.ts";
import { type Sequence, sequenceMatches } from "../../authority/patterns/sequence.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { EITHER_MODE, grantOf, sequences } from "../grants.ts";
import type { Reading } from "../reading.ts";
import { isAtOrBelow } from "../record/hoist.ts";
import { entriesOf } from "./caveats-entries.ts";
import type { Field } from "./caveats-fields.ts";

/** A tree that may be read. */
export interface Tree {
  readonly root: readonly string[];
  readonly pattern: Sequence;
}

/** Programs run in the working directory, and only where the files there may be read: a process sees its root. */
export function readExec(exec: Field, read: readonly Tree[], reading: Reading, diagnostics: Diagnostics): Grant[] {
  const programs = entriesOf(exec, diagnostics, null, parseProgram).map((entry) => entry.value);
  if (programs.length === 0)
    return [grantOf("proc.exec", { root: NOTHING, argv: NOTHING, mode: EITHER_MODE }, { span: exec.span })];
  const base = reading.pathSettings.base;
  if (base === null || base.length === 0) {
    const where = base === null ? "there is no working directory" : "`/` is never the root of a process";
    diagnostics.warning("inert", exec.span, `\`exec\` covers nothing: ${where}`);
    return [];
  }
  if (reading.ceiling !== null && !isAtOrBelow(base, reading.ceiling)) {
    diagnostics.warning(
      "inert",
      exec.span,
      `\`exec\` covers nothing: ${pathText(base)} is outside ${pathText(reading.ceiling)}`,
    );
    return [];
  }
  const here = guardPath(base, reading.pathSettings.protectedPaths);
  const roots = read.flatMap(({ root, pattern }) =>
    sequenceMatches(pattern, here) ? [base] : isAtOrBelow(root, base) ? [root] : [],
  );
  if (!roots.includes(base)) {
    const what = roots.length === 0 ? "covers nothing" : "is narrowed";
    diagnostics.warning(
      "narrowed",
      exec.span,
      `\`exec\` ${what}: \`fs_read\` does not cover all of ${pathText(base)}, where programs run`,
    );
  }
  if (roots.length === 0) return [];
  const own = roots.includes(base) ? [base] : roots;
  const argv = programs.includes(null)
    ? ANY
    : sequences(programs.flatMap((program) => (program === null ? [] : [program])));
  return own.map((root) =>
    grantOf("proc.exec", { root: sequences([tree(root)]), argv, mode: EITHER_MODE }, { span: exec.span, root }),
  );
}
