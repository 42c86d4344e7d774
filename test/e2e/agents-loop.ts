// Grants and revokes on one record until it is killed, so that it can be killed at every moment of an edit.

import { AgentFiles } from "../../src/agents/disk/agent-files.ts";
import { editRecord, type RecordEdit } from "../../src/agents/edit/edit.ts";
import { pathSettingsOf } from "../../src/platform/path-settings.ts";
import { readFrontmatter } from "../../src/text/frontmatter.ts";

const [cwd = "", state = "", spec = ""] = process.argv.slice(2);
const files = new AgentFiles({ cwd, workspace: cwd, state, charactersMax: 1_048_576 });
const edits: readonly RecordEdit[] = [
  { kind: "grant", spec, limits: { expires: null, calls: null } },
  { kind: "revoke", spec },
];
process.stdout.write("ready\n");
for (let turn = 0; turn < 100_000; turn++) {
  const edit = edits[turn % 2] as RecordEdit;
  const done = files.edit("a", (source) => {
    const result = editRecord(source, edit, {
      reading: { pathSettings: pathSettingsOf({ home: "/home/u", cwd }), toAscii: () => null, ceiling: null },
      moment: { now: 0, clean: true, generation: 0, revoked: null, exhausted: null },
      read: (text) => readFrontmatter(text).read,
    });
    if (result.kind === "edited") return { kind: "write", text: result.text };
    return result.kind === "unchanged"
      ? { kind: "write", text: source.text }
      : { kind: "refuse", refusal: result.message };
  });
  if (done.kind !== "done") throw new Error(JSON.stringify(done));
}
