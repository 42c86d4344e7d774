// One redirection: to a file, from a file, or `2>&1`. No other stream, no here-document, no process.
import { type Construct, refusal, type ShellRefusal } from "./refusal.ts";
import { isPattern, literalText, type Redirection, type Word } from "./script.ts";
import { type Cursor, endsWord, readWord } from "./word-reader.ts";

/** The cursor is at `<` or `>`; `stream` is the number directly before it. */
export function readRedirection(cursor: Cursor, stream: Word | null): Redirection | ShellRefusal {
  const { text } = cursor;
  const sign = cursor.at;
  const start = stream?.range.start ?? sign;
  const refused = (construct: Construct, end: number): ShellRefusal => refusal(construct, { start, end });
  const number = text.slice(start, sign);
  const next = text.charAt(sign + 1);
  if (text[sign] === "<") {
    if (next === "<") return refused("here_document", sign + 2);
    if (next === "&") return refused("stream_copy", sign + 2);
    if (number !== "" && number !== "0") return refused("stream_number", sign + 1);
    cursor.at = sign + 1;
    const target = readTarget(cursor, start);
    return "ok" in target ? target : { kind: "read", target };
  }
  if (next === "&") {
    if (number !== "2" || text[sign + 2] !== "1" || !endsWord(text.charAt(sign + 3)))
      return refused("stream_copy", sign + 2);
    cursor.at = sign + 3;
    return { kind: "join" };
  }
  if (number !== "" && number !== "1" && number !== "2") return refused("stream_number", sign + 1);
  const append = next === ">";
  cursor.at = sign + (append ? 2 : 1);
  const target = readTarget(cursor, start);
  return "ok" in target ? target : { kind: "write", stream: number === "2" ? 2 : 1, append, target };
}

function readTarget(cursor: Cursor, start: number): Word | ShellRefusal {
  const sign = cursor.at;
  while (cursor.text[cursor.at] === " " || cursor.text[cursor.at] === "\t") cursor.at++;
  const target = readWord(cursor);
  if (target === null) return refusal("missing_target", { start, end: sign });
  if ("ok" in target) return target;
  if (isPattern(target)) return refusal("pattern_as_target", target.range);
  return literalText(target) === "" ? refusal("empty_target", target.range) : target;
}
