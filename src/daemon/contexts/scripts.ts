// The power of the shell tool: programs and files of a session as streams, each decided again when it is used.
import type { Decision } from "../../core/authority/decision.ts";
import { judge } from "../../core/authority/judge.ts";
import type { RunResult } from "../../core/ports/process.ts";
import type { ScriptPowers } from "../../tools/shell/shell-tool.ts";
import type { Programs } from "../parts.ts";
import type { Session } from "../session.ts";
import type { PowersOptions, ToolExecution } from "../tools/daemon-tool.ts";
import type { CallFiles } from "./files.ts";

export interface ScriptPowersOptions {
  readonly programs: Pick<Programs, "run">;
  readonly files: CallFiles;
}

type Script = ScriptPowers["script"];

export function scriptPowers({ programs, files }: ScriptPowersOptions): (options: PowersOptions) => ScriptPowers {
  return ({ session, signal, call, refuse, ended, taint }) => ({
    script: {
      ...{ session, agent: session.scope, signal, refuse, ended, taint },
      isClosed: () => session.isClosed,
      running: (caller) => session.begin(caller) ?? session.startRefusal,
      look: (folder, entriesMax) =>
        files.use(session, [], { path: folder, isChanging: false }, (worker) => worker.list(folder, entriesMax)),
      decided: call?.warrant ?? { requests: [], basis: [] },
      isProtected: (path) => files.classOf(session, path) === "never",
      run: runIn(programs, session, call),
      files: redirectionFiles(files, session, call),
      output: call?.output ?? null,
    },
  });
}

/** Each command counts towards the session's concurrent programs. */
function runIn(programs: Pick<Programs, "run">, session: Session, call: ToolExecution | null): Script["run"] {
  const start = call?.programContext.moment() ?? null;
  return async ({ argv, request, by }, input, sinks, signal): Promise<RunResult> => {
    if (call === null || start === null) return refused("revoked", "no decision covers this");
    const { programContext } = call;
    // A script takes time: its grants may have been revoked, or made subject to approval, since the decision.
    const decided = judge(programContext.authority, request, { ...start, exhausted: null });
    const now = judge(programContext.holds(), request, { ...programContext.moment(), exhausted: null });
    if (now.outcome === "deny") return refused(now.code, "the grant for this command was revoked");
    if (levelOf(now) > levelOf(decided))
      return refused("approval_required", "this command needs an approval that its call did not have; call again");
    const work = session.begin(signal);
    if (work === null) return { ok: false, refused: session.startRefusal };
    try {
      return await programs.run(programContext, {
        argv,
        request,
        by,
        input,
        sinks,
        milliseconds: null,
        signal: work.signal,
      });
    } finally {
      work.end();
    }
  };
}

function levelOf(decision: Decision): number {
  return decision.outcome === "ask" ? decision.level : 0;
}

function redirectionFiles(files: CallFiles, session: Session, call: ToolExecution | null): Script["files"] {
  const requests = call?.warrant.requests ?? [];
  return {
    read: (path, offset, bytesMax) =>
      files.use(session, requests, { path, isChanging: false }, (worker) => worker.read(path, { offset, bytesMax })),
    empty: (path) =>
      files.use(session, requests, { path, isChanging: true }, (worker) => worker.write(path, new Uint8Array(0))),
    append: (path, bytes) =>
      files.use(session, requests, { path, isChanging: true }, (worker) => worker.append(path, bytes)),
  };
}

function refused(code: Extract<RunResult, { ok: false }>["refused"]["code"], message: string): RunResult {
  return { ok: false, refused: { code, message, fix: null } };
}
