// The result of a call at an MCP server: checked for its form, and cut where it is too large, with a sentence that says so.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";

export interface ServerResult {
  readonly content: readonly JsonObject[];
  readonly structuredContent: JsonObject | null;
  readonly isError: boolean;
}

/** Characters of all blocks of one result together. */
export const resultCharactersMax = 1_000_000;
const blocksMax = 1_000;
const TYPES: readonly string[] = ["text", "image", "audio", "resource", "resource_link"];

/** Null for a result that is none. */
export function readServerResult(result: JsonObject): ServerResult | null {
  const content = member(result, "content") ?? [];
  const structured = member(result, "structuredContent");
  if (!isJsonList(content)) return null;
  let left = resultCharactersMax;
  const blocks: JsonObject[] = [];
  for (const block of content) {
    if (!isJsonObject(block)) return null;
    if (blocks.length >= blocksMax || left <= 0) {
      blocks.push(
        note(`[cut: ${content.length - blocks.length} more parts of the result are not shown: it is too large]`),
      );
      break;
    }
    const kept = bounded(block, left);
    left -= JSON.stringify(kept).length;
    blocks.push(kept);
  }
  const fits = structured !== undefined && JSON.stringify(structured).length <= resultCharactersMax;
  if (isJsonObject(structured) && !fits)
    blocks.push(note("[cut: the structured part of the result is not shown: it is too large]"));
  return {
    content: blocks,
    structuredContent: isJsonObject(structured) && fits ? structured : null,
    isError: member(result, "isError") === true,
  };
}

function bounded(block: JsonObject, left: number): JsonObject {
  const type = member(block, "type");
  if (typeof type !== "string" || !TYPES.includes(type)) return note("[a part of the result has an unknown type]");
  const text = member(block, "text");
  const length = JSON.stringify(block).length;
  if (length <= left) return block;
  if (type === "text" && typeof text === "string") {
    const room = Math.max(0, left - 200);
    return note(`${whole(text.slice(0, room))}\n[cut: ${text.length - room} more characters are not shown]`);
  }
  return note(`[cut: a part of type ${type} with ${length} characters is not shown: the result is too large]`);
}

/** Without the first half of a character at its end. */
function whole(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}

function note(text: string): JsonObject {
  return { type: "text", text };
}

/** The text of an error response of a server. */
export function errorText(error: Json | undefined): string {
  const message = isJsonObject(error) ? member(error, "message") : undefined;
  return typeof message === "string" ? message.slice(0, 2_000) : "the server answered with an error";
}
