// The text of a new record: only frontmatter.
import { parseName } from "../../core/authority/axes/name.ts";
import { isPlainText } from "../../core/authority/patterns/reserved.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import { visible } from "../../core/notation/visible.ts";

const titleCharactersMax = 400;

export function recordText(recordClass: string, title: string | null): Result<string> {
  const name = parseName(recordClass);
  if (!name.ok)
    return refuse("bad_value", `${JSON.stringify(recordClass.slice(0, 80))} is not a valid class`, "--class note");
  if (title !== null && (title.length > titleCharactersMax || !isPlainText(title)))
    return refuse("bad_value", `a title has at most ${titleCharactersMax} characters, without invisible ones`);
  const lines = [
    "---",
    `class: ${scalar(recordClass)}`,
    ...(title === null ? [] : [`title: ${scalar(title)}`]),
    "---",
    "",
  ];
  return done(`${lines.join("\n")}\n`);
}

/** A plain word unchanged, anything else as a JSON string, which is valid YAML. */
function scalar(text: string): string {
  const isPlain = /^[a-z][a-z0-9_-]*$/.test(text) && !/^(?:true|false|null|y|n|yes|no|on|off)$/.test(text);
  return isPlain ? text : visible(JSON.stringify(text));
}
