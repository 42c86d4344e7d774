// Tool names: short, plain, and never confusable with another.
import { BUILTIN_TOOLS } from "../../core/authority/axes/name.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";

/** builtin: part of ambit. application: passed in code by the embedding program. foreign: everything else. */
export type ToolOrigin = "builtin" | "application" | "foreign";

const nameCharactersMax = 64;

/** Parts of letters, digits, `_` and `-`, joined by dots; each starts with a letter. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z][A-Za-z0-9_-]*)*$/;

/** Names of properties that every object has. A tool lookup by name must never find one of these. */
const INHERITED: readonly string[] = Object.getOwnPropertyNames(Object.prototype).concat("prototype", "then", "toJSON");

/** `builtin:fs_read` is the built-in tool in any spelling; `tool:x` is a third-party tool. */
export function parseToolName(text: string, origin: ToolOrigin): Result<string> {
  const prefix = origin === "builtin" ? "builtin:" : "tool:";
  const name = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  const told = JSON.stringify(text.slice(0, 100));
  if (name.length > nameCharactersMax) return refuse("too_long", `a name has at most ${nameCharactersMax} characters`);
  if (!NAME.test(name))
    return refuse(
      "bad_value",
      `${told}: a name has letters, digits, _ and -, in parts joined by dots`,
      "fetch_weather",
    );
  if (INHERITED.includes(name)) return refuse("bad_value", `${told} is a property name of every JavaScript object`);
  if (origin === "builtin")
    return BUILTIN_TOOLS.includes(name) ? done(name) : refuse("bad_value", `${told} is not a built-in tool`);
  const builtin = BUILTIN_TOOLS.find((one) => likeness(one) === likeness(name));
  if (builtin !== undefined) return refuse("bad_value", `${told} is or looks like the built-in tool ${builtin}`);
  return done(name);
}

/** Two names with the same likeness are confusable: they differ only in case or in the joining character. */
export function likeness(name: string): string {
  return name.toLowerCase().replace(/[-_.]/g, "");
}
