// The files of contexts: executed by the session's file worker, which is restricted to the trees of its grants; every path is
// checked against the session's current holding, before and after links are followed.

import { arch } from "node:os";
import type { Request } from "../../core/authority/request.ts";
import type { FilePath, FileRefusal, FileResult, Files } from "../../core/ports/files.ts";
import type { FilesPort } from "../../core/ports/instruments.ts";
import type { Judge } from "../../core/ports/judge.ts";
import { nativeProgram } from "../../platform/native-program.ts";
import { EVERY_ROOT, type RootLock } from "../../sandbox/drafts/root-lock.ts";
import { fileRefusal } from "../../sandbox/files/refusals.ts";
import type { WorkerRestrictions } from "../../sandbox/files/worker-setup.ts";
import { kernelFacts } from "../../sandbox/linux/detect-sandbox.ts";
import { isProgram } from "../../sandbox/linux/programs.ts";
import { isPartOfShape } from "../../sandbox/plan/triggers/git-repository.ts";
import type { TriggerTable } from "../../sandbox/plan/triggers/trigger-table.ts";
import type { Daemon } from "../daemon.ts";
import type { Session } from "../session.ts";
import { changeJudge, contextJudge, HoldingCache, type SessionAuthority } from "./context-judge.ts";
import type { InstrumentsOptions } from "./contexts.ts";
import { GrantedTrees } from "./granted-trees.ts";
import {
  type ChangeClass,
  type ChangeClassifier,
  ProtectedFiles,
  type ProtectedFilesOptions,
  type ProtectedFilesSession,
} from "./protected-files.ts";
import { markProblem } from "./redacted-write.ts";
import { SessionFiles } from "./session-files.ts";

export interface DaemonFilesOptions extends ProtectedFilesOptions {
  /** Trigger paths of the configuration at a session's folder. */
  triggers(session: Session): TriggerTable;
  held(session: Session): CurrentHolding | null;
  /** That of landings. */
  readonly lock: RootLock;
  /** The same text without the known secrets. */
  redacted?(text: string): string;
}

/** The call that uses a session's files. `call`: why its session is no longer clean after a read; null leaves it clean. */
export interface FilesCall
  extends Pick<InstrumentsOptions, "session" | "requests" | "judge" | "refusedPath" | "enforced"> {
  readonly call: string | null;
}

/** A session's files for the redirections and patterns of a script. */
export interface CallFiles {
  /** One operation on one path. `requests`: those of the warrant. */
  use<T>(
    session: Session,
    requests: readonly Request[],
    at: { readonly path: FilePath; readonly isChanging: boolean },
    act: (files: Files) => Promise<FileResult<T>>,
  ): Promise<FileResult<T>>;
  /** How tools of this session may change this path. */
  classOf(session: Session, path: FilePath): ChangeClass;
}

export interface DaemonFiles {
  /** The files of one call. */
  of(call: FilesCall): FilesPort;
  readonly calls: CallFiles;
  /** Whether a request changes a path that needs approval. */
  isTrigger(session: Session, request: Request): boolean;
  /** Whether the file worker can run here. */
  isThere(): boolean;
  close(): void;
}

type CurrentHolding = NonNullable<ReturnType<Daemon["held"]>>;
/** What an operation does: `folder` creates a folder above the file of a write. */
type Change = "none" | "file" | "folder";

