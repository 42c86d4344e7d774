// `daemon.status`: what runs, what waits, what was denied in the last day, and what is wrong.
import type { DaemonStatus, SessionView } from "../../core/ports/daemon/daemon-control.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { SinkStatus } from "../../core/ports/stores/sink.ts";
import type { Gatekeeper } from "../calls/gatekeeper.ts";
import type { DaemonParts } from "../parts.ts";
import type { MessageHandler } from "../rpc/serving.ts";
import type { Session, Sessions } from "../session.ts";

const countedMax = 10_000;
const dayMilliseconds = 86_400_000;

export interface StatusSources {
  readonly parts: DaemonParts;
  readonly pid: number;
  readonly protocol: number;
  readonly state: string;
  readonly started: number;
  readonly sessions: Sessions;
  readonly gatekeeper: Gatekeeper;
  connections(): number;
}

export function statusAnswers(sources: StatusSources): readonly (readonly [string, MessageHandler])[] {
  return [["daemon.status", async () => ({ ok: true, value: await statusOf(sources) })]];
}

async function statusOf(sources: StatusSources): Promise<DaemonStatus> {
  const { parts, pid, protocol, state, started, sessions, gatekeeper } = sources;
  const { stores, now, version, programs } = parts;
  const since = now() - dayMilliseconds;
  const [waiting, head, denied] = await Promise.all([
    stores.approvals.list(["pending"], countedMax),
    stores.chain.head(),
    stores.ledger.log({ outcome: "deny", since, count: countedMax }),
  ]);
  const entries = head.ok ? head.value.place : 0;
  const sink = sinkAt(parts.sink?.() ?? null, entries);
  const codes = new Map<string, number>();
  for (const { entry } of denied.ok ? denied.value : [])
    codes.set(entry.code ?? "", (codes.get(entry.code ?? "") ?? 0) + timesOf(entry));
  return {
    pid,
    version,
    protocol,
    started,
    state,
    isFrozen: gatekeeper.isFrozen,
    sessions: sessions.all().map(viewOf),
    waiting: waiting.ok ? waiting.value.length : 0,
    entries,
    denials: [...codes].filter(([, times]) => times > 0).map(([code, times]) => ({ code, times })),
    sandboxes: programs.count,
    connections: sources.connections(),
    problems: [
      ...parts.problems(),
      ...sinkProblems(sink),
      ...[waiting, head, denied].flatMap((one) => (one.ok ? [] : [one.message])),
    ],
    sink,
    secrets: parts.vault.list().length === 0 ? null : parts.vault.source(),
  };
}

/** How many decisions an entry stands for: repeated ones are counted in one entry. */
function timesOf({ kind, more }: LogEntry): number {
  const { times } = more;
  if (kind !== "decision" && kind !== "suppressed" && kind !== "session") return 0;
  return typeof times === "number" && Number.isSafeInteger(times) && times > 0 ? times : 1;
}

/** The copy may not have checked for a while: `head` is the log's actual end. */
function sinkAt(sink: SinkStatus | null, head: number): SinkStatus | null {
  return sink === null || sink.kept === null ? sink : { ...sink, behind: Math.max(0, head - sink.kept) };
}

function sinkProblems(sink: SinkStatus | null): readonly string[] {
  if (sink === null || sink.problem === null) return [];
  const denying = sink.isDenying ? " Every call is denied (audit_unavailable) until it catches up." : "";
  return [`the second copy of the log, ${sink.target}: ${sink.problem}.${denying}`];
}

function viewOf({ facts, isClean, calls, running }: Session): SessionView {
  const { id, name, user, face, opened } = facts;
  return {
    session: id,
    agent: name.agent,
    workspace: name.workspace,
    user,
    face,
    opened,
    isClean,
    calls,
    running: running.size,
  };
}
