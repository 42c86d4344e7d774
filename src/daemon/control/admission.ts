// Who may widen authority or approve: a person, by evidence that no live session's client shares (decision 0078); with presence
// where the user's configuration requires it. Narrowing is refused to no process of the account.
import { textIn } from "../../core/base/fields.ts";
import { isJsonObject, type JsonObject, member } from "../../core/base/json.ts";
import type { Presence } from "../../core/ports/daemon/daemon-control.ts";
import { type Answer, type Refusal, refusal } from "../../core/ports/daemon/exchange.ts";
import type { DaemonParts, PresenceReason } from "../parts.ts";
import type { Exchange, Peer, ProcessMark } from "../rpc/serving.ts";
import type { SessionFacts, Sessions } from "../session.ts";
import { COMMANDS, notAPerson, tieToClient } from "./person-evidence.ts";

const nameCharactersMax = 128;
const passphraseCharactersMax = 1024;
const usersOfProcessMax = 256;

export interface AdmittedCaller {
  /** The name given with presence, else the OS account. */
  readonly by: string;
  readonly level: 1 | 2;
  readonly terminal: boolean;
}

type RememberedFacts = Pick<SessionFacts, "root" | "user" | "face" | "isForParent" | "hasOwnAuthority">;

interface PastSession {
  readonly mark: ProcessMark;
  readonly users: Set<string>;
  /** All of its sessions brought their own authority. */
  readonly hasOwnAuthority: boolean;
  /** It opened a session itself, and is not an ambit command: its own client. */
  readonly isOpener: boolean;
}

export class Admission {
  readonly #parts: Pick<DaemonParts, "presence" | "records">;
  readonly #sessions: Sessions;
  /** Processes that had a session, with their users: their child processes may outlive the session. */
  readonly #past = new Map<string, PastSession>();

  constructor(parts: Pick<DaemonParts, "presence" | "records">, sessions: Sessions) {
    this.#parts = parts;
    this.#sessions = sessions;
  }

