// Changes of a client's settings file as text: ours is added, found and taken out; everything else stays byte for byte.
import { isOurs, type SettingsChange } from "../clients/connect/connections.ts";
import { HOOK_MARK } from "../clients/connect/hook-command.ts";
import { done, type Result, refuse } from "../core/base/result.ts";
import { valueAt, withElement, withMember, withoutElements, withoutMember } from "../text/json-edit.ts";
import { readToml } from "../text/toml.ts";

const BEGIN = "# begin of ambit";
const END = "# end of ambit";

/** Whether the file has something that is known to be ours by itself. */
export function isMarked(text: string, change: SettingsChange): boolean {
  if (change.kind === "lines") return text.includes(BEGIN);
  if (change.kind === "whole") return text.includes(HOOK_MARK);
  return (
    (change.elements.length > 0 && text.includes(HOOK_MARK)) ||
    change.members.some(({ at, isOurs: isOursAt }) => {
      const found = isOursAt === undefined ? null : valueAt(text, at);
      return found?.ok === true && found.value !== undefined && isOursAt?.(found.value) === true;
    })
  );
}

/** Settings of opencode have no hook, and so no mark: what we set there is known by our own edit alone. */
export function isByEdit(change: SettingsChange): boolean {
  return (
    change.kind === "json" && change.elements.length === 0 && change.members.some((one) => one.isOurs === undefined)
  );
}

/** INVARIANT: what is ours stands there once: what is there already is replaced. */
export function changeSettings(text: string | null, change: SettingsChange): Result<string> {
  if (change.kind === "whole") return done(change.text);
  if (change.kind === "lines") return withLines(text ?? "", change.lines);
  let after: Result<string> = done(text === null || text.trim() === "" ? "{}\n" : text);
  for (const { at, value } of change.elements) {
    if (after.ok)
      after = withoutElements(after.value, at, (one) => isOurs(one) && JSON.stringify(one) !== JSON.stringify(value));
    const found: Result<unknown> = after.ok ? valueAt(after.value, at) : after;
    const isThere =
      found.ok &&
      Array.isArray(found.value) &&
      found.value.some((one) => JSON.stringify(one) === JSON.stringify(value));
    if (after.ok && !isThere) after = withElement(after.value, at, value);
  }
  for (const { at, value } of change.members) {
    const found: Result<unknown> = after.ok ? valueAt(after.value, at) : after;
    if (after.ok && found.ok && JSON.stringify(found.value) !== JSON.stringify(value))
      after = withMember(after.value, at, value);
  }
  return after;
}

/** Null: the file was ours alone. Members without a mark may be the person's own by now, unless they belong to a hook. */
export function without(text: string, change: SettingsChange): Result<string | null> {
  if (change.kind === "whole") return done(null);
  if (change.kind === "lines") return done(withoutLines(text));
  let after: Result<string> = done(text);
  for (const { at } of change.elements) if (after.ok) after = withoutElements(after.value, at, isOurs);
  for (const { at, value, isOurs: isOursAt } of change.members) {
    if (!after.ok) break;
    const found = valueAt(after.value, at);
    const isOurValue = isOursAt !== undefined && found.ok && found.value !== undefined && isOursAt(found.value);
    if (isOurValue) after = withoutMember(after.value, at, found.value ?? null);
    else if (isOursAt === undefined && change.elements.length > 0) after = withoutMember(after.value, at, value);
  }
  return after;
}

/** A table that is there already would be defined twice, and the client would refuse the file. */
function withLines(text: string, lines: readonly string[]): Result<string> {
  const rest = withoutLines(text);
  const after = `${rest}${rest === "" || rest.endsWith("\n") ? "" : "\n"}${[BEGIN, ...lines, END].join("\n")}\n`;
  const [problem] = readToml({ name: "settings", text: after }).diagnostics;
  return problem === undefined
    ? done(after)
    : refuse("bad_value", `with ambit's lines it would not be valid TOML: ${problem.message}`);
}

function withoutLines(text: string): string {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) return text;
  return `${text.slice(0, begin)}${text.slice(end + END.length).replace(/^\n/, "")}`;
}
