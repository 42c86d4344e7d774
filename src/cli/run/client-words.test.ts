// The client and everything after it are the client's arguments; everything before it is ours.
import { expect, test } from "vitest";
import { clientWords } from "./client-words.ts";

test.each([
  ["run coder claude -p hello", "run coder -- claude -p hello"],
  ["run coder -- claude -p hello", "run coder -- claude -p hello"],
  ["run coder claude -- x", "run coder -- claude -- x"],
  ["run coder --fresh claude --json", "run coder --fresh -- claude --json"],
  ["run --in dir coder claude", "run --in dir coder -- claude"],
  ["run --wait 5 --user me coder codex exec x", "run --wait 5 --user me coder -- codex exec x"],
  ["run coder --pledge fs.read claude", "run coder --pledge fs.read claude"],
  ["run coder", "run coder"],
  ["run", "run"],
  ["run --json", "run --json"],
  ["exec coder ls -l", "exec coder ls -l"],
  ["", ""],
])("%s", (words, expected) => {
  expect(clientWords(words.split(" ")).join(" ")).toBe(expected);
});
