// File tools as the daemon carries them out: in a worker of the session, held to the trees of its grants, every path
// decided by what the session holds at that moment.
import { arch } from "node:os";
import type { Ground } from "../authority/path.ts";
import type { Request } from "../authority/request.ts";
import { done } from "../authority/result.ts";
import type { Daemon } from "../daemon/daemon.ts";
import type { Carried, OwnerTool } from "../daemon/owner-tool.ts";
import type { Session } from "../daemon/session.ts";
import type { Walls } from "../node/file-worker/walls.ts";
import { kernelFacts } from "../node/sandbox/detect-sandbox.ts";
import { isProgram } from "../node/sandbox/programs.ts";
import type { Reading } from "../notation/reading.ts";
import { requestText } from "../notation/request-printer.ts";
import type { FilePath, FileResult, Files } from "../ports/files.ts";
import type { Judge } from "../ports/judge.ts";
import { callJudge, type Held } from "../tools/files/call-judge.ts";
import type { FileCall, FileTool } from "../tools/files/file-call.ts";
import { fileTools } from "../tools/files/file-tools.ts";
import { PathQueue } from "../tools/files/path-queue.ts";
import { GrantedTrees } from "../tools/files/trees.ts";
import { type KeptFilesAsked, keptFiles } from "./kept-files.ts";
import { nativeProgram } from "./native-program.ts";
import { SessionFiles } from "./session-files.ts";

export interface DaemonFilesAsked extends KeptFilesAsked {
  held(session: Session): ReturnType<Daemon["held"]>;
}

/** Files of a session for a call of another tool: every path decided as for the file tools. */
export interface CallFiles {
  /** One act on one path. `requests`: those of the warrant. */
  use<T>(
    session: Session,
    requests: readonly Request[],
    at: {
      readonly path: FilePath;
      readonly isChanging: boolean;
      /** One more that must not refuse: what a tool declares. */
      readonly within?: Judge;
    },
    act: (files: Files) => Promise<FileResult<T>>,
  ): Promise<FileResult<T>>;
  /** Whether no tool may change what has this name, whatever is granted. */
  isKept(session: Session, path: FilePath): boolean;
  /** Whether the file worker can be run here. */
  isThere(): boolean;
}

export interface DaemonFiles {
  readonly tools: readonly OwnerTool[];
  readonly calls: CallFiles;
  close(): void;
}

/** So many decisions by one look at what a session holds; then it is looked at again, as it is at every call. */
const decisionsPerLook = 256;

