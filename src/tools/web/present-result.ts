// Converts results of web_fetch for display: pages that the daemon passed on unparsed become readable here.
import { isJsonObject, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { WEB_FETCH } from "./definition.ts";
import type { ConvertPage } from "./page-process.ts";
import { readPending } from "./result.ts";

/** A tool result for display. Never fails: a result that cannot be converted is returned unchanged. */
export type Present = (tool: string, input: JsonObject, result: Json) => Promise<Json>;

export function presentWith(show: ConvertPage): Present {
  return async (tool, _, result) => {
    if (tool !== WEB_FETCH) return result;
    const pending = readPending(result);
    if (pending === null) return withFinalUrl(result);
    const { kind, format, url, text } = pending;
    const { pending: _taken, ...read } = pending.result;
    const rest = { ...read, final_url: url };
    if (text === "") return rest;
    const shown =
      (await show({ kind, format, url, text })) ??
      // A page whose conversion timed out still has plain text.
      (kind === "html" && format === "markdown" ? await show({ kind, format: "text", url, text }) : null);
    if (shown === null) return rest;
    const title = shown.title === null || shown.title === "" ? {} : { title: shown.title };
    const more = read["more"] === true || shown.more;
    return { ...rest, ...title, text: shown.text, ...(format === "markdown" ? { markdown: shown.text } : {}), more };
  };
}

/** `final_url` and `markdown` repeat `url` and `text` for clients that know them by these names. */
function withFinalUrl(result: Json): Json {
  const url = isJsonObject(result) ? member(result, "url") : undefined;
  return isJsonObject(result) && typeof url === "string" ? { ...result, final_url: url } : result;
}
