// Whether a process at the control socket may act for a person: what it shares with a live session's client is no evidence
// for one. Decision 0078.
import { type Refusal, refusal } from "../../core/ports/daemon/exchange.ts";
import type { Peer, ProcessMark } from "../rpc/serving.ts";
import type { Session, SessionFacts } from "../session.ts";

/** Ancestors of all programs, and programs that show terminals to a person: never a client. */
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

/**
 * Programs that make a terminal for a person who is at a display or logs in, by their executable, which must belong to the system.
 * A multiplexer is none: a client can start one without a display.
 */
const TERMINAL_MAKERS: ReadonlySet<string> = new Set([
  "alacritty",
  "foot",
  "ghostty",
  "gnome-terminal-server",
  "init",
  "kgx",
  "kitty",
  "konsole",
  "login",
  "mate-terminal",
  "ptyxis",
  "ptyxis-agent",
  "qterminal",
  "rxvt",
  "sshd",
  "sshd-session",
  "st",
  "tilix",
  "urxvt",
  "wezterm-gui",
  "xfce4-terminal",
  "xterm",
]);

/** Faces of ambit commands: a person types them, and they end with their command. */
export const COMMANDS: ReadonlySet<string> = new Set(["call", "exec"]);

/**
 * The HTTP server's own process is not its client, and neither is the terminal that a person started it in. Who connects to it is
 * not known (see the limits).
 */
const SERVERS: ReadonlySet<string> = new Set(["http"]);

type ClientFacts = Pick<SessionFacts, "connected" | "isForParent" | "root">;

/** What speaks against a person. */
export interface ClientTie {
  readonly session: Session;
  readonly by: "itself" | "terminal" | "descent" | "process session" | "later start";
}

/** Null if nothing speaks against a person. */
export function tieToClient(peer: Peer, sessions: readonly Session[]): ClientTie | null {
  for (const session of sessions) {
    const { face, root, isTrial = false } = session.facts;
    // A person tries hooks, several at once perhaps; it is over with its answer.
    if (isTrial) continue;
    if ((COMMANDS.has(face) || SERVERS.has(face)) && !descends(peer.ancestors, [root])) continue;
    const by = tieTo(peer, session.facts);
    if (by !== null) return { session, by };
  }
  return null;
}

/**
 * A terminal is evidence for a person unless a process of the client has it or made it. Without a terminal there is no evidence
 * for a person, so there must be none for an agent: nothing is shared with any ancestor of the server.
 */
function tieTo({ ancestors, uid }: Peer, facts: ClientFacts): ClientTie["by"] | null {
  const [own] = ancestors;
  const terminal = own?.terminal ?? 0;
  const all = ancestorsOfServer(facts);
  if (own !== undefined && all.some((one) => isSame(one, own))) return "itself";
  const clients = terminal === 0 ? all : clientProcesses(facts);
  if (terminal !== 0 && all.some((one) => one.terminal === terminal)) return "terminal";
  if (descends(ancestors, clients)) return "descent";
  if (terminal === 0 && clients.some((one) => isSameSession(one, own))) return "process session";
  return isAdoptedSince(ancestors, uid, clients) ? "later start" : null;
}

/** All ancestors of a server up to what never is a client. An application that opens its own session is its own client. */
function ancestorsOfServer({ connected, isForParent = false, root }: ClientFacts): readonly ProcessMark[] {
  const { ancestors, uid } = connected.peer;
  const end = isForParent ? ancestors.findIndex((one, at) => at > 0 && isRoot(one, uid)) : 1;
  const own = ancestors.slice(0, end < 0 ? ancestors.length : end);
  return own.length === 0 ? [root] : own;
}

function isRoot({ pid, name = "", uid }: ProcessMark, account: number): boolean {
  return pid === 1 || ROOTS.has(name) || (uid !== undefined && uid !== null && uid !== account);
}

/**
 * Processes that may be a session's client. The client speaks with its server through standard input; so does a wrapper between
 * them, and they cannot be told apart: each ancestor counts up to the first one whose own input is no pipe or socket. Where a
 * terminal is on the way, all processes that have it count, and the process that made it shows it to a person, unless the server
 * itself reads from that terminal: then its client is behind it.
 */
export function clientProcesses(facts: ClientFacts): readonly ProcessMark[] {
  const [server, ...above] = ancestorsOfServer(facts);
  if (server === undefined) return [facts.root];
  const clients = [server];
  let below = server;
  for (const one of above) {
    const isMaker = (below.terminal ?? 0) !== 0 && one.terminal !== below.terminal;
    if (isMaker && !(server.input === "terminal" && below.terminal === server.terminal)) break;
    clients.push(one);
    if ((one.terminal ?? 0) === 0 && one.input === "other") break;
    below = one;
  }
  return clients;
}

function descends(ancestors: readonly ProcessMark[], clients: readonly ProcessMark[]): boolean {
  return ancestors.some((one) => clients.some((client) => isSame(client, one)));
}

/**
 * Whether the process may be one that a client started and left behind (`setsid -f`, a multiplexer): all that it descends from is
 * younger than the client, of the same account, and was adopted by the first process. A service of another account, such as cron,
 * was not started by a client, and a known terminal emulator is a window that a person opened.
 */
function isAdoptedSince(ancestors: readonly ProcessMark[], uid: number, clients: readonly ProcessMark[]): boolean {
  const end = ancestors.findIndex(({ pid, name = "" }) => pid === 1 || ADOPTERS.has(name));
  const top = end > 0 ? ancestors[end - 1] : undefined;
  if (top === undefined || (top.uid !== undefined && top.uid !== null && top.uid !== uid)) return false;
  const program = top.program?.slice(top.program.lastIndexOf("/") + 1) ?? "";
  if ((ancestors[0]?.terminal ?? 0) !== 0 && TERMINAL_MAKERS.has(program)) return false;
  return clients.some((client) => Number(client.start) <= Number(top.start));
}

function isSameSession(client: ProcessMark, own: ProcessMark | undefined): boolean {
  return client.session !== undefined && client.session !== 0 && client.session === own?.session;
}

function isSame(left: ProcessMark, right: ProcessMark): boolean {
  return left.pid === right.pid && left.start === right.start;
}

const TIES: Readonly<Record<ClientTie["by"], string>> = {
  itself: "is part of",
  terminal: "has the same terminal as",
  descent: "was started by",
  "process session": "is in the same process session as",
  "later start": "was started in the background after, and may have been started by,",
};

export function notAPerson({ session: { facts }, by }: ClientTie): Refusal {
  const { id, name, root, face } = facts;
  return refusal(
    "control_refused",
    `this process ${TIES[by]} the client of session ${id} (agent ${name.agent}, ${face}, process ${root.pid}), and agents cannot widen their grants`,
    `run the command in a terminal that the client did not open, or with --presence NAME, or end the session first: ambit stop ${name.agent}`,
  );
}
