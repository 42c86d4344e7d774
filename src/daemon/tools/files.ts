// File tools in the daemon: executed by the session's file worker, which is restricted to the trees of its grants; every path
// is checked against the session's current holding.

import { arch } from "node:os";
import type { Ground } from "../../core/authority/axes/path.ts";
import type { Request } from "../../core/authority/request.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done } from "../../core/base/result.ts";
import { type Reading, workingGround } from "../../core/notation/reading.ts";
import { requestIdentity } from "../../core/notation/request/request-printer.ts";
import type { FilePath, FileResult, Files } from "../../core/ports/files.ts";
import type { Judge } from "../../core/ports/judge.ts";
import { nativeProgram } from "../../platform/native-program.ts";
import { EVERY_ROOT, type RootLock } from "../../sandbox/drafts/root-lock.ts";
import { refused } from "../../sandbox/files/refusals.ts";
import type { WorkerRestrictions } from "../../sandbox/files/worker-setup.ts";
import { kernelFacts } from "../../sandbox/linux/detect-sandbox.ts";
import { isProgram } from "../../sandbox/linux/programs.ts";
import { isPartOfShape } from "../../sandbox/plan/triggers/git-repository.ts";
import type { TriggerTable } from "../../sandbox/plan/triggers/trigger-table.ts";
import { callJudge, type HeldAuthority } from "../../tools/files/call-judge.ts";
import type { FileAnswer, FileCall, FileTool } from "../../tools/files/file-call.ts";
import { fileTools } from "../../tools/files/file-tools.ts";
import { PathQueue } from "../../tools/files/path-queue.ts";
import { markProblem } from "../../tools/files/redacted-write.ts";
import { type GrantedTree, GrantedTrees } from "../../tools/files/trees.ts";
import type { Daemon } from "../daemon.ts";
import { denialCodeOf } from "../log/call-refusals.ts";
import type { Session } from "../session.ts";
import type { ExecutionResult, OwnerTool } from "./owner-tool.ts";
import {
  type ChangeClass,
  type ChangeClassifier,
  ProtectedFiles,
  type ProtectedFilesOptions,
  type ProtectedFilesSession,
} from "./protected-files.ts";
import { SessionFiles } from "./session-files.ts";

export interface DaemonFilesOptions extends ProtectedFilesOptions {
  /** Trigger paths of the configuration at a session's folder. */
  triggers(session: Session): TriggerTable;
  held(session: Session): ReturnType<Daemon["held"]>;
  /** That of landings. */
  readonly lock: RootLock;
  /** The same text without the secrets that are known secrets. */
  redacted?(text: string): string;
}

/** A session's files for a call of another tool: every path decided as for the file tools. */
export interface CallFiles {
  /** One operation on one path. `requests`: those of the warrant. */
  use<T>(
    session: Session,
    requests: readonly Request[],
    at: {
      readonly path: FilePath;
      readonly isChanging: boolean;
      /** A further check that must not refuse: the tool's declaration. */
      readonly within?: Judge;
    },
    act: (files: Files) => Promise<FileResult<T>>,
  ): Promise<FileResult<T>>;
  /** How tools of this session may change this path. */
  classOf(session: Session, path: FilePath): ChangeClass;
  /** Whether the file worker can run here. */
  isThere(): boolean;
}

export interface DaemonFiles {
  readonly tools: readonly OwnerTool[];
  readonly calls: CallFiles;
  /** Whether a request changes a path that needs approval. */
  isTrigger(session: Session, request: Request): boolean;
  close(): void;
}

/** That many decisions use one holding; then it is read again, as at every call. */
const decisionsPerLook = 256;

