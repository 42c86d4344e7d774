// Edits of records on text: the text before, the edit, and the exact text afterwards.
import { describe, expect, test } from "vitest";
import { grant, revoke } from "../../../test/edits/edit.ts";
import type { EditResult } from "./edit.ts";

type Row = readonly [title: string, before: string, spec: string, after: string];

function head(...lines: readonly string[]): string {
  return `---\n${lines.map((line) => `${line}\n`).join("")}---\n\nBody, with trailing spaces  \n`;
}

function textOf(result: EditResult): string {
  if (result.kind === "edited") return result.text;
  return result.kind === "refused" ? `refused: ${result.message}` : "unchanged";
}

describe("grant adds one item to the existing list", () => {
  const rows: readonly Row[] = [
    [
      "a block list keeps its indentation, comments and quotes",
      head("id: a # who", "capabilities:", "    # reading", '    - "records.read"  # all', "    # end", "tags: [x]"),
      "net.get{hosts=[*.github.com]}",
      head(
        "id: a # who",
        "capabilities:",
        "    # reading",
        '    - "records.read"  # all',
        "    - net.get{hosts=[*.github.com]}",
        "    # end",
        "tags: [x]",
      ),
    ],
    [
      "dashes under the key",
      head("capabilities:", "- records.read"),
      "records.create",
      head("capabilities:", "- records.read", "- records.create"),
    ],
    [
      "a last item of several lines",
      head("capabilities:", "  - net.get:", "      hosts:", "        - a.example # here", "x: 1"),
      "records.read",
      head("capabilities:", "  - net.get:", "      hosts:", "        - a.example # here", "  - records.read", "x: 1"),
    ],
    [
      "a flow list",
      head("capabilities: [records.read, 'memory.read']  # both"),
      "net.get{hosts=[a.example]}",
      head("capabilities: [records.read, 'memory.read', \"net.get{hosts=[a.example]}\"]  # both"),
    ],
    [
      "a flow list over lines, with a comma at its end",
      head("capabilities: [", "  records.read, # one", "  memory.read, # two", "]"),
      "obs.query",
      head("capabilities: [", "  records.read, # one", "  memory.read, obs.query, # two", "]"),
    ],
    ["an empty list", head("capabilities: []"), "records.read", head("capabilities: [records.read]")],
    ["an empty list with a space", head("capabilities: [ ]"), "records.read", head("capabilities: [records.read]")],
    [
      "a key without a value",
      head("capabilities: # none yet", "x: 1"),
      "records.read",
      head("capabilities: [records.read] # none yet", "x: 1"),
    ],
    ["a key with null", head("capabilities: ~"), "records.read", head("capabilities: [records.read]")],
    [
      "one line of specs",
      head("capabilities: records.read memory.read # drawer"),
      "net.get{hosts=[a.example]}",
      head('capabilities: "records.read memory.read net.get{hosts=[a.example]}" # drawer'),
    ],
    [
      "one line in single quotes keeps them",
      head("capabilities: 'records.read, memory.read'"),
      "obs.query",
      head("capabilities: 'records.read, memory.read obs.query'"),
    ],
    [
      "a frontmatter in braces",
      head("{id: a, access: r}"),
      "memory.read",
      head("{id: a, capabilities: [records.read, memory.read]}"),
    ],
    [
      "a spec that needs quotes",
      head("capabilities:", "  - records.read"),
      'proc.exec{in=/work,patterns=["git log **"]}',
      head("capabilities:", "  - records.read", '  - "proc.exec{in=/work,patterns=[\\"git log **\\"]}"'),
    ],
  ];
  for (const [title, before, spec, after] of rows) {
    test(title, () => expect(textOf(grant(before, spec))).toBe(after));
  }

  test("CRLF, a byte order mark, trailing spaces and a missing final line break stay", () => {
    const before = "\uFEFF---\r\nid: a  \r\ncapabilities:\r\n  - records.read  \r\n---";
    const after = "\uFEFF---\r\nid: a  \r\ncapabilities:\r\n  - records.read  \r\n  - obs.query\r\n---";
    expect(textOf(grant(before, "obs.query"))).toBe(after);
  });

  test("adding a grant that is already held changes nothing", () => {
    expect(grant(head("capabilities: [records.read]"), "records.read{classes=[x]}").kind).toBe("unchanged");
    expect(grant(head("capabilities: [records.read{classes=[y]}]"), "records.read{classes=[x]}").kind).not.toBe(
      "unchanged",
    );
  });
});

