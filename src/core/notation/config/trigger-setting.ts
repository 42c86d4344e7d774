// `triggers` in a config.yml: which names never land, land by ask or land freely, apart from what is built in.
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import { kindName, type Text, textsOf } from "../scope/scope-values.ts";
import type { Entry } from "../tree.ts";

export type WrittenTriggerClass = "never" | "ask" | "allow";

export interface TriggerRule {
  readonly class: WrittenTriggerClass;
  /** From its place on; a name holds at most one `*`. Everything at or below is meant. */
  readonly names: readonly string[];
  /** anywhere: at every depth. top (`/name`): at the top of a project. home (`~/name`): in the home folder. */
  readonly place: "anywhere" | "top" | "home";
}

export interface WrittenTriggers {
  readonly rules: readonly TriggerRule[];
}

const CLASSES: readonly WrittenTriggerClass[] = ["never", "ask", "allow"];
const EXAMPLE = "triggers: { allow: [AGENTS.md], ask: [Makefile] }";
const namesMax = 8;
const patternCharactersMax = 256;
/** What decides about agents, and what git runs: no configuration moves them. */
const FIXED: readonly string[] = [".ambit", ".git"];

export function readTriggers(
  { value }: Entry,
  level: "user" | "project",
  diagnostics: Diagnostics,
): WrittenTriggers | null {
  if (value.kind !== "map") {
    diagnostics.error("wrong_type", value.span, `\`triggers\` is a map, not ${kindName(value)}`, { fix: EXAMPLE });
    return null;
  }
  const rules: TriggerRule[] = [];
  for (const entry of value.entries) {
    const found = CLASSES.find((one) => one === entry.key);
    if (found === undefined) {
      const suggestion = nearestName(entry.key, CLASSES);
      diagnostics.error("unknown_key", entry.keySpan, `\`triggers\` has no ${quoteText(entry.key)}`, { suggestion });
    } else if (found === "allow" && level === "project")
      diagnostics.error("unknown_key", entry.keySpan, "`allow` is a setting of the user, not of a project", {
        fix: "write it in the user's own config.yml",
      });
    else
      for (const text of textsOf(entry, diagnostics) ?? []) {
        const rule = ruleOf(text, found, diagnostics);
        if (rule !== null) rules.push(rule);
      }
  }
  return { rules };
}

function ruleOf({ text, span }: Text, of: WrittenTriggerClass, diagnostics: Diagnostics): TriggerRule | null {
  const bad = (message: string, fix: string | null = null): null => {
    diagnostics.error("bad_value", span, message, fix === null ? {} : { fix });
    return null;
  };
  const [place, rest]: readonly [TriggerRule["place"], string] = text.startsWith("~/")
    ? ["home", text.slice(2)]
    : text.startsWith("/")
      ? ["top", text.slice(1)]
      : ["anywhere", text];
  const names = rest.replace(/\/$/, "").split("/");
  if (text.length > patternCharactersMax || names.length > namesMax)
    return bad(`a name of a trigger has at most ${patternCharactersMax} characters and ${namesMax} parts`);
  if (names.some((name) => name === "" || name === "." || name === ".." || name.includes("\0")))
    return bad(`${quoteText(text)} is not a file name`, ".vscode/settings.json");
  const starred = names.find((name) => name.split("*").length > 2);
  if (starred !== undefined)
    return bad(
      `${quoteText(starred)} has more than one \`*\`; \`**\` is not needed, because everything below is included`,
    );
  if (names.every((name) => name === "*")) return bad(`${quoteText(text)} matches every file`, "*.code-workspace");
  const fixed = names.find((name) => FIXED.includes(name.toLowerCase()));
  if (fixed !== undefined && of !== "never")
    return bad(`${quoteText(fixed)} never lands; configuration cannot change that`);
  return { class: of, names, place };
}
