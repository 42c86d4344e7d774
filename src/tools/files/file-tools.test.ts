// The requests of each tool, and the inputs it refuses.
import { describe, expect, test } from "vitest";
import type { PathSettings } from "../../core/authority/axes/path.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { refuse } from "../../core/base/result.ts";
import type { RequestsResult } from "../../core/gate/known-tool.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import { inputParser } from "../../runtime/tool/input.ts";
import { readSchema } from "../../runtime/tool/schema-reader.ts";
import { FILE_TOOL_DEFINITIONS, FILE_TOOL_NAMES, type FileToolName } from "./definitions.ts";
import { FILE_TOOLS } from "./file-tools.ts";

const pathSettings: PathSettings = {
  home: ["home", "u"],
  base: ["work", "p"],
  protectedPaths: [["home", "u", ".ssh"]],
};
const notation = { pathSettings, toAscii: (name: string) => name, ceiling: null };
const reading = { ...notation, tool: "test", agent: "scout", environment: {}, notation };

/** As the daemon does: the schema first. */
function derived(name: FileToolName, input: JsonObject): RequestsResult {
  const tool = FILE_TOOLS.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const accepted = inputParser(tool.input).accept(input);
  if (accepted.ok) return tool.requests(input, reading);
  return refuse("bad_value", accepted.issues.map(({ at, message }) => `${at} ${message}`).join());
}

function asked(name: FileToolName, input: JsonObject): readonly string[] | string {
  const requests = derived(name, input);
  return requests.ok ? requests.value.map(requestText) : requests.message;
}

describe("definitions", () => {
  test("there is one for each name, with a description and a valid schema", () => {
    expect(FILE_TOOL_DEFINITIONS.map(({ name }) => name)).toEqual([...FILE_TOOL_NAMES]);
    for (const { description, input } of FILE_TOOL_DEFINITIONS) {
      expect(description.length).toBeGreaterThan(60);
      expect(readSchema(JSON.parse(JSON.stringify(input)))).toMatchObject({ ok: true });
      expect(input.additionalProperties).toBe(false);
    }
  });

  test("the requests of a call are as its definition says", () => {
    const inputs: Readonly<Record<FileToolName, JsonObject>> = {
      fs_read: { path: "a" },
      fs_write: { path: "a", content: "" },
      fs_edit: { path: "a", edits: [{ old: "x", new: "y" }] },
      fs_delete: { path: "a" },
      fs_list: {},
      fs_glob: { pattern: "*" },
      fs_grep: { text: "x" },
    };
    for (const { name, verbs } of FILE_TOOL_DEFINITIONS) {
      const made = derived(name, inputs[name]);
      expect(made.ok && made.value.map(({ verb }) => verb.verb)).toEqual(verbs);
    }
  });
});

describe("requests", () => {
  test.each<[FileToolName, JsonObject, readonly string[]]>([
    ["fs_read", { path: "a.ts" }, ["fs.read /work/p/a.ts"]],
    ["fs_read", { path: "./x/../a.ts" }, ["fs.read /work/p/a.ts"]],
    ["fs_read", { path: "../q" }, ["fs.read /work/q"]],
    ["fs_read", { path: "../../../../etc/passwd" }, ["fs.read /etc/passwd"]],
    ["fs_read", { path: "~/notes" }, ["fs.read /home/u/notes"]],
    ["fs_read", { path: "/abs//b/" }, ["fs.read /abs/b"]],
    ["fs_read", { path: "~other/x" }, ["fs.read '/work/p/~other/x'"]],
    ["fs_write", { path: "a", content: "x" }, ["fs.write /work/p/a"]],
    ["fs_edit", { path: "a", edits: [{ old: "x", new: "" }] }, ["fs.read /work/p/a", "fs.write /work/p/a"]],
    ["fs_delete", { path: "a" }, ["fs.delete /work/p/a"]],
    ["fs_list", {}, ["fs.read /work/p"]],
    ["fs_list", { path: "src" }, ["fs.read /work/p/src"]],
    ["fs_glob", { pattern: "**/*.ts" }, ["fs.read /work/p"]],
    ["fs_glob", { pattern: "src/lib/*.ts" }, ["fs.read /work/p/src/lib"]],
    ["fs_glob", { pattern: "src/{a,b}/*.ts" }, ["fs.read /work/p/src"]],
    ["fs_glob", { pattern: "a.ts", in: "/x" }, ["fs.read /x"]],
    ["fs_grep", { text: "x" }, ["fs.read /work/p"]],
    ["fs_grep", { text: "x", in: "src", glob: "a/**" }, ["fs.read /work/p/src/a"]],
  ])("%s %j requests %j", (name, input, expected) => {
    expect(asked(name, input)).toEqual(expected);
  });

  test("a protected path stays guarded in the request", () => {
    const call = derived("fs_read", { path: "~/.ssh/id" });
    expect(call.ok && call.value[0]?.values).toEqual([
      { segments: ["home", "u", ".ssh", "id"], guarded: [true, true, true, false] },
    ]);
  });

  test.each<[FileToolName, JsonObject, RegExp]>([
    ["fs_read", {}, /path is missing/],
    ["fs_read", { path: "a", zzz: 1 }, /zzz is not part of the input/],
    ["fs_read", { path: 1 }, /must be string/],
    ["fs_read", { path: "" }, /fewer than 1/],
    ["fs_read", { path: "a\0b" }, /not allowed/],
    ["fs_read", { path: "a", offset: -1 }, /below 0/],
    ["fs_read", { path: "a", offset: 1.5 }, /must be integer/],
    ["fs_read", { path: "a", limit: 0 }, /below 1/],
    ["fs_read", { path: "a", limit: 1e9 }, /above/],
    ["fs_read", { path: "a", numbers: "yes" }, /must be boolean/],
    ["fs_write", { path: "a" }, /content is missing/],
    ["fs_write", { path: "a", content: "\ud800" }, /unpaired surrogate/],
    ["fs_edit", { path: "a", edits: [] }, /fewer than 1/],
    ["fs_edit", { path: "a", edits: [{ old: "", new: "x" }] }, /fewer than 1/],
    ["fs_edit", { path: "a", edits: [{ old: "x", new: "y", count: 2 }] }, /not part/],
    ["fs_glob", { pattern: "../*" }, /leaves its root/],
    ["fs_glob", { pattern: "/etc/*" }, /leaves its root/],
    ["fs_glob", { pattern: "a?" }, /not part of a path pattern/],
    ["fs_glob", { pattern: "[ab]" }, /not part of a path pattern/],
    ["fs_grep", { text: "a\nb" }, /within one line/],
    ["fs_grep", { text: "a", glob: "../**" }, /leaves its root/],
  ])("%s refuses %j", (name, input, expected) => {
    expect(asked(name, input)).toMatch(expected);
  });

  test("input beyond a limit is refused", () => {
    expect(asked("fs_read", { path: "x".repeat(5000) })).toMatch(/more than 4096/);
    expect(asked("fs_write", { path: "a", content: "€".repeat(400_000) })).toMatch(/longer than/);
    const edits = Array.from({ length: 101 }, () => ({ old: "x", new: "y" }));
    expect(asked("fs_edit", { path: "a", edits })).toMatch(/more than 100/);
    expect(asked("fs_grep", { text: "€".repeat(200) })).toMatch(/at most 256 bytes/);
  });
});
