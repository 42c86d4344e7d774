// `land: ask` in a record or a config.yml: what an agent's programs write waits for a person.
import type { Diagnostics } from "../diagnostic.ts";
import type { Entry } from "../tree.ts";

/** `auto`: the grants and the names alone decide; the default. */
export const LAND_WORDS = ["ask", "auto"] as const;
export type LandSetting = (typeof LAND_WORDS)[number];

/** INVARIANT: a value that is not understood means `ask`. */
export function readLand({ value }: Entry, diagnostics: Diagnostics): LandSetting {
  const written = value.kind === "scalar" ? value.value : null;
  const word = LAND_WORDS.find((one) => one === written);
  if (word !== undefined) return word;
  diagnostics.error(
    "bad_value",
    value.span,
    "`land` is ask or auto; until it is corrected, every change needs approval",
    {
      fix: "land: ask",
    },
  );
  return "ask";
}
