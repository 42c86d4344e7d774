// Files of a context: by the worker of the session, every path decided by its grants and by what the tool declares.

import type { Request } from "../../core/authority/request.ts";
import type { FilePath, FileRefused, FileResult, Files } from "../../core/ports/files.ts";
import type { Judge } from "../../core/ports/judge.ts";
import { refusedWith } from "../../tools/files/refusals.ts";
import type { Session } from "../session.ts";
import type { CallFiles } from "../tools/files.ts";

export interface ContextFilesAsked {
  readonly session: Session;
  readonly calls: CallFiles;
  /** Those of the warrant. */
  readonly requests: readonly Request[];
  readonly judge: Judge;
}

export function contextFiles({ session, calls, requests, judge }: ContextFilesAsked): Files {
  const act = async <T>(
    path: FilePath,
    isChanging: boolean,
    how: (files: Files) => Promise<FileResult<T>>,
  ): Promise<FileResult<T>> => {
    const answer = await calls.use(session, requests, { path, isChanging, within: judge }, how);
    // A file is trusted where a person committed it. Nobody looks at commits yet, and unknown is untrusted.
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

/** As the file tools say it: the author of a tool is told the same as a model. */
function inWords(refused: FileRefused): FileRefused {
  const said = refusedWith(refused);
  return said.ok ? refused : { ...refused, reason: said.message };
}
