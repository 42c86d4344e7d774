// Converts results of web_fetch for display: pages that the daemon passed on unparsed become readable here.
import type { Json, JsonObject } from "../../core/base/json.ts";
import { WEB_FETCH } from "./definition.ts";
import type { ConvertPage } from "./page-process.ts";
import { readPending } from "./result.ts";

/** A tool result for display. Never fails: a result that cannot be converted is returned unchanged. */
export type Present = (tool: string, input: JsonObject, result: Json) => Promise<Json>;

export function presenting(show: ConvertPage): Present {
  return async (tool, _, result) => {
    const pending = tool === WEB_FETCH ? readPending(result) : null;
    if (pending === null) return result;
    const { kind, format, url, text } = pending;
    const { pending: _taken, ...rest } = pending.result;
    if (text === "") return rest;
    const shown =
      (await show({ kind, format, url, text })) ??
      // A page whose conversion timed out still has plain text.
      (kind === "html" && format === "markdown" ? await show({ kind, format: "text", url, text }) : null);
    if (shown === null) return rest;
    const title = shown.title === null || shown.title === "" ? {} : { title: shown.title };
    return { ...rest, ...title, text: shown.text, more: rest["more"] === true || shown.more };
  };
}
