// The redaction mark is not written over a secret; elsewhere it is ordinary text.
import { expect, test } from "vitest";
import type { Files } from "../../core/ports/files.ts";
import { markProblem } from "./redacted-write.ts";

const SECRET = "hunter2-hunter2";
const redacted = (text: string): string => text.replaceAll(SECRET, "[REDACTED:key]");

function files(content: string | null, code = "ENOENT"): Files {
  const read: Files["read"] = async () =>
    content === null
      ? { ok: false, code: "not_available", reason: code }
      : { ok: true, value: new Uint8Array(Buffer.from(content)) };
  return { read } as unknown as Files;
}

const problem = (file: Files, content: string) => markProblem(file, ["w", "a"], Buffer.from(content), redacted);

test.each([
  ["over the file that holds it", files(`key=${SECRET}\n`), "key=[REDACTED:key]\n", "secret_refused"],
  ["over a file that cannot be read", files(null, "EACCES"), "key=[REDACTED:key]\n", "secret_refused"],
  ["over a file that holds another", files("key=x\n"), "key=[REDACTED:key]\n", null],
  ["under another name", files(`key=${SECRET}\n`), "key=[REDACTED:kex]\n", null],
  ["over a file that has the mark itself", files("key=[REDACTED:key]\n"), "key=[REDACTED:key]\n", null],
  ["to a new file", files(null), "key=[REDACTED:key]\n", null],
  ["not at all", files(`key=${SECRET}\n`), "key=other\n", null],
])("written %s", async (_, file, content, code) => {
  const found = await problem(file, content);
  expect(found === null ? null : found.code).toBe(code);
  if (found !== null) expect(found.reason).toMatch(/placeholder/);
});
