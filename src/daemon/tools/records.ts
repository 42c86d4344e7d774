// The records tools in the daemon: requests are derived from the file, and checked again before execution.
import { verbEntry } from "../../core/authority/catalog.ts";
import { judge } from "../../core/authority/judge.ts";
import type { Request } from "../../core/authority/request.ts";
import { done } from "../../core/base/result.ts";
import { requestIdentity } from "../../core/notation/request/request-printer.ts";
import type { MemoryStore, Namespace } from "../../core/ports/stores/memory-store.ts";
import { sha256 } from "../../platform/digest.ts";
import { holdsOf } from "../../runtime/tool/reachable.ts";
import { readFrontmatter } from "../../text/frontmatter.ts";
import type { RecordCallContext } from "../../tools/records/record-call.ts";
import { type RecordTool, recordTools } from "../../tools/records/record-tools.ts";
import type { Daemon } from "../daemon.ts";
import type { Records } from "../parts.ts";
import type { Session } from "../session.ts";
import type { ExecutionResult, OwnerTool } from "./owner-tool.ts";
import { WorkspaceLibraries, workspaceRecords } from "./records-folder.ts";

export interface DaemonRecordsOptions {
  /** The user's state folder. */
  readonly state: string;
  readonly records: Pick<Records, "workspaceOf">;
  readonly memory: MemoryStore;
  held(session: Session): ReturnType<Daemon["held"]>;
  now(): number;
}

export function daemonRecords(asked: DaemonRecordsOptions): readonly OwnerTool[] {
  const libraries = new WorkspaceLibraries();

  /** Null outside of a workspace. */
  const deskOf = (session: Session): RecordCallContext | null => {
    const { name, cwd } = session.facts;
    const workspace = name.workspace ?? asked.records.workspaceOf(cwd);
    if (workspace === null) return null;
    const own = workspaceRecords(workspace, asked.state, asked.now(), libraries.of(workspace));
    return {
      ...own,
      digest: sha256,
      isClean: session.isClean,
      ...reading(asked, session),
      ...labels(asked, session, workspace),
    };
  };

  const toolOf = (tool: RecordTool): OwnerTool => ({
    ...tool.definition,
    requests: (input, by) => tool.requests(input, by),
    derive: async (input, session, by) => {
      const desk = deskOf(session);
      if (desk === null) return done([]);
      const call = await tool.call(input, by, desk);
      const known = tool.requests(input, by);
      if (!call.ok || !known.ok) return call.ok ? done([]) : call;
      // Requested once, however it was found.
      return done(call.value.requests.filter((one) => !known.value.some((other) => isSame(one, other))));
    },
    execute: async ({ input, session, warrant: { requests } }): Promise<ExecutionResult> => {
      const now = asked.held(session);
      const desk = deskOf(session);
      if (now === null) return ENDED;
      if (desk === null) return NO_WORKSPACE;
      const call = await tool.call(input, now.holding.reading, desk);
      if (!call.ok) return { ok: false, code: "invalid_input", message: call.message };
      // INVARIANT: what is executed is what was decided; the record may have changed since.
      const isDecided = call.value.requests.every((one) => requests.some((other) => isSame(one, other)));
      return isDecided ? call.value.carry() : MOVED;
    },
  });

  return recordTools(readFrontmatter, sha256).map(toolOf);
}

const ENDED: ExecutionResult = { ok: false, code: "revoked", message: "the session has no grants any more" };
const MOVED: ExecutionResult = {
  ok: false,
  code: "not_available",
  message: "the records changed meanwhile; ask again",
};
const NO_WORKSPACE: ExecutionResult = {
  ok: false,
  code: "not_available",
  message: "there are no records here: no .ambit folder here or above",
  fix: "a person makes one: ambit init",
};

/** By the session's current holding; one lookup serves a whole list. */
function reading(asked: DaemonRecordsOptions, session: Session): Pick<RecordCallContext, "readsAny" | "mayRead"> {
  const held = asked.held(session);
  return {
    readsAny: () => held !== null && holdsOf(held.holding.authority, held.moment)(verbEntry("records.read")),
    mayRead: (request) => held !== null && judge(held.holding.authority, request, held.moment).outcome === "allow",
  };
}

/** No third-party tool has a colon in its name, so no other tool can mark records as clean. */
const LABELS = "builtin:records";

/** Which version of a record was written by a session that had read nothing untrusted. Unknown is not clean. */
function labels(
  { memory, now }: DaemonRecordsOptions,
  session: Session,
  workspace: string,
): Pick<RecordCallContext, "isKnownClean" | "noteClean"> {
  const namespace: Namespace = { kind: "tool", tool: LABELS, workspace };
  return {
    isKnownClean: async (id, version) => {
      const found = await memory.get(namespace, id, now());
      return found.ok && found.value?.isClean === true && found.value.value === version;
    },
    noteClean: async (id, version, isClean) => {
      if (!isClean) return void (await memory.delete(namespace, id, null));
      const writer = session.facts.name;
      await memory.set({
        namespace,
        key: id,
        value: version,
        version: null,
        expires: null,
        isClean,
        writer,
        at: now(),
      });
    },
  };
}

function isSame(left: Request, right: Request): boolean {
  return left.verb === right.verb && requestIdentity(left) === requestIdentity(right);
}
