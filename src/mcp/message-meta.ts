// What a message says about itself in `_meta`. The protocol's library drops a message in silence where that is not as it should
// be, so that it is looked at before.
import { isJsonObject, type JsonObject, member } from "../authority/json.ts";
import { isRequestId, objectAt } from "./wire-message.ts";

const TASK_KEY = "io.modelcontextprotocol/related-task";

/** Null where there is nothing wrong with it. */
export function metaFlaw(params: JsonObject): string | null {
  const meta = member(params, "_meta");
  if (meta === undefined) return null;
  if (!isJsonObject(meta)) return "`_meta` is one object";
  const token = member(meta, "progressToken");
  if (token !== undefined && !isRequestId(token)) return "`progressToken` is a text or a whole number";
  const task = member(meta, TASK_KEY);
  if (task !== undefined && typeof member(objectAt(meta, TASK_KEY), "taskId") !== "string")
    return `\`${TASK_KEY}\` names a task`;
  return null;
}
