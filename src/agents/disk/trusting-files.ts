// Edits that a user makes through ambit are trusted as they are made, so that no second review is needed.

import { join, relative, resolve, sep } from "node:path";
import type { Failure } from "../../core/base/result.ts";
import type { Source } from "../../core/notation/source.ts";
import { sha256 } from "../../platform/digest.ts";
import { editFile } from "../../platform/edit-file.ts";
import { sourceCharactersMax } from "../../text/read.ts";
import { memberPath } from "../project/project.ts";
import { trustedEdit } from "../project/review.ts";
import type { Agents } from "./agents.ts";
import { orgOf } from "./org-file.ts";
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

export type OrgEditResult = { readonly ok: true } | Failure;

/** An edit of the org file: never over another edit. `path`: inside the workspace. Refused if the file does not have the text of `before` any more. */
export function editOrgFile(
  agents: Agents,
  place: { readonly workspace: string; readonly state: string },
  path: string,
  before: Source,
  text: string,
): OrgEditResult {
  const { workspace, state } = place;
  const done = editFile<string>(
    join(workspace, path),
    { state, inside: workspace, charactersMax: sourceCharactersMax },
    (now) =>
      now === before.text
        ? { kind: "write", text }
        : { kind: "refuse", refusal: `${path} was changed in the meantime; nothing was written` },
  );
  if (done.kind !== "done")
    return { ok: false, message: done.kind === "refused" ? done.refusal : `${path} ${done.message}` };
  trustEdit(agents, path, before, { name: before.name, text });
  return { ok: true };
}

/** Of each agent only if its text before the edit was trusted; otherwise more than the edit would become trusted. */
function trustEdit(agents: Agents, path: string, before: Source, after: Source): void {
  const { project, trusted } = agents.opened();
  if (trusted === null) return;
  const known = trusted.file(path);
  if (known?.text === before.text) trusted.trustFile({ ...known, text: after.text, digest: sha256(after.text) });
  for (const { id } of orgOf(after).agents) {
    const file = trustedEdit(project, memberPath(path, id), before, after, sha256);
    if (file !== null) trusted.trustFile(file);
  }
}