export function daemonFiles(asked: DaemonFilesOptions): DaemonFiles {
  const { held, program } = asked;
  const native = nativeProgram(program);
  const granted = new GrantedTrees();
  const protectedFiles = new ProtectedFiles(asked);
  const paths = new PathQueue();
  /** INVARIANT: what would complete a repository is judged and written while nothing else lands or writes a part of one. */
  const changing = <T>(path: FilePath, act: () => Promise<T>): Promise<T> =>
    paths.run(path, () => (isPartOfShape(path) ? asked.lock.run(EVERY_ROOT, act) : act()));
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

  /** `now`: the session's current holding, if the caller has just read it. */
  const filesFor = (
    { session, requests, near, isChanging, makesFolders }: FileUse,
    now: CurrentHolding,
  ): { readonly trees: readonly GrantedTree[]; readonly judge: Judge; readonly protectedPaths: ProtectedPaths } => {
    const { authority, reading } = now.holding;
    const trees = granted.of(authority, near);
    const classOf = isChanging ? protectedFiles.of(granted.writable(trees), sessionOf(session)) : NO_CHANGE;
    const judge = callJudge(
      requests,
      holdingCache(now, () => held(session)),
      { classOf, makesFolders },
    );
    return { trees, judge, protectedPaths: reading.ground.protectedPaths };
  };

  const redacted = (text: string): string => asked.redacted?.(text) ?? text;

  /** `content`: the new content of a file. */
  const carry = async (
    call: FileCall,
    using: FileUse,
    now: CurrentHolding,
    content: string | null,
  ): Promise<ExecutionResult> => {
    const workers = sessions();
    if (workers === null) return UNREACHABLE;
    const { session } = using;
    /** The last refused path. */
    let last: Request | null = null;
    const act = async (holds: CurrentHolding | null): Promise<FileAnswer> => {
      if (holds === null) return ENDED;
      const files = filesFor(using, holds);
      const judge: Judge = (request) => {
        const decision = files.judge(request);
        if (decision.outcome !== "allow") last = request;
        return decision;
      };
      return workers.use(session, { ...files, judge }, async (each) => {
        const wrong = content === null ? null : await markProblem(each, using.near, content, redacted);
        return wrong ?? call.carry(each);
      });
    };
    let seen: CurrentHolding | null = now;
    const started = call.changes === null ? act(now) : changing(call.changes, () => act(seen ?? held(session)));
    // After waiting for other uses, the holding is read again.
    seen = null;
    const once = await started;
    // A read may be retried once if the worker ended during the first attempt.
    const isLost = !once.ok && call.changes === null && !workers.has(session) && !session.isClosed;
    const answer = isLost ? await act(held(session)) : once;
    // A file is trusted if a person committed it. Commits are not checked yet, and unknown is untrusted: so every read is.
    if (answer.ok) return { ok: true, value: answer.value, isUntrusted: call.isReading };
    return denialCodeOf(answer.code) !== null ? { ...answer, denied: deniedIn(answer, using, last) } : answer;
  };

  const classOf: CallFiles["classOf"] = (session, path) => {
    const now = held(session);
    const trees = now === null ? NO_TREES : granted.of(now.holding.authority, path);
    return protectedFiles.of(granted.writable(trees), sessionOf(session))(path);
  };
  const use: CallFiles["use"] = async (session, requests, { path, isChanging, within }, act) => {
    const workers = sessions();
    const once = async () => {
      const now = held(session);
      if (now === null) return refused("revoked", "the session has no grants any more");
      if (workers === null) return refused("not_available", "the file worker cannot run here");
      const files = filesFor({ session, requests, near: path, isChanging, makesFolders: false }, now);
      const judge: Judge = (request) => {
        const decision = within?.(request);
        return decision?.outcome === "deny" ? decision : files.judge(request);
      };
      return workers.use(session, { ...files, judge }, act);
    };
    return isChanging ? changing(path, once) : once();
  };

  const toolOf = (tool: FileTool): OwnerTool => {
    /** The parsed arguments of a decision, and the reading they were parsed with. They are immutable since. */
    const decided = new WeakMap<JsonObject, { readonly reading: Reading; readonly call: FileCall }>();
    return {
      name: tool.name,
      description: tool.definition.description,
      input: tool.definition.input,
      verbs: tool.definition.verbs,
      requests: (input, reading) => {
        const call = tool.call(input, workingGround(reading));
        if (!call.ok) return call;
        if (Object.isFrozen(input)) decided.set(input, { reading, call: call.value });
        return done(call.value.requests);
      },
      execute: async ({ input, session, warrant: { requests } }) => {
        const now = held(session);
        if (now === null) return ENDED;
        const { reading } = now.holding;
        const before = decided.get(input);
        const call = before?.reading === reading ? done(before.call) : tool.call(input, workingGround(reading));
        if (!call.ok) return { ok: false, code: "invalid_input", message: call.message };
        const [first] = call.value.requests;
        if (first === undefined) return ENDED;
        // INVARIANT: what is executed is what was decided; a working folder may have moved since.
        const isDecided = call.value.requests.every((one) => requests.some((other) => isSame(one, other)));
        const isChanging = call.value.changes !== null;
        const content = tool.name === "fs_write" && typeof input["content"] === "string" ? input["content"] : null;
        const using = { session, requests, near: placeOf(first), isChanging, makesFolders: true };
        return isDecided ? carry(call.value, using, now, content) : MOVED;
      },
    };
  };

  return {
    tools: fileTools().map(toolOf),
    isTrigger: (session, request) =>
      CHANGING.includes(request.verb.verb) && classOf(session, placeOf(request)) === "ask",
    calls: { use, classOf, isThere: () => sessions() !== null },
    close: () => made?.close(),
  };
}

