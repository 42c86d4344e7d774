// Opens sessions: the user, the agent, and the initial pledge.
import { ANY } from "../core/authority/axes/scope.ts";
import { verbEntry } from "../core/authority/catalog.ts";
import { type CompiledLink, compile } from "../core/authority/compiled.ts";
import { type Grant, UNCONDITIONAL } from "../core/authority/grant.ts";
import { ALWAYS } from "../core/authority/link.ts";
import { PRINCIPAL_NAME } from "../core/authority/principal.ts";
import { agentIdOf } from "../core/base/agent-id.ts";
import { flagIn, numberOr, optionalText, textIn, textsIn } from "../core/base/fields.ts";
import { isJsonObject, type JsonObject, member } from "../core/base/json.ts";
import { emptySpec, parseSpecs, specFault } from "../core/notation/compact/grant-specs.ts";
import type { OpenSessionResult } from "../core/ports/daemon/daemon-calls.ts";
import { type Answer, type Refusal, refusal } from "../core/ports/daemon/exchange.ts";
import type { AgentName } from "../core/ports/stores/link-store.ts";
import { madeName, madeNames } from "./calls/agent-names.ts";
import type { Gatekeeper } from "./calls/gatekeeper.ts";
import type { SessionCaveats } from "./calls/holding.ts";
import { ClientTokens } from "./client-tokens.ts";
import type { Delegations } from "./contexts/delegations.ts";
import type { Admission } from "./control/admission.ts";
import { type OauthClient, openingOf } from "./oauth/access-tokens.ts";
import type { DaemonParts } from "./parts.ts";
import type { Exchange, Peer, ProcessMark } from "./rpc/serving.ts";
import { principalIn, Session, type Sessions } from "./session.ts";
import { hasSessionRoom, sessionsOfProcessMax } from "./session-share.ts";

const pathCharactersMax = 4096;
const specsMax = 1024;
const toldCharactersMax = 256;
const caveatsCharactersMax = 65_536;
const levelsMax = 16;
const variablesMax = 256;
const variableCharactersMax = 32_768;
const TRACE = /^[A-Za-z0-9-]{1,128}$/;
/** The default agent. */
const ANONYMOUS = "anonymous";
const FACE = /^[a-z-]{1,32}$/;

interface RefusedOpening {
  readonly cwd: string;
  /** The agent, as the client wrote it. */
  readonly asked: string;
  readonly user: string | null;
  readonly trace: string | null;
  readonly face: string;
  readonly peer: Peer;
}

interface NamedAgent {
  readonly name: AgentName;
  readonly notes: readonly string[];
}

export class Opening {
  readonly #parts: DaemonParts;
  readonly #gatekeeper: Gatekeeper;
  readonly #delegations: Delegations;
  readonly #sessions: Sessions;
  readonly #admission: Admission;
  readonly #userNames: () => readonly string[] | null;
  readonly tokens: ClientTokens;

  constructor(
    parts: DaemonParts,
    gatekeeper: Gatekeeper,
    delegations: Delegations,
    sessions: Sessions,
    admission: Admission,
    /** Users that have a record; null if unknown. */
    userNames: () => readonly string[] | null,
  ) {
    const { digest, now, id, stores } = parts;
    this.tokens = new ClientTokens({ settings: stores.settings, digest, now, id: () => id("k") });
    this.#parts = parts;
    this.#gatekeeper = gatekeeper;
    this.#delegations = delegations;
    this.#sessions = sessions;
    this.#admission = admission;
    this.#userNames = userNames;
  }