describe("any edit expands the shorthands", () => {
  const rows: readonly (readonly [...Row, kind: "grant" | "revoke"])[] = [
    [
      "the default",
      head("id: a"),
      "obs.query",
      head("id: a", "capabilities:", "  - records.read", "  - obs.query"),
      "grant",
    ],
    ["the default, removed", head("id: a"), "records.read", head("id: a", "capabilities: []"), "revoke"],
    [
      "access holds it already",
      head("access: rw # shorthand", "id: a"),
      "records.update{classes=[inbox],calls=3}",
      "unchanged",
      "grant",
    ],
    [
      "access, one part removed",
      head("access: rw # shorthand", "id: a"),
      "records.update",
      head("id: a", "capabilities:", "  - records.read", "  - records.create"),
      "revoke",
    ],
    ["access, all of it", head("access: r", "id: a"), "records.read", head("id: a", "capabilities: []"), "revoke"],
    [
      "access, by an edit of another verb",
      head("access: r", "id: a"),
      "obs.query",
      head("id: a", "capabilities:", "  - records.read", "  - obs.query"),
      "grant",
    ],
    [
      "access, beside a list that says the same",
      head("access: rw", "capabilities: [records.read, obs.query]"),
      "obs.query",
      head("capabilities: [records.read, records.create, records.update]"),
      "revoke",
    ],
    [
      "access, beside a list that says the same, of a verb of both",
      head("access: rw", "capabilities: [records.read]"),
      "records.read",
      head("capabilities: [records.create, records.update]"),
      "revoke",
    ],
    [
      "access that is not understood stays",
      head("access: wr", "capabilities: [records.read]"),
      "obs.query",
      head("access: wr", "capabilities: [records.read, obs.query]"),
      "grant",
    ],
    [
      "sandbox keeps its root and expands its three grants",
      head("sandbox: .", "id: a"),
      "fs.write",
      head(
        "sandbox: .",
        "id: a",
        "capabilities:",
        "  - records.read",
        "  - fs.read",
        "  - proc.exec",
        "  - fs.write{in=[]}",
      ),
      "revoke",
    ],
    [
      "sandbox beside a list that mentions one verb",
      head("sandbox: .", "capabilities:", "  - fs.write: { paths: [out] }"),
      "fs.write",
      head("sandbox: .", "capabilities:", "  - fs.read", "  - proc.exec", "  - fs.write{in=[]}"),
      "revoke",
    ],
    [
      "sandbox, and another verb is granted",
      head("sandbox: ."),
      "net.get{hosts=[a.example]}",
      head(
        "sandbox: .",
        "capabilities:",
        "  - records.read",
        "  - fs.read",
        "  - fs.write",
        "  - proc.exec",
        "  - net.get{hosts=[a.example]}",
      ),
      "grant",
    ],
    [
      "the implied tools, when a tool is granted",
      head("capabilities: [records.read]"),
      "tool.invoke{tools=[send_mail]}",
      head('capabilities: [records.read, "tool.invoke{tools=[builtin:**]}", "tool.invoke{tools=[send_mail]}"]'),
      "grant",
    ],
    [
      "the implied tools, removed",
      head("capabilities: [records.read]"),
      "tool.invoke",
      head('capabilities: [records.read, "tool.invoke{tools=[]}"]'),
      "revoke",
    ],
    [
      "explicit tools that are removed do not come back as implied ones",
      head("capabilities: [records.read, 'tool.invoke{tools=[x]}']"),
      "tool.invoke",
      head("capabilities: [records.read, 'tool.invoke{tools=[]}']"),
      "revoke",
    ],
    [
      "a preset is expanded without the verb",
      head("extends: ambit:researcher@1"),
      "net.get",
      head("capabilities:", "  - records.read", "  - records.create", "  - records.update"),
      "revoke",
    ],
    [
      "one preset of two, and the sandbox is still only a root",
      head("sandbox: .", "extends: [ambit:reader@1, ambit:researcher@1]"),
      "net.get{hosts=[*]}",
      head(
        "sandbox: .",
        "extends: [ambit:reader@1]",
        "capabilities:",
        "  - records.read",
        "  - records.create",
        "  - records.update",
      ),
      "revoke",
    ],
    [
      "the last preset, and the sandbox must not begin to grant",
      head("sandbox: .", "extends: ambit:reader@1"),
      "records.read",
      head(
        "sandbox: .",
        "capabilities:",
        "  - fs.read",
        "  - tool.invoke",
        "  - fs.write{in=[]}",
        "  - proc.exec{in=[]}",
      ),
      "revoke",
    ],
  ];
  for (const [title, before, spec, after, kind] of rows) {
    test(title, () => expect(textOf(kind === "grant" ? grant(before, spec) : revoke(before, spec))).toBe(after));
  }
});

describe("a grant that would have no effect is refused", () => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ["net.get", /nothing/],
    ["fs.read", /nothing/],
    ["net.get{hosts=[]}", /nothing/],
    ["net.get{host=[a.example]}", /not a grant/],
    ["", /not a grant/],
  ];
  for (const [spec, pattern] of rows)
    test(JSON.stringify(spec), () => expect(textOf(grant(head("id: a"), spec))).toMatch(pattern));
});