  /** A session's process is remembered until it exits. */
  remember({ root: mark, user, face, isForParent = false, hasOwnAuthority = false }: RememberedFacts): void {
    const key = `${mark.pid} ${mark.start}`;
    const before = this.#past.get(key);
    const users = before?.users ?? new Set();
    if (user !== null && users.size < usersOfProcessMax) users.add(user);
    const isOpener = (before?.isOpener ?? false) || (!isForParent && !COMMANDS.has(face));
    this.#past.set(key, {
      mark,
      users,
      hasOwnAuthority: hasOwnAuthority && (before?.hasOwnAuthority ?? true),
      isOpener,
    });
    const [oldest] = this.#past.keys();
    if (this.#past.size > 4096 && oldest !== undefined) this.#past.delete(oldest);
  }

  /**
   * The user a new session acts for. The first process of a session chooses; a process that descends from a session can open
   * others only for the same user, or the user's ceiling could be bypassed.
   */
  userFor({ ancestors }: Peer, asked: string | null): Answer<string | null> {
    const above = ancestors.slice(1);
    const known = [...this.#past.values()].filter(({ mark }) => above.some((one) => isSame(one, mark)));
    const users = new Set(known.flatMap((one) => [...one.users]));
    if (users.size === 0 || (asked !== null && users.has(asked))) return { ok: true, value: asked };
    const [user = null, ...others] = users;
    return asked === null && others.length === 0 ? { ok: true, value: user } : FOR_ANOTHER_USER;
  }

  /** For everything that widens: requires presence where it is configured. */
  async widening(exchange: Exchange): Promise<Answer<AdmittedCaller>> {
    return this.#admit(exchange);
  }

  /** For an approval: presence counts if shown, and is required where it is configured. */
  async approving(exchange: Exchange): Promise<Answer<AdmittedCaller>> {
    return this.#admit(exchange);
  }

  /** For everything that only narrows: every process at the control socket. None of them is sandboxed. */
  narrowing({ connected }: Exchange): { readonly ok: true; readonly value: AdmittedCaller } {
    return { ok: true, value: plain(connected.peer) };
  }

  /** For operations that neither widen nor only narrow: the same evidence, without presence. */
  handling({ connected }: Exchange): Answer<AdmittedCaller> {
    const { peer } = connected;
    return this.#notAPerson(peer) ?? { ok: true, value: plain(peer) };
  }

  /** For a session that brings its own authority: no process that descends from an agent's session may open one. */
  withOwnAuthority({ ancestors }: Peer): Answer<object> {
    // A process that opened such a session may open another, as the daemon may have restarted; one with an agent's session may not.
    const [own, ...above] = ancestors;
    const had = [...this.#past.values()].filter(({ mark }) => own !== undefined && isSame(mark, own));
    const isAgents = had.some(({ hasOwnAuthority }) => !hasOwnAuthority) || this.#isOfSession({ ancestors: above });
    return isAgents ? OF_A_SESSION : { ok: true, value: {} };
  }

  async #admit(exchange: Exchange): Promise<Answer<AdmittedCaller>> {
    const { peer } = exchange.connected;
    const presence = presenceIn(exchange.value);
    if (presence === undefined) return refusal("invalid_input", "presence needs a name and a passphrase");
    if (presence === null) {
      const reason = this.#parts.records.presenceReason();
      if (reason !== null) return presenceRequired(reason);
      return this.#notAPerson(peer) ?? { ok: true, value: plain(peer) };
    }
    const checked = await this.#parts.presence.check(presence);
    return checked.ok ? { ok: true, value: { by: presence.name, level: 2, terminal: peer.terminal } } : checked;
  }

  #notAPerson(peer: Peer): Refusal | null {
    const tie = tieToClient(peer, this.#sessions.all());
    if (tie !== null) return notAPerson(tie);
    // An application that closed its session does not count as a person because of that.
    const descent = peer.terminal ? peer.ancestors.slice(0, 1) : peer.ancestors;
    const openers = [...this.#past.values()].filter(({ isOpener }) => isOpener);
    return descent.some((one) => openers.some(({ mark }) => isSame(mark, one))) ? OF_A_SESSION : null;
  }

  #isOfSession({ ancestors }: Pick<Peer, "ancestors">): boolean {
    const past = [...this.#past.values()].map(({ mark }) => mark);
    const roots = [...this.#sessions.all().map(({ facts }) => facts.root), ...past];
    return ancestors.some((one) => roots.some((root) => isSame(root, one)));
  }
}

function isSame(left: ProcessMark, right: ProcessMark): boolean {
  return left.pid === right.pid && left.start === right.start;
}

function presenceRequired({ problem }: PresenceReason): Refusal {
  if (problem === null)
    return refusal("presence_required", "your configuration has `control: presence`", "--presence NAME");
  return refusal(
    "presence_required",
    `your configuration cannot be read, and may contain \`control: presence\`: ${problem}`,
    "fix it with ambit doctor, or use --presence NAME",
  );
}

const FOR_ANOTHER_USER = refusal(
  "control_refused",
  "this process belongs to a session of another user and cannot open one for this user",
  "run the command in a terminal of your own",
);

const OF_A_SESSION = refusal(
  "control_refused",
  "this process, or a parent of it, had an agent's session, and agents cannot widen their grants",
  "run the command in a separate terminal, or with --presence NAME",
);

function plain({ uid, terminal }: Peer): AdmittedCaller {
  return { by: `uid ${uid}`, level: 1, terminal };
}

/** Undefined if present but invalid. */
function presenceIn(value: JsonObject): Presence | null | undefined {
  const given = member(value, "presence");
  if (given === undefined || given === null) return null;
  if (!isJsonObject(given)) return undefined;
  const name = textIn(given, "name", nameCharactersMax);
  const passphrase = textIn(given, "passphrase", passphraseCharactersMax);
  return name === null || passphrase === null ? undefined : { name, passphrase };
}
