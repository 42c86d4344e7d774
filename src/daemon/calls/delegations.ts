// Delegations: agents that grant to others, create agents, or hand out tokens. Each is a link with a parent, valid until it or
// a link above it is revoked.
import type { Chain } from "../../core/authority/chain.ts";
import { type CompiledLink, compile } from "../../core/authority/compiled.ts";
import { delegationFault, hasBudget, lastingPart } from "../../core/authority/delegation.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import { meetChain, meetGrants } from "../../core/authority/meet.ts";
import type { Request } from "../../core/authority/request.ts";
import { withinEach } from "../../core/authority/witness/within.ts";
import { alikeAgentId } from "../../core/base/agent-id.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Result } from "../../core/base/result.ts";
import { compactText } from "../../core/notation/printer.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import type { AgentName, CreatedAgent, StoredLink } from "../../core/ports/stores/link-store.ts";
import type { Who } from "../../core/ports/stores/log.ts";
import { countSchema, flagSchema, objectSchema, textSchema, textsSchema } from "../../runtime/tool/schema-parts.ts";
import { flagIn, numberOr, textIn, textsIn } from "../input.ts";
import type { Entries } from "../log/entries.ts";
import type { DaemonParts, GrantLimits } from "../parts.ts";
import type { Session } from "../session.ts";
import type { ExecutionResult, OwnerTool } from "../tools/owner-tool.ts";
import { agentIdIn, creationRequests, delegationRequests, idCharactersMax, specsMax } from "./delegation-requests.ts";
import { delegationDepthMax, grantsOf, type Holdings } from "./holding.ts";

const bodyCharactersMax = 65_536;
const secondsMax = 10 * 365 * 86_400;
const linksMax = 100_000;

const GRANTS = textsSchema("Grant specs, such as net.get{hosts=[api.example.com]}.", specsMax, 4096);
const SECONDS = countSchema("The delegation expires after this many seconds.", 1, secondsMax);
const CALLS = countSchema("The delegation covers at most this many calls.", 1, Number.MAX_SAFE_INTEGER);

const ATTENUATE = flagSchema(
  "Delegate the part of `grants` that you may pass on, and list in `left_out` what you may not, instead of failing.",
);

export const tokenStart = "ambit-token";

export class Delegations {
  readonly #parts: DaemonParts;
  readonly #entries: Entries;
  readonly #holdings: Holdings;

  constructor(parts: DaemonParts, entries: Entries, holdings: Holdings) {
    this.#parts = parts;
    this.#entries = entries;
    this.#holdings = holdings;
  }

  tools(): readonly OwnerTool[] {
    return [
      {
        name: "agent_grant",
        description:
          "Delegate some of your grants to another agent, or create a token for it. You cannot delegate more than you hold; the " +
          "delegation ends when your own grants end.",
        input: objectSchema(
          {
            agent: textSchema("The id of the receiving agent.", 1, idCharactersMax),
            grants: GRANTS,
            seconds: SECONDS,
            calls: CALLS,
            token: flagSchema("Return a token that the other agent claims, instead of delegating immediately."),
            write: flagSchema(
              "Write the grants into the other agent's record instead of delegating. They have no effect until a person trusts the change.",
            ),
            attenuate: ATTENUATE,
          },
          ["agent", "grants"],
        ),
        verbs: ["agent.grant"],
        requests: (input, reading, session) =>
          this.#narrowed(delegationRequests(input, "agent", reading), input, session),
        execute: ({ input, session, warrant }) => this.#grant(input, session, warrant.requests),
      },
      {
        name: "agent_create",
        description: "Create a child agent with instructions and some of your grants. Its grants end when yours do.",
        input: objectSchema(
          {
            id: textSchema("The id of the new agent.", 1, idCharactersMax),
            instructions: textSchema("The instructions of the new agent.", 0, bodyCharactersMax),
            grants: GRANTS,
            seconds: SECONDS,
            calls: CALLS,
            write: flagSchema(
              "Also keep the new agent as a record. It can work once a person has trusted the record, and then outlives your grants.",
            ),
            attenuate: ATTENUATE,
          },
          ["id", "instructions"],
        ),
        verbs: ["agent.create"],
        requests: (input, reading, session) => this.#narrowed(creationRequests(input, reading), input, session),
        execute: ({ input, session, warrant }) => this.#create(input, session, warrant.requests),
      },
    ];
  }

