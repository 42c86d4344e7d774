// Results as single clients show them to their models. Claude Code and Codex show `structuredContent`, escaped, in place of the
// text, so they get the text alone; Codex also cuts long results without saying so, so they are cut here, and say it.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import type { CallResult, ServedResult } from "./call-result.ts";

export interface ClientShape {
  /** The model reads `structuredContent` as escaped JSON: it goes to `_meta`, where clients keep it to themselves. */
  readonly isTextOnly: boolean;
  /** Longer texts are cut by the client; null where they are not. */
  readonly textBytesMax: number | null;
}

const PLAIN: ClientShape = { isTextOnly: false, textBytesMax: null };

/** By the name a client gives itself. */
const SHAPES: readonly (readonly [name: RegExp, shape: ClientShape])[] = [
  [/^claude-code/i, { isTextOnly: true, textBytesMax: null }],
  [/^codex/i, { isTextOnly: true, textBytesMax: 10_000 }],
];

export function shapeFor(client: string | null): ClientShape {
  return SHAPES.find(([name]) => client !== null && name.test(client))?.[1] ?? PLAIN;
}

/** What a client receives; `_meta` holds the data of a result whose text alone is for the model. */
export interface ShapedResult extends Omit<CallResult, "content" | "structuredContent" | "served"> {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: JsonObject;
  readonly _meta?: JsonObject;
}

export interface CallDetails {
  readonly tool: string;
  readonly input: JsonObject;
}

export function shapedResult(result: CallResult, shape: ClientShape, call: CallDetails): ShapedResult {
  if (result.served !== undefined) return servedShape(result.served, shape);
  if (!shape.isTextOnly) return result;
  const { structuredContent, isError } = result;
  const whole = isError ? joined(result) : plainText(result);
  const text = shape.textBytesMax === null ? whole : cut(whole, shape.textBytesMax, result, call);
  return { content: [{ type: "text", text }], isError, _meta: { [DATA]: structuredContent } };
}

/** The parts of a server's own result stay as they are; its data is for the client alone where the client would escape it. */
function servedShape({ content, structuredContent, isError }: ServedResult, { isTextOnly }: ClientShape): ShapedResult {
  if (structuredContent === undefined || !isTextOnly)
    return { content, isError, ...(structuredContent === undefined ? {} : { structuredContent }) };
  const shown = content.length > 0 ? content : [{ type: "text", text: JSON.stringify(structuredContent) }];
  return { content: shown, isError, _meta: { [DATA]: structuredContent } };
}

const DATA = "ambit/result";

function joined({ content }: CallResult): string {
  return content.map(({ text }) => text).join("\n");
}

/** Text that was read comes first, unchanged; other members follow, one a line. */
function plainText(result: CallResult): string {
  const { enforcement: _, text, markdown, ...others } = result.structuredContent;
  // The output of a program, and a result that is no object, are plain already.
  if (typeof others["stdout"] === "string" || (Object.keys(others).join() === "result" && text === undefined))
    return joined(result);
  const rest = {
    ...(text === undefined || typeof text === "string" ? {} : { text }),
    ...(markdown === undefined || markdown === text ? {} : { markdown }),
    ...others,
  };
  const lines = Object.entries(rest).flatMap(([name, value]) => memberLines(name, value));
  if (typeof text === "string") return lines.length === 0 ? text : `${text}\n[${lines.join("; ")}]`;
  return lines.length === 0 ? joined(result) : lines.join("\n");
}

function memberLines(name: string, value: Json): readonly string[] {
  if (typeof value === "string") return value.includes("\n") ? [`${name}:\n${value}`] : [`${name}: ${value}`];
  if (isJsonList(value) && value.length > 0) return [`${name}:`, ...value.map((item) => `- ${itemText(item)}`)];
  return [`${name}: ${JSON.stringify(value)}`];
}

function itemText(item: Json): string {
  if (typeof item === "string") return item;
  if (!isJsonObject(item)) return JSON.stringify(item);
  return Object.entries(item)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}

/** Room for the sentence that says what was cut. */
const noticeBytes = 300;

function cut(text: string, bytesMax: number, { structuredContent }: CallResult, { tool, input }: CallDetails): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  const room = bytesMax - noticeBytes;
  const read = member(structuredContent, "text");
  if (tool === "fs_read" && typeof read === "string") {
    const lines = wholeLines(Buffer.from(read).subarray(0, room));
    const offset = input["offset"];
    const next = (typeof offset === "number" ? offset : 0) + lines.count;
    // A single line that is longer than the room has no next line to go on from.
    if (lines.count > 0)
      return `${lines.text}\n[cut: this client shows at most ${bytesMax} bytes, and there is more. Call fs_read again with "offset": ${next}.]`;
  }
  const head = Math.floor(room * 0.6);
  const [start, end] = [bytes.subarray(0, head), bytes.subarray(bytes.length - (room - head))].map(decoded);
  const notice = `[cut: ${bytes.length - room} bytes in the middle are not shown, because this client shows at most ${bytesMax}. Ask for less at a time.]`;
  return `${start}\n${notice}\n${end}`;
}

function wholeLines(bytes: Uint8Array): { readonly text: string; readonly count: number } {
  const end = bytes.lastIndexOf(10);
  const text = decoded(bytes.subarray(0, Math.max(end, 0)));
  return { text, count: end < 0 ? 0 : text.split("\n").length };
}

/** Without the halves of characters at its ends. */
function decoded(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("utf8")
    .replace(/^\ufffd+|\ufffd+$/g, "");
}
