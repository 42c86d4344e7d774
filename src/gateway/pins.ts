// Pins: what a server said about itself when a person first used it. A client only ever reads pinned text; whatever a
// server says differently later is held back, tool by tool, until a person pins it.
import { isJsonList, isJsonObject, type Json, type JsonObject, member } from "../core/base/json.ts";
import {
  copiedTool,
  readStoredTool,
  type ServerDescription,
  type ServerIdentity,
  type ToolDefinition,
} from "./definitions.ts";

export interface Pin {
  readonly identity: ServerIdentity;
  readonly instructions: string;
  /** Sorted by name. */
  readonly tools: readonly ToolDefinition[];
}

/** One line of a difference: what was pinned, and what the server says now. */
export interface PinChange {
  /** A tool's name; null for the server itself. */
  readonly tool: string | null;
  readonly part:
    | "tool"
    | "version"
    | "instructions"
    | "title"
    | "description"
    | "input"
    | "output"
    | "annotations"
    | "hidden";
  readonly before: string | null;
  readonly now: string | null;
}

const VERSION = 1;

/** Characters that a person does not see, or that change how the text around them reads. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Emoji as people write them: their joiners and selectors are part of what is seen. */
const EMOJI =
  /\p{Extended_Pictographic}\uFE0F?(?:\u200D\p{Extended_Pictographic}\uFE0F?){0,4}|[0-9#*]\uFE0F\u20E3|\r(?=\n)/gu;

export function isHidden(text: string): boolean {
  return HIDDEN.test(text) && HIDDEN.test(text.replace(EMOJI, ""));
}

/** The same text, with each character that does not show written as its number. */
export function withHiddenShown(text: string): string {
  if (!isHidden(text)) return text;
  return [...text].map((one) => (HIDDEN.test(one) ? `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}` : one)).join("");
}

/** Whether any text of a definition has characters that a person would not see. */
export function hasHiddenText(tool: ToolDefinition): boolean {
  const look = (value: Json): boolean => {
    if (typeof value === "string") return isHidden(value);
    if (isJsonList(value)) return value.some(look);
    return isJsonObject(value) && Object.entries(value).some(([key, one]) => isHidden(key) || look(one));
  };
  return look(copiedTool(tool));
}

/** At first use everything is pinned but tools with hidden text: a person looks at those first. */
export function firstPin({ identity, instructions, tools }: ServerDescription): Pin {
  return { identity, instructions, tools: tools.filter((tool) => !hasHiddenText(tool)) };
}

export function pinOf({ identity, instructions, tools }: ServerDescription): Pin {
  return { identity, instructions, tools };
}

/** Empty where the server says exactly what is pinned. A pinned tool that is gone is no change: it cannot be called. */
export function pinChanges(pin: Pin, now: ServerDescription): readonly PinChange[] {
  const own: PinChange[] = [];
  const identityText = ({ name, version }: ServerIdentity): string => `${name} ${version}`.trim();
  if (identityText(pin.identity) !== identityText(now.identity))
    own.push({ tool: null, part: "version", before: identityText(pin.identity), now: identityText(now.identity) });
  if (pin.instructions !== now.instructions)
    own.push({ tool: null, part: "instructions", before: pin.instructions, now: now.instructions });
  const pinned = new Map(pin.tools.map((tool) => [tool.name, tool]));
  return [...own, ...now.tools.flatMap((tool) => toolChanges(pinned.get(tool.name), tool))];
}

function toolChanges(before: ToolDefinition | undefined, now: ToolDefinition): readonly PinChange[] {
  if (before === undefined)
    return [{ tool: now.name, part: hasHiddenText(now) ? "hidden" : "tool", before: null, now: now.description }];
  const parts: readonly (readonly [PinChange["part"], Json, Json])[] = [
    ["title", before.title, now.title],
    ["description", before.description, now.description],
    ["input", before.inputSchema, now.inputSchema],
    ["output", before.outputSchema, now.outputSchema],
    ["annotations", before.annotations, now.annotations],
  ];
  return parts
    .filter(([, one, other]) => sorted(one) !== sorted(other))
    .map(([part, one, other]) => ({ tool: now.name, part, before: text(one), now: text(other) }));
}

/** The tools that may be called: pinned, and said by the server exactly so. None while the server itself has changed. */
export function callableTools(pin: Pin, now: ServerDescription): ReadonlySet<string> {
  const changes = pinChanges(pin, now);
  if (changes.some(({ tool }) => tool === null)) return new Set();
  const held = new Set(changes.map(({ tool }) => tool));
  return new Set(now.tools.map(({ name }) => name).filter((name) => !held.has(name)));
}

function text(value: Json): string | null {
  return value === null ? null : typeof value === "string" ? value : sorted(value);
}

/** The same text for the same value, in whatever order its members were sent. */
function sorted(value: Json): string {
  if (isJsonList(value)) return `[${value.map(sorted).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${sorted(value[key] ?? null)}`).join(",")}}`;
}

export function pinText(pin: Pin): string {
  return JSON.stringify({ version: VERSION, ...pin });
}

/** INVARIANT: a damaged text is a pin that pins nothing, never first use. */
export function readPin(written: string): Pin {
  const nothing: Pin = { identity: { name: "", version: "" }, instructions: "(damaged pin)", tools: [] };
  let value: Json;
  try {
    value = JSON.parse(written) as Json;
  } catch {
    return nothing;
  }
  if (!isJsonObject(value) || member(value, "version") !== VERSION) return nothing;
  const { identity, instructions, tools } = value;
  const name = isJsonObject(identity) ? member(identity, "name") : undefined;
  const version = isJsonObject(identity) ? member(identity as JsonObject, "version") : undefined;
  if (typeof name !== "string" || typeof version !== "string" || typeof instructions !== "string") return nothing;
  const read = isJsonList(tools) ? tools.map(readStoredTool) : [null];
  return read.every((tool) => tool !== null) ? { identity: { name, version }, instructions, tools: read } : nothing;
}

/** Tools of others that the text of a tool names: a description should speak of its own tool. */
export function namedElsewhere(tool: ToolDefinition, others: readonly string[]): readonly string[] {
  const words = new Set(JSON.stringify(copiedTool(tool)).match(/[A-Za-z][A-Za-z0-9_.-]*/g) ?? []);
  return others.filter((name) => name !== tool.name && words.has(name));
}