  /** Claims a token as a link of this agent; null if it is invalid or meant for another agent. */
  async claim(token: string, name: AgentName, who: Who): Promise<StoredLink | null> {
    const [start, id, secret, ...rest] = token.split(".");
    if (start !== tokenStart || id === undefined || secret === undefined || rest.length > 0) return null;
    const { stores } = this.#parts;
    const entry = this.#entries.make("delegation", who, "claimed", { of: id });
    const claimed = await stores.links.claim(id, this.#tokenDigest(secret, name), name, entry);
    return claimed.ok ? claimed.value : null;
  }

  /** INVARIANT: only the agent that a token was made for has the digest. */
  #tokenDigest(secret: string, { workspace, agent }: AgentName): string {
    return this.#parts.digest(JSON.stringify([secret, workspace, agent]));
  }

  #grant(input: JsonObject, session: Session, requests: readonly Request[]): Promise<ExecutionResult> {
    const target = agentIdIn(input, "agent");
    return target === null ? Promise.resolve(BAD) : this.#make(input, session, requests, target, null);
  }

  #create(input: JsonObject, session: Session, requests: readonly Request[]): Promise<ExecutionResult> {
    const target = agentIdIn(input, "id");
    const body = textIn(input, "instructions", bodyCharactersMax);
    return target === null || body === null ? Promise.resolve(BAD) : this.#make(input, session, requests, target, body);
  }

  async #make(
    input: JsonObject,
    session: Session,
    requests: readonly Request[],
    target: string,
    body: string | null,
  ): Promise<ExecutionResult> {
    const { stores, now, id, records } = this.#parts;
    const { name } = session.facts;
    const seconds = numberOr(input, "seconds", 0, 1, secondsMax);
    const calls = numberOr(input, "calls", 0, 1, Number.MAX_SAFE_INTEGER);
    const proposed = requests.find(({ delegation: given }) => given !== undefined)?.delegation?.proposed ?? null;
    if (seconds === null || calls === null || proposed === null) return BAD;
    if (stores.links.all().length >= linksMax) return refused("quota", "there are too many delegations");
    if (session.pledges.some(isCounted))
      return refused(
        "exceeds_grantor_authority",
        "this session's pledge has a budget or an expiry and cannot be delegated",
      );
    const isWritten = flagIn(input, "write");
    const parent = this.#parentFor(session, target, proposed, isWritten);
    if (!parent.ok) return parent;
    // Whole seconds: the moment is written into the record for people to read.
    const expires = seconds === 0 ? null : Math.floor(now() / 1000 + seconds) * 1000;
    const limits: GrantLimits = { expires, calls: calls === 0 ? null : calls };
    if (isWritten && body === null) return this.#write(input, session, parent.value, target, proposed, limits);
    // INVARIANT: a delegation adds only its written grants to an existing agent.
    const tools = body === null || proposed.some(isAboutTools) ? null : this.#toolsFor(session, target, parent.value);
    const holder: AgentName = { workspace: name.workspace, agent: target };
    if (body !== null && this.#exists(session, holder))
      return refused("invalid_input", `the agent ${target} already exists`);
    const alike = alikeAgentId(target, this.#ids(session));
    if (alike !== null) return refused("invalid_input", `${target} reads like the agent ${alike}`);
    const secret = flagIn(input, "token") && body === null ? `${id("t")}${id("t")}` : null;
    const link: StoredLink = {
      id: id("l"),
      parent: parent.value,
      granter: name,
      holder: secret === null ? holder : null,
      specs: proposed.map(compactText),
      ...(tools !== null && tools.parent === parent.value ? { tools: tools.grants.map(compactText) } : {}),
      calls: limits.calls,
      made: now(),
      expires: seconds === 0 ? null : now() + seconds * 1000,
      token: secret === null ? null : this.#tokenDigest(secret, holder),
      revoked: null,
      user: session.facts.user,
      isClean: session.isClean,
      isUserLimited: session.facts.user !== null && records.user(session.facts.user) !== null,
    };
    const toolsLink: StoredLink | null =
      tools === null || tools.parent === parent.value
        ? null
        : {
            ...link,
            id: id("l"),
            parent: tools.parent,
            specs: [],
            tools: tools.grants.map(compactText),
            countsWith: link.id,
          };
    const made: CreatedAgent | null =
      body === null ? null : { name: holder, creator: name, link: link.id, body, made: now(), ended: null };
    const specs = [...link.specs, ...(tools?.grants.map(compactText) ?? [])];
    const more = { to: target, grants: specs, parent: link.parent, expires: link.expires, calls: link.calls };
    const entry = this.#entries.make(
      "delegation",
      session.who(this.#above(link.parent)),
      made === null ? "granted" : "created",
      {
        of: link.id,
        more,
      },
    );
    const stored = await stores.links.make(link, made, entry, toolsLink);
    if (!stored.ok) return stored;
    if (stored.value === null) return refused("not_available", "the delegation could not be stored; call again");
    const file = isWritten ? this.#parts.agentRecords.create(holder, link.specs, limits, body ?? "") : null;
    const token = secret === null ? null : `${tokenStart}.${link.id}.${secret}`;
    const omitted = flagIn(input, "attenuate") ? { left_out: this.#leftOut(input, session, proposed) } : {};
    const record = file === null ? {} : file.ok ? { record: file.value, waits: WAITS } : { not_kept: file.message };
    const value = { link: link.id, agent: target, grants: specs, token, ...omitted, ...record };
    return { ok: true, value, isUntrusted: false };
  }

  /** No link: the record says it, once a person trusts the change. Its end and its budget are written with it. */
  async #write(
    input: JsonObject,
    session: Session,
    parent: string | null,
    target: string,
    proposed: readonly Grant[],
    limits: GrantLimits,
  ): Promise<ExecutionResult> {
    const { agentRecords, stores } = this.#parts;
    const holder: AgentName = { workspace: session.facts.name.workspace, agent: target };
    if (flagIn(input, "token")) return refused("invalid_input", "a token is a delegation, and cannot be written");
    const grants = proposed.map(compactText);
    const more = { to: target, grants, parent, expires: limits.expires, calls: limits.calls };
    const entry = this.#entries.make("delegation", session.who(this.#above(parent)), "written", { of: target, more });
    // INVARIANT: the entry is on disk before the file changes.
    const noted = await stores.ledger.append([entry]);
    if (!noted.ok) return noted;
    const written = agentRecords.grant(holder, grants, limits);
    if (!written.ok) return refused("not_available", written.message);
    return { ok: true, value: { agent: target, grants, record: written.value, waits: WAITS }, isUntrusted: false };
  }

  /** With `attenuate` what is proposed is met with what one of the agent's authorities may pass on: the one that passes most. */
  #narrowed(asked: Result<readonly Request[]>, input: JsonObject, session: Session): Result<readonly Request[]> {
    if (!asked.ok || !flagIn(input, "attenuate")) return asked;
    return done(
      asked.value.map((request) => {
        if (request.delegation === undefined) return request;
        const { target, proposed } = request.delegation;
        const met = this.#passablePart(session, target, proposed);
        // Nothing of it is the agent's: as proposed it is denied, with an example of what is missing.
        return met.length === 0 ? request : { ...request, delegation: { target, proposed: met } };
      }),
    );
  }

  #passablePart(session: Session, target: string, proposed: readonly Grant[]): readonly Grant[] {
    const { name } = session.facts;
    const { protectedPaths } = this.#parts.records.readingAt(session.facts.cwd).ground;
    let most: readonly Grant[] = [];
    for (const { chain } of this.#holdings.passable(name)) {
      const held: Chain = [...chain, ...session.pledges];
      const met = meetGrants(passedOn(held), proposed).grants;
      // INVARIANT: what is passed on is shown to be the agent's own, grant by grant; the meet alone is no proof.
      const granter = { id: name.agent, authority: [held] };
      const shown = met.filter((grant) => delegationFault(granter, target, [grant], protectedPaths) === null);
      if (shown.length > most.length) most = shown;
    }
    return most;
  }

  /** Each grant that was not passed on whole, with a request that the other agent cannot make. */
  #leftOut(input: JsonObject, session: Session, passed: readonly Grant[]): readonly JsonObject[] {
    const reading = this.#parts.records.readingAt(session.facts.cwd);
    const specs = textsIn(input, "grants", specsMax) ?? [];
    const asked = grantsOf(specs, reading) ?? [];
    const link = { id: "passed", role: "own", issuer: "", holder: "", validity: ALWAYS, calls: null } as const;
    const authority = [[compile({ ...link, grants: passed })] as const];
    const { protectedPaths } = reading.ground;
    return withinEach(asked, authority, { protectedPaths, delegating: true }).flatMap((found, at) =>
      found.kind === "within"
        ? []
        : [{ grant: specs[at] ?? "", example: found.kind === "exceeds" ? requestText(found.request) : null }],
    );
  }

  /** From the root down to this link. */
  #above(id: string | null): readonly string[] {
    const path: string[] = [];
    for (
      let at = id;
      at !== null && path.length <= delegationDepthMax;
      at = this.#parts.stores.links.get(at)?.parent ?? null
    )
      path.unshift(at);
    return path;
  }

  /** Agents of the session's workspace, with a record or created. */
  #ids({ facts }: Session): readonly string[] {
    const { stores, records } = this.#parts;
    const made = stores.links
      .allMade()
      .filter(({ name, ended }) => ended === null && isSameWorkspace(name, facts.name));
    return [...records.agentIds(facts.cwd), ...made.map(({ name }) => name.agent)];
  }

  #exists(session: Session, { workspace, agent }: AgentName): boolean {
    const { stores, records } = this.#parts;
    return stores.links.made({ workspace, agent })?.ended === null || records.record(session.facts.cwd, agent).ok;
  }

  /**
   * The creator's tools, used if the new agent's grants do not mention tools: those of the chain that covers the other grants,
   * else of the first chain that has any. INVARIANT: never more than the creator may delegate in this session.
   */
  #toolsFor(session: Session, target: string, preferred: string | null): ToolsGiven | null {
    const { name } = session.facts;
    const { protectedPaths } = this.#parts.records.readingAt(session.facts.cwd).ground;
    const chains = [...this.#holdings.passable(name)].sort(
      (left, right) => Number(right.parent === preferred) - Number(left.parent === preferred),
    );
    for (const { parent, chain } of chains) {
      const held: Chain = [...chain, ...session.pledges];
      const grants = passedOn(held).filter(isAboutTools);
      const isHeld = delegationFault({ id: name.agent, authority: [held] }, target, grants, protectedPaths) === null;
      if (grants.length > 0 && isHeld && chain.length <= delegationDepthMax) return { parent, grants };
    }
    return null;
  }

  /**
   * The one chain that covers all grants by itself. Grants that only several chains cover have to be delegated separately.
   * INVARIANT: what is written into a record rests on nothing that is counted or ends: no call by the record is charged above.
   */
  #parentFor(
    session: Session,
    target: string,
    proposed: readonly Grant[],
    isWritten: boolean,
  ): { readonly ok: true; readonly value: string | null } | Extract<ExecutionResult, { ok: false }> {
    const { name } = session.facts;
    const { protectedPaths } = this.#parts.records.readingAt(session.facts.cwd).ground;
    const user = session.facts.user === null ? null : this.#parts.records.user(session.facts.user);
    let depth = 0;
    let isLimited = false;
    for (const { parent, chain } of this.#holdings.passable(name)) {
      depth = chain.length;
      const held: Chain = [...chain, ...session.pledges];
      const granter = { id: name.agent, authority: [held] };
      if (delegationFault(granter, target, proposed, protectedPaths) !== null) continue;
      if (chain.length > delegationDepthMax) break;
      if (!isWritten) return { ok: true, value: parent };
      const lasting = { id: name.agent, authority: [lastingPart([...held, ...(user?.authority.flat() ?? [])])] };
      if (delegationFault(lasting, target, proposed, protectedPaths) === null) return { ok: true, value: parent };
      isLimited = true;
    }
    if (isLimited) return refused("exceeds_grantor_authority", LIMITED);
    return refused(
      "exceeds_grantor_authority",
      depth > delegationDepthMax
        ? `grants can be delegated at most ${delegationDepthMax} times in a row`
        : "no single one of your authorities covers all of it: delegate it in parts",
    );
  }
}

