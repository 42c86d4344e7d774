// Where model providers are asked on behalf of agents' clients, if not at their own address. The user's to say.
import type { ToAscii } from "../../authority/axes/destination.ts";
import { parseUrl } from "../../authority/axes/url.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoted } from "../quoted.ts";
import { kindName, refused, textOf } from "../scope/scope-values.ts";
import { type Entry, entryOf } from "../tree.ts";

export const MODEL_PROVIDERS = ["anthropic", "openai", "gemini"] as const;
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

export interface WrittenModel {
  readonly provider: ModelProvider;
  readonly url: string;
}

const EXAMPLE = "models: { anthropic: { url: https://gateway.example.com/anthropic } }";

export function readModels(
  { value }: Entry,
  toAscii: ToAscii,
  diagnostics: Diagnostics,
): readonly WrittenModel[] | null {
  if (value.kind !== "map") {
    diagnostics.error("wrong_type", value.span, `\`models\` is a map, not ${kindName(value)}`, { fix: EXAMPLE });
    return null;
  }
  return value.entries.flatMap((entry) => {
    const provider = MODEL_PROVIDERS.find((one) => one === entry.key);
    if (provider === undefined) {
      diagnostics.error("unknown_key", entry.keySpan, `there is no provider called ${quoted(entry.key)}`, {
        suggestion: nearestName(entry.key, MODEL_PROVIDERS),
        fix: EXAMPLE,
      });
      return [];
    }
    const url = readUrl(entry, toAscii, diagnostics);
    return url === null ? [] : [{ provider, url }];
  });
}

function readUrl({ value, key }: Entry, toAscii: ToAscii, diagnostics: Diagnostics): string | null {
  if (value.kind !== "map") {
    diagnostics.error("wrong_type", value.span, `\`${key}\` is a map, not ${kindName(value)}`, { fix: EXAMPLE });
    return null;
  }
  for (const { key: name, keySpan } of value.entries)
    if (name !== "url")
      diagnostics.error("unknown_key", keySpan, `a provider has no ${quoted(name)}`, { suggestion: "url" });
  const entry = entryOf(value, "url");
  const written = entry === null ? null : textOf(entry, diagnostics);
  if (written === null) {
    if (entry === null) diagnostics.error("missing_field", value.span, "a provider has a `url`", { fix: EXAMPLE });
    return null;
  }
  const url = parseUrl(written.text, toAscii);
  if (!url.ok) {
    refused(url, written.span, diagnostics);
    return null;
  }
  const { scheme, rest } = url.value;
  const isLocal = /^http:\/\/(127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/i.test(written.text);
  if (scheme === "http" && !isLocal) {
    diagnostics.error(
      "bad_value",
      written.span,
      "a credential goes over TLS: write `https`, or an address of this machine",
      {
        fix: written.text.replace(/^http:/i, "https:"),
      },
    );
    return null;
  }
  if (/[?#]/.test(rest)) {
    diagnostics.error("bad_value", written.span, "`url` has no `?` and no `#`", {
      fix: written.text.replace(/[?#].*$/s, ""),
    });
    return null;
  }
  return written.text.replace(/\/+$/, "");
}
