// Files of a context: served by the session's file worker, every path checked against its grants and the tool's declaration.

import type { Request } from "../../core/authority/request.ts";
import type { FilePath, FileRefusal, FileResult, Files } from "../../core/ports/files.ts";
import type { Judge } from "../../core/ports/judge.ts";
import { refusedWith } from "../../tools/files/refusals.ts";
import type { Session } from "../session.ts";
import type { CallFiles } from "../tools/files.ts";

export interface ContextFilesOptions {
  readonly session: Session;
  readonly calls: CallFiles;
  /** The requests of the warrant. */
  readonly requests: readonly Request[];
  readonly judge: Judge;
}

export function contextFiles({ session, calls, requests, judge }: ContextFilesOptions): Files {
  const act = async <T>(
    path: FilePath,
    isChanging: boolean,
    how: (files: Files) => Promise<FileResult<T>>,
  ): Promise<FileResult<T>> => {
    const answer = await calls.use(session, requests, { path, isChanging, within: judge }, how);
    // A file is trusted if a person committed it. Commits are not checked yet, and unknown is untrusted.
    if (answer.ok && !isChanging) session.taint("a tool's reading of files");
    return answer.ok ? answer : inWords(answer);
  };
  return {
    read: (path, range) => act(path, false, (files) => files.read(path, range)),
    stat: (path) => act(path, false, (files) => files.stat(path)),
    list: (path, most) => act(path, false, (files) => files.list(path, most)),
    glob: (root, pattern, most) => act(root, false, (files) => files.glob(root, pattern, most)),
    search: (root, text, most) => act(root, false, (files) => files.search(root, text, most)),
    write: (path, content) => act(path, true, (files) => files.write(path, content)),
    makeFolder: (path) => act(path, true, (files) => files.makeFolder(path)),
    append: (path, content) => act(path, true, (files) => files.append(path, content)),
    remove: (path) => act(path, true, (files) => files.remove(path)),
    close: () => undefined,
  };
}

/** The same messages as the file tools: a tool author sees the same text as a model. */
function inWords(refused: FileRefusal): FileRefusal {
  const said = refusedWith(refused);
  return said.ok ? refused : { ...refused, reason: said.message };
}
