// Images in a request to a model. A provider scales an image down and counts it by its size in pixels, so its bytes are not
// reserved in full. An image is what the provider reads as one: a block of the documented form at a documented place. The same
// words in a text, in the arguments of a tool or in a schema are text, of which every byte can be a token.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../../../core/base/json.ts";

export type RequestFormat = "messages" | "responses" | "completions" | "gemini";

/** Larger images are scaled down by the providers. What an image costs is known only afterwards. */
const imageTokensMax = 8_192;

/** Bytes of the images of a request beyond the tokens that they can cost. */
export function imageSurplus(format: RequestFormat, body: JsonObject): number {
  return imagesIn(format, body).reduce((sum, data) => sum + Math.max(0, data.length - imageTokensMax), 0);
}

/** The encoded images, as they stand in the request. */
function imagesIn(format: RequestFormat, body: JsonObject): readonly string[] {
  switch (format) {
    case "messages":
      return userMessages(body, "messages").flatMap((message) => anthropicImages(objectsIn(message, "content")));
    case "completions":
      return userMessages(body, "messages")
        .flatMap((message) => objectsIn(message, "content"))
        .filter((part) => member(part, "type") === "image_url")
        .flatMap((part) => dataAddress(memberOf(member(part, "image_url"), "url")));
    case "responses":
      return objectsIn(body, "input").flatMap(responsesImages);
    case "gemini":
      return objectsIn(body, "contents").flatMap((content) => geminiImages(objectsIn(content, "parts")));
    default:
      return format satisfies never;
  }
}

/** A result of a tool may hold blocks, one level deep. */
function anthropicImages(blocks: readonly JsonObject[]): readonly string[] {
  const results = blocks.filter((block) => member(block, "type") === "tool_result");
  return [...blocks, ...results.flatMap((block) => objectsIn(block, "content"))]
    .filter((block) => member(block, "type") === "image")
    .map((block) => member(block, "source"))
    .filter((source) => memberOf(source, "type") === "base64")
    .flatMap((source) => encoded(memberOf(source, "media_type"), memberOf(source, "data")));
}

const TOOL_OUTPUTS: ReadonlySet<Json | undefined> = new Set(["function_call_output", "custom_tool_call_output"]);

function responsesImages(item: JsonObject): readonly string[] {
  const type = member(item, "type");
  const isMessage = (type === undefined || type === "message") && member(item, "role") === "user";
  const parts = TOOL_OUTPUTS.has(type) ? objectsIn(item, "output") : isMessage ? objectsIn(item, "content") : [];
  return parts
    .filter((part) => member(part, "type") === "input_image")
    .flatMap((part) => dataAddress(member(part, "image_url")));
}

function geminiImages(parts: readonly JsonObject[]): readonly string[] {
  const responses = parts.map((part) => either(part, "functionResponse", "function_response"));
  return [...parts, ...responses.flatMap((response) => objectsIn(response, "parts"))]
    .map((part) => either(part, "inlineData", "inline_data"))
    .flatMap((blob) => encoded(either(blob, "mimeType", "mime_type"), memberOf(blob, "data")));
}

/** Messages of the other roles hold no images. */
function userMessages(body: JsonObject, name: string): readonly JsonObject[] {
  return objectsIn(body, name).filter((message) => member(message, "role") === "user");
}

function objectsIn(value: Json | undefined, name: string): readonly JsonObject[] {
  const items = memberOf(value, name);
  return isJsonList(items) ? items.filter(isJsonObject) : [];
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? member(value, name) : undefined;
}

/** Undefined where both spellings are written: which one the provider reads is not known. */
function either(value: Json | undefined, name: string, other: string): Json | undefined {
  const [first, second] = [memberOf(value, name), memberOf(value, other)];
  return first !== undefined && second !== undefined ? undefined : (first ?? second);
}

const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp|heic|heif)$/;
const ADDRESS = /^data:(image\/[a-z]{1,8});base64,/;

function dataAddress(url: Json | undefined): readonly string[] {
  if (typeof url !== "string") return [];
  const [start = "", type] = ADDRESS.exec(url) ?? [];
  return type === undefined ? [] : encoded(type, url.slice(start.length));
}

/** Standard base64 with its padding. Anything else is refused by a provider, or read as something else. */
function encoded(type: Json | undefined, data: Json | undefined): readonly string[] {
  if (typeof type !== "string" || typeof data !== "string" || !IMAGE_TYPE.test(type)) return [];
  return data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data) ? [data] : [];
}
