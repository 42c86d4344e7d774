// The keys of a config.yml, who may write which, and keys that look as if they were meant to be one of them.
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import { entryOf, type Mapping } from "../tree.ts";

export type ConfigLevel = "user" | "project";

const SHARED = ["sandbox", "policy", "agents", "runtime", "mode", "tools", "triggers", "users", "land"] as const;
/** Keys that a cloned project could otherwise switch off for its users. */
const USER_ONLY = [
  "ceiling",
  "capabilities",
  "control",
  "shadow",
  "bare",
  "namespaces",
  "secrets",
  "environment",
  "limits",
  "resolver",
  "certificates",
  "notify",
  "terminal",
  "search",
  "models",
  "prompts",
  "development",
  "programs",
  "audit",
  "oauth",
] as const;

export type ConfigKey = (typeof SHARED)[number] | (typeof USER_ONLY)[number];

export const CONFIG_KEYS: Readonly<Record<ConfigLevel, readonly string[]>> = {
  user: [...SHARED, ...USER_ONLY],
  project: SHARED,
};

/** An unknown key is an error where it resembles one of ours: it may be a misspelled limit. */
export function checkConfigKeys(node: Mapping, level: ConfigLevel, diagnostics: Diagnostics): void {
  const own = CONFIG_KEYS[level];
  for (const { key, keySpan } of node.entries) {
    if (own.includes(key)) continue;
    const suggestion = MEANT.get(key) ?? nearestName(key, CONFIG_KEYS.user);
    if (level === "project" && suggestion !== null && !own.includes(suggestion))
      diagnostics.error(
        "unknown_key",
        keySpan,
        `\`${suggestion}\` is a setting of the user, not of a project`,
        BELONGS,
      );
    else if (suggestion !== null)
      diagnostics.error("unknown_key", keySpan, `unknown key ${quoteText(key)}`, { suggestion, fix: suggestion });
    else diagnostics.warning("unknown_key", keySpan, `${quoteText(key)} has no meaning here and is ignored`);
  }
  const mode = entryOf(node, "mode")?.value;
  if (level === "project" && mode?.kind === "scalar" && mode.value === "shadow")
    diagnostics.error("bad_value", mode.span, "shadow mode is a setting of the user, not of a project", BELONGS);
}

/** Other words for the same, too far from ours to be found by their letters. */
const MEANT: ReadonlyMap<string, ConfigKey> = new Map([
  ["run-bare", "bare"],
  ["run_bare", "bare"],
  ["keep_prompts", "prompts"],
]);

const BELONGS: { readonly fix: string } = {
  fix: "write it in the user's own config.yml, in the folder `ambit` of the XDG config folder",
};
