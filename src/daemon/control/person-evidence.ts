// Whether a process at the control socket may act for a person: attributes it shares with a live session's client are no
// evidence. Decision 0058.
import type { Refusal } from "../../core/ports/daemon/exchange.ts";
import { refusal } from "../refusal.ts";
import type { Peer, ProcessMark } from "../rpc/serving.ts";
import type { Session, SessionFacts } from "../session.ts";

/** Ancestors of all programs: never a client, and not shared evidence. */
export const ROOTS: ReadonlySet<string> = new Set([
  "init",
  "launchd",
  "login",
  "SCREEN",
  "screen",
  "sshd",
  "sshd-session",
  "systemd",
  "tmux: server",
]);

/** Of these, those that become the parent of a process whose own parent has ended. */
const ADOPTERS: ReadonlySet<string> = new Set(["init", "launchd", "systemd"]);

/** Faces of ambit commands: a person types them, and they end with their command. */
export const COMMANDS: ReadonlySet<string> = new Set(["call", "exec"]);

/**
 * Processes that may be a session's client. For a server these are all its ancestors: a wrapper may stand between it and the
 * client, and they cannot be told apart. An application that opens its own session is its own client.
 */
export function clientProcesses({
  connected,
  isForParent = false,
  root,
}: Pick<SessionFacts, "connected" | "isForParent" | "root">): readonly ProcessMark[] {
  const { ancestors } = connected.peer;
  const end = isForParent ? ancestors.findIndex(({ pid, name = "" }) => pid === 1 || ROOTS.has(name)) : 1;
  const own = ancestors.slice(0, end < 0 ? ancestors.length : end);
  return own.length === 0 ? [root] : own;
}

/**
 * Null if nothing speaks against a person. A terminal that no client has is evidence for a person. Without a terminal the
 * process must share nothing with a live session's client.
 */
export function sharedWithClient({ ancestors, uid }: Peer, sessions: readonly Session[]): Session | null {
  const [own] = ancestors;
  const terminal = own?.terminal ?? 0;
  for (const session of sessions) {
    if (COMMANDS.has(session.facts.face) && !descends(ancestors, [session.facts.root])) continue;
    const clients = clientProcesses(session.facts);
    const isShared =
      own !== undefined && clients.some((one) => isSame(one, own))
        ? true
        : terminal !== 0
          ? clients.some((one) => one.terminal === terminal)
          : descends(ancestors, clients) ||
            clients.some((one) => isSameSession(one, own)) ||
            isAdoptedSince(ancestors, uid, clients);
    if (isShared) return session;
  }
  return null;
}

function descends(ancestors: readonly ProcessMark[], clients: readonly ProcessMark[]): boolean {
  return ancestors.some((one) => clients.some((client) => isSame(client, one)));
}

/**
 * Whether the process may be one that a client started and left behind (`setsid -f`): all that it descends from is younger than
 * the client, of the same account, and was adopted by the first process. A service of another account, such as cron, was not
 * started by a client.
 */
function isAdoptedSince(ancestors: readonly ProcessMark[], uid: number, clients: readonly ProcessMark[]): boolean {
  const end = ancestors.findIndex(({ pid, name = "" }) => pid === 1 || ADOPTERS.has(name));
  const top = end > 0 ? ancestors[end - 1] : undefined;
  if (top === undefined || (top.uid !== undefined && top.uid !== null && top.uid !== uid)) return false;
  return clients.some((client) => Number(client.start) <= Number(top.start));
}

function isSameSession(client: ProcessMark, own: ProcessMark | undefined): boolean {
  return client.session !== undefined && client.session !== 0 && client.session === own?.session;
}

function isSame(left: ProcessMark, right: ProcessMark): boolean {
  return left.pid === right.pid && left.start === right.start;
}

export function notAPerson({ terminal }: Peer, { facts }: Session): Refusal {
  const { id, name, root, face } = facts;
  const what = terminal ? "has the same terminal as" : "has no terminal, and belongs, or may belong, with";
  return refusal(
    "control_refused",
    `this process ${what} the client of session ${id} (agent ${name.agent}, ${face}, process ${root.pid}), and agents cannot widen their grants`,
    `run the command in a separate terminal, or with --presence NAME, or end the session first: ambit stop ${name.agent}`,
  );
}
