// Shared by the tests of edits: a machine to parse with, and one edit of one text.

import { type EditContext, type EditResult, editRecord } from "../../src/agents/edit/edit.ts";
import { pathSettingsOf } from "../../src/platform/path-settings.ts";
import { readFrontmatter } from "../../src/text/frontmatter.ts";

export const EDIT_CONTEXT: EditContext = {
  reading: { pathSettings: pathSettingsOf({ home: "/home/u", cwd: "/work" }), toAscii: () => null, ceiling: null },
  moment: { now: 0, clean: true, generation: 0, revoked: null, exhausted: null },
  read: (source) => readFrontmatter(source).read,
};

const UNLIMITED = { expires: null, calls: null };

export function grant(text: string, spec: string): EditResult {
  return editRecord({ name: "a.md", text }, { kind: "grant", spec, limits: UNLIMITED }, EDIT_CONTEXT);
}

export function revoke(text: string, spec: string): EditResult {
  return editRecord({ name: "a.md", text }, { kind: "revoke", spec }, EDIT_CONTEXT);
}
