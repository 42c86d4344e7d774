// The shown part of a provider's response: title, address, a few lines. Results without a web address are left out.
import { isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { addressCharactersMax, snippetCharactersMax, titleCharactersMax } from "./definition.ts";

export function shownResults(list: readonly Json[], snippet: string, count: number): readonly JsonObject[] {
  const shown: JsonObject[] = [];
  for (const one of list) {
    if (shown.length === count) break;
    if (!isJsonObject(one)) continue;
    const url = member(one, "url");
    if (typeof url !== "string" || !isAddress(url)) continue;
    shown.push({
      title: lineOf(member(one, "title"), titleCharactersMax),
      url,
      snippet: lineOf(member(one, snippet), snippetCharactersMax),
    });
  }
  return shown;
}

function isAddress(url: string): boolean {
  return url.length <= addressCharactersMax && /^https?:\/\/[\x21-\x7e]+$/i.test(url);
}

/** One line without markup: some providers put tags around matched words. */
function lineOf(value: Json | undefined, charactersMax: number): string {
  if (typeof value !== "string") return "";
  const text = value
    .slice(0, charactersMax * 4)
    .replace(/<\/?[a-z][^<>]{0,200}>/gi, "")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  const cut = text.slice(0, charactersMax);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}