  /** `lifetime`: the session ends with its connection, or with the client that further connections come from. */
  async open(
    { value: given, connected }: Pick<Exchange, "value" | "connected">,
    lifetime: "connection" | "client" = "connection",
  ): Promise<Answer<OpenSessionResult>> {
    const presented = await this.#presented(given, connected.peer);
    if (!presented.ok) return presented;
    const { value, id: clientToken } = presented.value;
    const cwd = textIn(value, "cwd", pathCharactersMax);
    const asked = textIn(value, "agent", pathCharactersMax);
    const named = optionalText(value, "user");
    const trace = optionalText(value, "trace");
    const face = textIn(value, "face");
    const token = optionalText(value, "token");
    const environment = environmentIn(value);
    if (cwd === null || !cwd.startsWith("/") || asked === null || environment === null || token === undefined)
      return refusal(
        "invalid_input",
        "a session needs `cwd` (absolute) and `agent`, and an `environment` and a `token` of the right type",
      );
    if (trace === undefined || (trace !== null && !TRACE.test(trace)) || face === null || !FACE.test(face))
      return refusal(
        "invalid_input",
        "`trace` has letters, digits and dashes; `face` has lower-case letters and dashes",
      );
    const { peer } = connected;
    // A text that is no name is not written into the log.
    if (named === undefined || (named !== null && !PRINCIPAL_NAME.test(named)))
      return this.#refused({ cwd, asked, user: null, trace, face, peer }, NO_USER_NAME);
    const caveats = optionalText(value, "caveats", caveatsCharactersMax);
    if (caveats === undefined || (caveats !== null && (asked !== ANONYMOUS || token !== null)))
      return refusal(
        "invalid_input",
        `caveats must be text of at most ${caveatsCharactersMax} characters, and are only for the agent \`anonymous\` without a token`,
      );
    const admitted = caveats === null ? null : this.#admission.withOwnAuthority(peer);
    if (admitted !== null && !admitted.ok)
      return this.#refused({ cwd, asked, user: named, trace, face, peer }, admitted);
    const brought: SessionCaveats | null =
      caveats === null ? null : { text: caveats, account: this.#accountOf(peer, caveats) };
    const told = { cwd, asked, user: named, trace, face, peer };
    const user = this.#admission.userFor(peer, named);
    const found =
      brought === null ? this.#nameOf(cwd, asked, user.ok ? user.value : null) : this.#broughtName(cwd, brought);
    if (!found.ok) return this.#refused(told, found);
    if (!user.ok) return this.#refused(told, user);
    const { name } = found.value;
    const unknown =
      (user.value === null ? null : this.#misspelled(user.value)) ??
      this.#unknownUser(user.value, cwd, name, flagIn(value, "needsUserRecord"));
    if (unknown !== null) return this.#refused({ ...told, user: user.value }, unknown);
    // A server has a client above it, whatever it reports; which process that is, is not guessed.
    const isForParent = flagIn(value, "isForParent") || face === "mcp";
    const root = rootOf(peer, flagIn(value, "isForParent") ? (numberOr(value, "level", 1, 1, levelsMax) ?? 1) : 0);
    const { id, now, stores } = this.#parts;
    const session = new Session({
      id: id("s"),
      name,
      asked,
      cwd,
      user: user.value,
      trace: trace ?? id("t"),
      face,
      opened: now(),
      environment,
      connected,
      root,
      isForParent,
      // A client cannot say so of its own session.
      isTrial: lifetime === "client" && flagIn(value, "isTrial"),
      hasOwnAuthority: brought !== null,
      ...(clientToken === null ? {} : { clientToken, isRevoked: () => !this.#isValid(clientToken) }),
      granterOf: (link) => stores.links.get(link)?.granter.agent ?? null,
    });
    const userRecord = user.value === null ? null : this.#parts.records.user(user.value);
    session.hadUserRecord = userRecord !== null;
    session.describeUser(userRecord?.facts ?? null);
    if (brought !== null) this.#gatekeeper.holdings.bring(session, brought);
    const pledge = member(value, "pledge") ?? null;
    const specs = pledge === null ? null : textsIn(value, "pledge", specsMax);
    if (pledge !== null && specs === null)
      return refusal("invalid_input", `a pledge must be a list of at most ${specsMax} specs; no session was opened`);
    const fault = specs === null ? null : this.pledge(session, specs);
    if (fault !== null) return refusal("invalid_input", `no session was opened: ${fault}`);
    if (!hasSessionRoom(this.#sessions.all(), peer, root)) return TOO_MANY;
    if (!this.#sessions.add(session)) return refusal("not_available", "there are too many sessions");
    if (token !== null && (await this.#delegations.claim(token, session.facts.name, session.who())) === null) {
      this.#sessions.remove(session);
      return refusal("revoked", "the token belongs to another agent, was already claimed, or is revoked");
    }
    if (lifetime === "connection") connected.onClose(() => this.close(session));
    const { entries } = this.#gatekeeper;
    const more = { face, terminal: peer.terminal, pid: root.pid, start: root.start, pledge: specs };
    const brings = { ...(caveats === null ? {} : { caveats }), ...(clientToken === null ? {} : { clientToken }) };
    const written = await stores.ledger.append([
      entries.make("session", session.who(), "opened", { more: { ...more, ...brings } }),
    ]);
    if (!written.ok) {
      this.#sessions.remove(session);
      return refusal(written.code, written.message);
    }
    const { id: opened, trace: traced } = session.facts;
    const { agent, workspace } = name;
    const { notes } = found.value;
    const { hadUserRecord: hasUserRecord } = session;
    return { ok: true, value: { session: opened, agent, workspace, trace: traced, hasUserRecord, notes } };
  }

  /** What a session would hold, for a person who asks: it is not opened, and nothing is logged. */
  preview({ value, connected }: Exchange): Answer<Session> {
    const cwd = textIn(value, "cwd", pathCharactersMax);
    const asked = textIn(value, "agent", pathCharactersMax);
    const user = optionalText(value, "user");
    const pledge = member(value, "pledge") ?? null;
    const specs = pledge === null ? null : textsIn(value, "pledge", specsMax);
    if (cwd === null || !cwd.startsWith("/") || asked === null || (pledge !== null && specs === null))
      return refusal("invalid_input", "needs a folder and an agent, and optionally a list of specs");
    if (user === undefined || (user !== null && !PRINCIPAL_NAME.test(user))) return NO_USER_NAME;
    const found = this.#nameOf(cwd, asked, user);
    if (!found.ok) return found;
    const { name } = found.value;
    const unknown = (user === null ? null : this.#misspelled(user)) ?? this.#unknownUser(user, cwd, name, false);
    if (unknown !== null) return unknown;
    const { id, now, stores } = this.#parts;
    const session = new Session({
      ...{ id: id("s"), name, asked, cwd, user, trace: id("t"), face: "can", opened: now(), environment: {} },
      ...{ connected, root: rootOf(connected.peer, 0) },
      granterOf: (link) => stores.links.get(link)?.granter.agent ?? null,
    });
    const fault = specs === null ? null : this.pledge(session, specs);
    return fault === null ? { ok: true, value: session } : refusal("invalid_input", fault);
  }

  /** Closes the sessions whose token is revoked or has expired. How many there were. */
  closeRevoked(): number {
    const revoked = this.#sessions.all().filter((session) => session.isRevoked);
    for (const session of revoked) this.close(session);
    return revoked.length;
  }

  /** The client that an access token of an authorization server is for; null for a text that is none. */
  async accessToken(text: string, peer: Peer): Promise<Answer<OauthClient> | null> {
    const { accessTokens } = this.#parts;
    if (accessTokens?.isOne(text) !== true) return null;
    const client = await accessTokens.check(text);
    if (client.ok) return client;
    return this.#refused({ cwd: "/", asked: "an access token", user: null, trace: null, face: "http", peer }, client);
  }

  /** INVARIANT: a session with a token has the agent, the folder and the user of the token, whatever the client wrote. */
  async #presented(
    given: JsonObject,
    peer: Peer,
  ): Promise<Answer<{ readonly value: JsonObject; readonly id: string | null }>> {
    const bearer = member(given, "bearer");
    const client = typeof bearer === "string" ? await this.accessToken(bearer, peer) : null;
    if (client === null) {
      const opening = this.tokens.opening(given);
      return opening === null ? this.unknownToken(peer) : { ok: true, value: opening };
    }
    if (!client.ok) return client;
    return { ok: true, value: { id: client.value.id, value: openingOf(given, client.value) } };
  }

  #isValid(id: string): boolean {
    return id.startsWith("o_") ? this.#parts.accessTokens?.isValid(id) === true : this.tokens.isValid(id);
  }

  /** A token that is unknown, revoked or expired. */
  unknownToken(peer: Peer): Promise<Refusal> {
    return this.#refused({ cwd: "/", asked: "a client token", user: null, trace: null, face: "http", peer }, NO_TOKEN);
  }

  /** Logs a refused session. If that fails, the session is refused all the same. */
  async #refused({ cwd, asked, user, trace, face, peer }: RefusedOpening, refused: Refusal): Promise<Refusal> {
    const workspace = this.#parts.records.workspaceOf(cwd);
    const agent = asked.slice(0, toldCharactersMax);
    const facts = user === null ? null : (this.#parts.records.user(user)?.facts ?? null);
    const who = {
      user,
      ...principalIn(user, facts),
      agent,
      agents: [agent],
      workspace,
      chain: [],
      session: null,
      trace,
    };
    // Grouped by agent and user: the first few equal ones are written, the rest are counted.
    const requests = [`session.open ${asked.slice(0, toldCharactersMax)}${user === null ? "" : ` for ${user}`}`];
    const more = { face, terminal: peer.terminal, pid: peer.pid, requests, reason: refused.message };
    await this.#gatekeeper.writeRefused(who, refused.code, more);
    return refused;
  }

  #unknownUser(user: string | null, cwd: string, name: AgentName, hadRecord: boolean): Refusal | null {
    const blocked = this.#gatekeeper.holdings.blockedBy({ user, cwd, name }, hadRecord);
    if (blocked === null) return null;
    if (user !== null && this.#parts.records.user(user) !== null)
      return refusal(blocked.code, blocked.reason, `add the folder to \`workspaces\` in users/${user}.md`);
    const fix = user === null ? "name the user: --user NAME" : `create users/${user}.md beside your own config.yml`;
    if (hadRecord) return refusal(blocked.code, blocked.reason, fix);
    return refusal(blocked.code, `${blocked.reason}, and the configuration says \`users: required\``, fix);
  }

  /** Once; ends everything it still runs. */
  close(session: Session): void {
    if (session.isClosed) return;
    this.#sessions.remove(session);
    const { entries } = this.#gatekeeper;
    const more = { calls: session.calls, clean: session.isClean };
    void this.#parts.stores.ledger.append([entries.make("session", session.who(), "closed", { more })]);
  }

  /** The first invalid spec; null if the pledge applies. */
  pledge(session: Session, specs: readonly string[]): string | null {
    const reading = this.#parts.records.readingAt(session.facts.cwd);
    const { cwd, asked, hasOwnAuthority } = session.facts;
    const record = hasOwnAuthority === true ? null : this.#parts.records.record(cwd, asked);
    const root = record?.ok === true ? (record.value.reading.workingRoot ?? null) : null;
    const grants = parseSpecs(specs, reading, root);
    if (grants === null) return specFault("pledge", specs, reading);
    const empty = emptySpec("pledge", specs, grants);
    // Leaving the capability out says the same, so the line is a mistake.
    if (empty !== null) return empty;
    const link = pledgeLink(session, grants);
    if (link === null) return specFault("pledge", specs, reading);
    session.pledges.push(link);
    return null;
  }

  /** INVARIANT: another spelling of a user name does not bypass that user's record. */
  #misspelled(user: string): Refusal | null {
    if (this.#parts.records.user(user) !== null) return null;
    const names = this.#userNames();
    if (names === null) return refusal("not_available", "the records of users cannot be listed");
    const other = names.find((name) => name.toLowerCase() === user.toLowerCase());
    if (other === undefined) return null;
    return refusal(
      "invalid_input",
      `${user} differs from the user ${other} only in upper and lower case`,
      `--user ${other}`,
    );
  }

  #broughtName(cwd: string, { text, account }: SessionCaveats): Answer<NamedAgent> {
    const { name, notes } = this.#parts.records.caveats(cwd, text, account);
    return { ok: true, value: { name, notes } };
  }

  /** INVARIANT: the same process with the same text keeps its account, across sessions and daemon restarts. */
  #accountOf({ pid, start }: Peer, text: string): string {
    return `${pid} ${start} ${this.#parts.digest(text).slice(0, 24)}`;
  }

  #nameOf(cwd: string, asked: string, user: string | null): Answer<NamedAgent> {
    const { records, stores } = this.#parts;
    const found = records.record(cwd, asked);
    const plain: AgentName = { workspace: records.workspaceOf(cwd), agent: agentIdOf(asked) };
    const made = madeName(stores.links, plain, user);
    // A file outside of `.ambit` that has the name of a made agent may have been written by that agent.
    if (made !== null && (!found.ok || found.value.name.workspace === null))
      return { ok: true, value: { name: made, notes: [] } };
    if (found.ok) return { ok: true, value: { name: found.value.name, notes: found.value.notes } };
    const users = user === null ? madeNames(stores.links, plain).flatMap((name) => name.user ?? []) : [];
    if (users.length > 1)
      return refusal("unknown_agent", `several users have an agent ${plain.agent}`, `name one: --user ${users[0]}`);
    return refusal("unknown_agent", found.message, found.fix);
  }
}

const NO_TOKEN = refusal("unknown_token", "the token is unknown, revoked or expired", "ambit tokens add AGENT");

const NO_USER_NAME = refusal("invalid_input", "a user name has only letters, digits and . _ @ + -");

const TOO_MANY = refusal(
  "not_available",
  `this process and its children already have ${sessionsOfProcessMax} sessions`,
  "close some of them",
);

/** A pledge that does not mention tools does not limit which tools are called, only what they may do. */
function pledgeLink(session: Session, grants: readonly Grant[]): CompiledLink | null {
  const invoke = verbEntry("tool.invoke");
  if (invoke === null) return null;
  const anyTool: Grant = {
    verb: invoke,
    scopes: invoke.axes.map(() => ANY),
    conditions: UNCONDITIONAL,
    root: null,
    span: null,
    implied: "pledge",
  };
  const isSilent = !grants.some(({ verb }) => verb === invoke);
  return compile({
    id: `pledge ${session.facts.id} ${session.pledges.length}`,
    role: "limit",
    issuer: "session",
    holder: session.facts.name.agent,
    grants: isSilent ? [...grants, anyTool] : grants,
    validity: ALWAYS,
    calls: null,
  });
}

/** INVARIANT: never the first process, the ancestor of all others: then no process would count as a person's. */
function rootOf({ pid, start, ancestors }: Peer, level: number): ProcessMark {
  const below = ancestors.slice(0, level + 1).filter((one) => one.pid > 1);
  return below.at(-1) ?? { pid, start };
}

function environmentIn(value: JsonObject): Readonly<Record<string, string>> | null {
  const given = member(value, "environment");
  if (given === undefined || given === null) return {};
  if (!isJsonObject(given)) return null;
  const pairs = Object.entries(given);
  const isPlain = pairs.every(([, text]) => typeof text === "string" && text.length <= variableCharactersMax);
  return isPlain && pairs.length <= variablesMax ? (Object.fromEntries(pairs) as Record<string, string>) : null;
}
