// How a face shows what web_fetch gave back: the text that the owner did not take apart is made readable here.
import type { Json, JsonObject } from "../../core/base/json.ts";
import { WEB_FETCH } from "./definition.ts";
import type { ShowPage } from "./page-process.ts";
import { readPending } from "./result.ts";

/** What a tool gave back, as it is to be shown. Never fails: what cannot be made readable is shown as it came. */
export type Present = (tool: string, input: JsonObject, result: Json) => Promise<Json>;

export function presenting(show: ShowPage): Present {
  return async (tool, _, result) => {
    const pending = tool === WEB_FETCH ? readPending(result) : null;
    if (pending === null) return result;
    const { kind, format, url, text } = pending;
    const { pending: _taken, ...rest } = pending.result;
    if (text === "") return rest;
    const shown =
      (await show({ kind, format, url, text })) ??
      // A page that cannot be taken apart in time still has a text.
      (kind === "html" && format === "markdown" ? await show({ kind, format: "text", url, text }) : null);
    if (shown === null) return rest;
    const title = shown.title === null || shown.title === "" ? {} : { title: shown.title };
    return { ...rest, ...title, text: shown.text, more: rest["more"] === true || shown.more };
  };
}