interface ToolsGiven {
  /** The parent link; null for the creator's own record. */
  readonly parent: string | null;
  readonly grants: readonly Grant[];
}

/** What a chain allows its holder to pass on, written out. */
function passedOn(chain: Chain): readonly Grant[] {
  return meetChain(chain)
    .grants.filter((grant) => grant.conditions.pass !== "use")
    .map((grant): Grant => ({ ...grant, conditions: { ...grant.conditions, pass: "both" } }));
}

function isSameWorkspace(left: AgentName, right: AgentName): boolean {
  return left.workspace === right.workspace;
}

function isAboutTools({ verb }: Grant): boolean {
  return verb.verb === "tool.invoke";
}

/** A pledge belongs only to its session's chains: its budgets would not be charged below. */
function isCounted({ link }: CompiledLink): boolean {
  return link.grants.some((grant) => hasBudget(grant) || grant.conditions.expires !== null);
}

/** For the model: who has to do what. */
const WAITS = "no effect until a person reviews it: ambit trust";

const LIMITED = "what you hold of it has a budget, a rate or an end, so it cannot be written: call it without `write`";

const BAD: ExecutionResult = {
  ok: false,
  code: "invalid_input",
  message: "needs an agent's id, and grants as a list of specs such as net.get{hosts=[api.example.com]}",
};

function refused(code: string, message: string): Extract<ExecutionResult, { ok: false }> {
  return { ok: false, code, message };
}