export function daemonFiles(asked: DaemonFilesOptions): DaemonFiles {
  const { held, lock, redacted = (text) => text } = asked;
  const native = nativeProgram(asked.program);
  const granted = new GrantedTrees();
  const protectedFiles = new ProtectedFiles(asked);
  const paths = new PathQueue();
  /** INVARIANT: what would complete a repository is judged and written while nothing else lands or writes a part of one. */
  const changing = <T>(path: FilePath, act: () => Promise<T>): Promise<T> =>
    paths.run(path, () => (isPartOfShape(path) ? lock.run(EVERY_ROOT, act) : act()));
  const sessionOf = (session: Session): ProtectedFilesSession => ({
    workspace: session.facts.name.workspace,
    table: asked.triggers(session),
  });
  let made: SessionFiles | null = null;

  /** Probed again if it could not run before. */
  const sessions = (): SessionFiles | null => {
    if (made !== null) return made;
    const walls = wallsOf(native);
    if (walls !== null) made = new SessionFiles(native, walls);
    return made;
  };

  const once = async <T>(
    call: FilesCall,
    path: FilePath,
    change: Change,
    how: (files: Files) => Promise<FileResult<T>>,
  ): Promise<FileResult<T>> => {
    const { session, requests } = call;
    const workers = sessions();
    const now = held(session);
    if (now === null) return fileRefusal("revoked", "the session has no grants any more");
    if (workers === null) return fileRefusal("not_available", "the file worker cannot run here");
    const { authority, reading } = now.holding;
    const trees = granted.of(authority, path);
    const classOf = change === "none" ? NO_CHANGE : protectedFiles.of(granted.writable(trees), sessionOf(session));
    const decide = changeJudge(requests, { classOf, makesFolders: change === "folder" }, call.judge);
    const judge: Judge = (request) => {
      const decision = decide(request);
      if (decision.outcome !== "allow") call.refusedPath(request);
      return decision;
    };
    const { protectedPaths } = reading.pathSettings;
    const answer = await workers.use(session, { trees, judge, protectedPaths }, how);
    call.enforced("path", workers.isKernelHeld(session) ? "kernel" : "checked");
    return answer;
  };

  const readOf =
    (call: FilesCall) =>
    async <T>(path: FilePath, how: (files: Files) => Promise<FileResult<T>>): Promise<FileResult<T>> => {
      const first = await once(call, path, "none", how);
      const { session } = call;
      // A read may be retried once if the worker ended during the first attempt.
      const isLost = !first.ok && first.code === "not_available" && !(made?.has(session) ?? true) && !session.isClosed;
      const answer = isLost ? await once(call, path, "none", how) : first;
      // A file is trusted if a person committed it. Commits are not checked yet, and unknown is untrusted: so every read is.
      if (answer.ok && call.call !== null) session.taint(call.call);
      return answer;
    };

  const of = (call: FilesCall): FilesPort => {
    const read = readOf(call);
    const write: Files["write"] = async (path, content) =>
      (await lostSecret(call, path, content)) ?? once(call, path, "file", (files) => files.write(path, content));
    const plain: Files = {
      read: (path, range) => read(path, (files) => files.read(path, range)),
      stat: (path) => read(path, (files) => files.stat(path)),
      list: (path, most) => read(path, (files) => files.list(path, most)),
      glob: (root, pattern, most) => read(root, (files) => files.glob(root, pattern, most)),
      search: (root, text, most) => read(root, (files) => files.search(root, text, most)),
      write,
      append: (path, content) => once(call, path, "file", (files) => files.append(path, content)),
      makeFolder: (path) => once(call, path, "folder", (files) => files.makeFolder(path)),
      remove: (path) => once(call, path, "file", (files) => files.remove(path)),
      close: () => undefined,
    };
    return {
      ...plain,
      write: (path, content) => changing(path, () => write(path, content)),
      append: (path, content) => changing(path, () => plain.append(path, content)),
      makeFolder: (path) => changing(path, () => plain.makeFolder(path)),
      remove: (path) => changing(path, () => plain.remove(path)),
      exclusively: (path, act) => changing(path, () => act(plain)),
      pause: () => new Promise((next) => setImmediate(next)),
    };
  };

  /** Null if it may be written. */
  const lostSecret = async (call: FilesCall, path: FilePath, content: Uint8Array): Promise<FileRefusal | null> => {
    const read: Files["read"] = (at, range) => once(call, at, "none", (files) => files.read(at, range));
    return markProblem({ read }, path, content, redacted);
  };

  const use: CallFiles["use"] = (session, requests, { path, isChanging }, act) => {
    const look = new HoldingCache(() => heldOf(held(session)));
    const judge = contextJudge({ requests, holds: (request) => look.for(request), once: null });
    const call: FilesCall = { session, call: null, requests, judge, ...UNREPORTED };
    const run = (): ReturnType<typeof act> => once(call, path, isChanging ? "file" : "none", act);
    return isChanging ? changing(path, run) : run();
  };

  const classOf: CallFiles["classOf"] = (session, path) => {
    const now = held(session);
    const trees = now === null ? [] : granted.of(now.holding.authority, path);
    return protectedFiles.of(granted.writable(trees), sessionOf(session))(path);
  };

  return {
    of,
    calls: { use, classOf },
    isTrigger: (session, request) =>
      CHANGING.includes(request.verb.verb) && classOf(session, pathOf(request)) === "ask",
    isThere: () => sessions() !== null,
    close: () => made?.close(),
  };
}

const CHANGING: readonly string[] = ["fs.write", "fs.delete"];
const NO_CHANGE: ChangeClassifier = () => "never";
const UNREPORTED = { refusedPath: () => undefined, enforced: () => undefined };

function heldOf(now: CurrentHolding | null): SessionAuthority | null {
  return now === null ? null : { authority: now.holding.authority, moment: now.moment };
}

/** Serialises changes of one path over all sessions: an edit that read before another wrote would undo it. */
class PathQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** In order of arrival, at once if the queue is empty. A failure does not block the next. */
  async run<T>(path: FilePath, act: () => Promise<T>): Promise<T> {
    const key = path.join("/");
    const before = this.#last.get(key);
    const mine = before === undefined ? act() : before.then(act, act);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}

function pathOf({ values }: Request): FilePath {
  const [value] = values;
  return typeof value === "object" && "segments" in value ? value.segments : [];
}

/** Null if the native program does not run. */
function wallsOf(native: string): WorkerRestrictions | null {
  const landlock = isProgram(native) ? kernelFacts(native)?.["landlockAbi"] : undefined;
  if (typeof landlock !== "number") return null;
  return { landlock, architecture: arch() === "x64" ? "x86-64" : arch() === "arm64" ? "arm64" : null };
}