/** One use of a session's files. `near`: the path it is about. */
interface FileUse {
  readonly session: Session;
  readonly requests: readonly Request[];
  readonly near: FilePath;
  readonly isChanging: boolean;
  /** The call creates missing parent folders. */
  readonly makesFolders: boolean;
}

/** INVARIANT: a symlink's target goes only to the log. The caller sees the path it asked for. */
function deniedIn(
  { code }: Refused,
  { requests, near }: FileUse,
  last: Request | null,
): NonNullable<Extract<ExecutionResult, { readonly ok: false }>["denied"]> {
  const isAsked = (one: Request): boolean =>
    pathText(placeOf(one)) === pathText(near) && one.verb.verb.startsWith("fs.");
  const asked = requests.find((one) => isAsked(one) && one.verb === last?.verb) ?? requests.find(isAsked) ?? null;
  const isBehind = last !== null && pathText(placeOf(last)) !== pathText(near);
  return { code, request: asked, target: isBehind ? last : null };
}

function pathText(path: readonly string[]): string {
  return path.join("/");
}

type Refused = Extract<FileAnswer, { readonly ok: false }>;
type CurrentHolding = NonNullable<ReturnType<Daemon["held"]>>;
type ProtectedPaths = Ground["protectedPaths"];
const CHANGING: readonly string[] = ["fs.write", "fs.delete"];
const NO_CHANGE: ChangeClassifier = () => "never";
const NO_TREES: readonly GrantedTree[] = [];

const ENDED: Refused = { ok: false, code: "revoked", message: "the session has no grants any more" };
const MOVED: Refused = {
  ok: false,
  code: "not_available",
  message: "the working folder changed during the call; call again",
};
const UNREACHABLE: Refused = { ok: false, code: "not_available", message: "the file worker cannot run here" };

function holdingCache(first: CurrentHolding, held: () => CurrentHolding | null): () => HeldAuthority | null {
  let left = decisionsPerLook;
  let last: HeldAuthority | null = heldOf(first);
  return () => {
    if (left-- > 0 && last !== null) return last;
    left = decisionsPerLook;
    last = heldOf(held());
    return last;
  };
}

function heldOf(now: CurrentHolding | null): HeldAuthority | null {
  return now === null ? null : { authority: now.holding.authority, moment: now.moment };
}

function placeOf({ values }: Request): readonly string[] {
  const [value] = values;
  return typeof value === "object" && "segments" in value ? value.segments : [];
}

function isSame(left: Request, right: Request): boolean {
  if (left.verb !== right.verb) return false;
  const isItself =
    left.values.length === right.values.length && left.values.every((one, at) => one === right.values[at]);
  return isItself || requestIdentity(left) === requestIdentity(right);
}

/** Null if the native program does not run. */
function wallsOf(native: string): WorkerRestrictions | null {
  const landlock = isProgram(native) ? kernelFacts(native)?.["landlockAbi"] : undefined;
  if (typeof landlock !== "number") return null;
  return { landlock, architecture: arch() === "x64" ? "x86-64" : arch() === "arm64" ? "arm64" : null };
}
