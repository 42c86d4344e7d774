// The tools that a server lists, page by page, within limits.
import { isJsonList, type Json, type JsonObject, member } from "../../core/base/json.ts";
import { toolsOfServerMax } from "../../gateway/definitions.ts";
import { type UpstreamResult, unavailable } from "./server-message.ts";

const pagesMax = 64;

/** One more than are allowed where there are too many. */
export async function fetchToolPages(
  ask: (params: JsonObject) => Promise<UpstreamResult<JsonObject>>,
): Promise<UpstreamResult<readonly Json[]>> {
  const tools: Json[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < pagesMax; page++) {
    const listed: UpstreamResult<JsonObject> = await ask(cursor === null ? {} : { cursor });
    if (!listed.ok) return listed;
    const found = member(listed.value, "tools");
    if (!isJsonList(found)) return unavailable("its list of tools is malformed");
    for (const one of found) if (tools.length <= toolsOfServerMax) tools.push(one);
    const next = member(listed.value, "nextCursor");
    cursor = typeof next === "string" && next !== "" ? next : null;
    if (cursor === null || tools.length > toolsOfServerMax) return { ok: true, value: tools };
  }
  return unavailable(`its list has more than ${pagesMax} pages`);
}
