// A separate process that converts one page: reads the request from its input, writes the answer to its output, and
// exits.
import { isJsonObject, type Json, member } from "../../core/base/json.ts";
import { convertPage, type PageRequest } from "./convert-page.ts";

function asked(text: string): PageRequest | null {
  const value = JSON.parse(text) as Json;
  if (!isJsonObject(value)) return null;
  const [kind, format] = [member(value, "kind"), member(value, "format")];
  const [url, page] = [member(value, "url"), member(value, "text")];
  const isUnderstood =
    (kind === "html" || kind === "json") &&
    (format === "markdown" || format === "text") &&
    typeof url === "string" &&
    typeof page === "string";
  return isUnderstood ? { kind, format, url, text: page } : null;
}

const pieces: Buffer[] = [];
process.stdin.on("data", (bytes: Buffer) => pieces.push(bytes));
process.stdin.on("end", () => {
  const question = asked(Buffer.concat(pieces).toString("utf8"));
  if (question === null) process.exitCode = 1;
  else process.stdout.write(JSON.stringify(convertPage(question)));
});
