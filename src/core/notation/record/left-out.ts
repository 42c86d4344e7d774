// What an item with a mistake in it keeps a record from adding by itself, said at the mistake: a line that grants nothing
// is looked for there, and not in the shorthand it silenced.
import type { Diagnostic, Diagnostics } from "../diagnostic.ts";

interface OmittedParts {
  /** What `sandbox` would have stood for. */
  readonly sandbox: readonly string[];
  readonly tools: boolean;
}

/** At the first error that `isCause`; the next one says it when that is mended. */
export function reportOmissions(
  { sandbox, tools }: OmittedParts,
  diagnostics: Diagnostics,
  isCause: (told: Diagnostic, at: number) => boolean,
): void {
  const missing = [
    ...(sandbox.length === 0 ? [] : [`\`sandbox\` adds no ${sandbox.join(", no ")}`]),
    ...(tools ? ["no built-in tools are added"] : []),
  ];
  const at = diagnostics.list.findIndex((one, place) => one.severity === "error" && isCause(one, place));
  const told = diagnostics.list[at];
  if (missing.length === 0 || told === undefined) return;
  diagnostics.list[at] = { ...told, message: `${told.message}; until it is fixed, ${missing.join(", and ")}` };
}