export function daemonFiles(asked: DaemonFilesAsked): DaemonFiles {
  const { held, program } = asked;
  const native = nativeProgram(program);
  const granted = new GrantedTrees();
  const queue = new PathQueue();
  let made: SessionFiles | null = null;

  /** Asked again where it could not be run before. */
  const sessions = (): SessionFiles | null => {
    if (made !== null) return made;
    const walls = wallsOf(native);
    if (walls !== null) made = new SessionFiles(native, walls);
    return made;
  };

  const carry = async (call: FileCall, session: Session, requests: readonly Request[]): Promise<Carried> => {
    const [first] = call.requests;
    const now = held(session);
    const workers = sessions();
    if (now === null || first === undefined) return ENDED;
    if (workers === null) return UNREACHABLE;
    const { authority, reading } = now.holding;
    const near = placeOf(first);
    const trees = granted.of(authority, near);
    const writable = trees.filter(({ mode }) => mode === "write").map(({ path }) => path);
    const isKept = call.changes === null ? () => true : keptFiles(asked, writable, session.facts.name.workspace);
    const judge = callJudge(
      requests,
      looking(() => held(session)),
      isKept,
    );
    const { protectedPaths } = reading.ground;
    const act = () => workers.use(session, { trees, judge, protectedPaths }, (files) => call.carry(files));
    const once = call.changes === null ? await act() : await queue.run(call.changes, act);
    // Whoever only reads may ask a second time, should the worker have ended on the first.
    const isLost = !once.ok && call.changes === null && !workers.has(session) && !session.isClosed;
    const answer = isLost ? await act() : once;
    // A file is trusted where a person committed it. Nobody looks at commits yet, and unknown is untrusted: so every read is.
    return answer.ok ? { ...answer, isUntrusted: call.isReading } : answer;
  };

  const writableOf = (session: Session, near: FilePath): readonly FilePath[] => {
    const now = held(session);
    const trees = now === null ? [] : granted.of(now.holding.authority, near);
    return trees.filter(({ mode }) => mode === "write").map(({ path }) => path);
  };
  const isKept: CallFiles["isKept"] = (session, path) =>
    keptFiles(asked, writableOf(session, path), session.facts.name.workspace)(path);
  const use: CallFiles["use"] = async (session, requests, { path, isChanging, within }, act) => {
    const now = held(session);
    const workers = sessions();
    if (now === null) return { ok: false, code: "revoked", reason: "the session holds nothing any more" };
    if (workers === null) return { ok: false, code: "not_available", reason: "the file worker cannot be run here" };
    const { authority, reading } = now.holding;
    const kept = isChanging ? keptFiles(asked, writableOf(session, path), session.facts.name.workspace) : () => true;
    const judge = callJudge(
      requests,
      looking(() => held(session)),
      kept,
    );
    const { protectedPaths } = reading.ground;
    const trees = granted.of(authority, path);
    const narrow: Judge = (request) => {
      const decision = within?.(request);
      return decision?.outcome === "deny" ? decision : judge(request);
    };
    const once = () => workers.use(session, { trees, judge: narrow, protectedPaths }, act);
    return isChanging ? queue.run(path, once) : once();
  };

  const toolOf = (tool: FileTool): OwnerTool => ({
    name: tool.name,
    description: tool.definition.description,
    input: tool.definition.input,
    verbs: tool.definition.verbs,
    requests: (input, reading) => {
      const call = tool.call(input, groundOf(reading));
      return call.ok ? done(call.value.requests) : call;
    },
    carry: async ({ input, session, warrant: { requests } }) => {
      const now = held(session);
      if (now === null) return ENDED;
      const call = tool.call(input, groundOf(now.holding.reading));
      if (!call.ok) return { ok: false, code: "invalid_input", message: call.message };
      // INVARIANT: what is carried out is what was decided; a working folder may have moved since.
      const isDecided = call.value.requests.every((one) => requests.some((other) => isSame(one, other)));
      return isDecided ? carry(call.value, session, requests) : MOVED;
    },
  });

  return {
    tools: fileTools().map(toolOf),
    calls: { use, isKept, isThere: () => sessions() !== null },
    close: () => made?.close(),
  };
}

const ENDED: Carried = { ok: false, code: "revoked", message: "the session holds nothing any more" };
const MOVED: Carried = { ok: false, code: "not_available", message: "the working folder changed meanwhile; ask again" };
const UNREACHABLE: Carried = { ok: false, code: "not_available", message: "the file worker cannot be run here" };

/** Relative names begin in the session's folder where that lies in the agent's own root, else in that root. */
function groundOf({ ground, workingRoot = null }: Reading): Ground {
  const { base } = ground;
  if (workingRoot === null || (base !== null && workingRoot.every((name, at) => name === base[at]))) return ground;
  return { ...ground, base: workingRoot };
}

function looking(held: () => ReturnType<Daemon["held"]>): () => Held | null {
  let left = 0;
  let last: Held | null = null;
  return () => {
    if (left-- > 0 && last !== null) return last;
    const now = held();
    left = decisionsPerLook;
    last = now === null ? null : { authority: now.holding.authority, moment: now.moment };
    return last;
  };
}

function placeOf({ values }: Request): readonly string[] {
  const [value] = values;
  return typeof value === "object" && "segments" in value ? value.segments : [];
}

function isSame(left: Request, right: Request): boolean {
  return left.verb === right.verb && requestText(left) === requestText(right);
}

/** Null where our native program does not run. */
function wallsOf(native: string): Walls | null {
  const landlock = isProgram(native) ? kernelFacts(native)?.["landlockAbi"] : undefined;
  if (typeof landlock !== "number") return null;
  return { landlock, architecture: arch() === "x64" ? "x86-64" : arch() === "arm64" ? "arm64" : null };
}
