// Edits that a user makes through ambit are trusted as they are made, so that no second review is needed.

import { relative, resolve, sep } from "node:path";
import type { Source } from "../../core/notation/source.ts";
import { sha256 } from "../../platform/digest.ts";
import { trustedEdit } from "../project/review.ts";
import type { Agents } from "./agents.ts";
import type { RecordFiles } from "./record-file-types.ts";
import { AGENTS } from "./workspace.ts";

export function trustingFiles(files: RecordFiles, agents: Agents, cwd: string, workspace: string | null): RecordFiles {
  /** Only if the text before the edit was trusted; otherwise more than the edit would become trusted. */
  const keep = (before: Source | null, after: Source): void => {
    const { project, trusted } = agents.opened();
    if (workspace === null || trusted === null) return;
    const path = relative(workspace, resolve(cwd, after.name)).split(sep).join("/");
    const file = trustedEdit(project, path, before, after, sha256);
    if (file !== null) trusted.trustFile(file);
  };
  return {
    read: (name) => files.read(name),
    edit: (name, change) => {
      let made: { readonly before: Source; readonly after: Source } | null = null;
      const done = files.edit(name, (source) => {
        const wanted = change(source);
        if (wanted.kind === "write") made = { before: source, after: { name: source.name, text: wanted.text } };
        return wanted;
      });
      if (done.kind === "done" && made !== null) {
        const { before, after } = made as { readonly before: Source; readonly after: Source };
        keep(before, after);
      }
      return done;
    },
    create: (id, text) => {
      const done = files.create(id, text);
      if (done.kind === "done" && workspace !== null)
        keep(null, { name: resolve(workspace, AGENTS, `${id}.md`), text });
      return done;
    },
    remove: (name, text) => files.remove(name, text),
    step: (name) => files.step(name),
    undo: (name, step) => {
      const done = files.undo(name, step);
      if (done.kind === "done" && step.before !== null) keep(step.now, step.before);
      return done;
    },
  };
}
