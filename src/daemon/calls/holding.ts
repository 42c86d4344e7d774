// What a session holds now: the agent's own record, delegations to it, and every limit around them.
import { type Authority, type Chain, narrowAuthority } from "../../core/authority/chain.ts";
import { type CompiledLink, compile } from "../../core/authority/compiled.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import { delegationDepthMax } from "../../core/authority/delegation.ts";
import type { RevokedAuthority } from "../../core/gate/decide.ts";
import { parseSpecs } from "../../core/notation/compact/grant-specs.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { limitedBy, type PolicyTable } from "../../core/notation/policy/policy.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { AgentName, LinkStore, StoredLink } from "../../core/ports/stores/link-store.ts";
import type { Approvers, RecordRead, RecordResult, Records } from "../parts.ts";
import type { Session, SessionFacts } from "../session.ts";
import { sameName } from "./agent-names.ts";

const heldLinksMax = 64;
/** Revoked delegations that a denial is compared with. */
const revokedLinksMax = 16;

export interface Holding {
  readonly authority: Authority;
  /** The authority if every file were trusted; null if all are. INVARIANT: nothing is allowed by it. */
  readonly written: (() => Authority) | null;
  /** What was held by delegations that were revoked, the last one first. INVARIANT: nothing is allowed by it. */
  readonly revoked: () => readonly RevokedAuthority[];
  /** For each chain the delegations it rests on, from the root down. */
  readonly links: readonly (readonly string[])[];
  readonly approvers: Approvers;
  /** A record it rests on requires approval for program changes. */
  readonly needsReview: boolean;
  readonly reading: Reading;
  readonly notes: readonly string[];
  readonly record: RecordRead | null;
  /** Why every call is denied; null if the holding is valid. */
  readonly blocked: BlockReason | null;
}

export interface BlockReason {
  readonly code: DenialCode;
  readonly reason: string;
}

type HoldingResult = Holding | { readonly refused: string; readonly fix: string | null };

function unknownUser(reason: string): BlockReason {
  return { code: "unknown_user", reason };
}

/** Caveats that a session was opened with. */
export interface SessionCaveats {
  readonly text: string;
  /** The account its calls are charged to. */
  readonly account: string;
}

/** A holding with all of its inputs. */
interface CachedHolding {
  readonly holding: Holding;
  readonly record: RecordRead;
  readonly user: UserRead | null;
  readonly pledges: number;
}

type UserRead = NonNullable<ReturnType<Records["user"]>>;

export class Holdings {
  readonly #records: Records;
  readonly #links: LinkStore;
  /** Grants of a delegation never change, so they are parsed once. */
  readonly #compiled = new Map<string, CompiledLink | null>();
  readonly #brought = new WeakMap<Session, SessionCaveats>();
  readonly #within = new WeakMap<Session, Session>();
  readonly #met = new WeakMap<Session, { readonly own: Holding; readonly above: Holding; readonly holding: Holding }>();
  /** The holding object stays the same while its inputs do, so derived values can be cached per object. */
  readonly #kept = new WeakMap<Session, CachedHolding>();

  constructor(records: Records, links: LinkStore) {
    this.#records = records;
    this.#links = links;
  }

  /** A session that holds the caveats it was opened with, and no record or delegation. */
  bring(session: Session, brought: SessionCaveats): void {
    this.#brought.set(session, brought);
  }

  /** From here on the session, of a client's sub-agent, holds nothing that the session of the client does not hold. */
  confine(session: Session, within: Session): void {
    this.#within.set(session, within);
    session.actBelow(within.facts.name.agent);
  }

  isWithin(session: Session, within: Session): boolean {
    return this.#within.get(session) === within;
  }

  /** INVARIANT: evaluated for every call, so that an edit, a revocation or a pledge applies from the next call on. */
  of(session: Session): HoldingResult {
    const own = this.#own(session);
    const within = this.#within.get(session);
    if (within === undefined || "refused" in own) return own;
    const above = this.of(within);
    if ("refused" in above) return above;
    const kept = this.#met.get(session);
    if (kept?.own === own && kept.above === above) return kept.holding;
    const holding = holdingWithin(own, above);
    this.#met.set(session, { own, above, holding });
    return holding;
  }

  #own(session: Session): HoldingResult {
    const { name, asked, cwd } = session.facts;
    const blocked = this.blockedBy(session.facts, session.hadUserRecord);
    if (blocked !== null) return { ...this.#nothing(cwd), blocked };
    const user = session.facts.user === null ? null : this.#records.user(session.facts.user);
    session.hadUserRecord ||= user !== null;
    session.describeUser(user?.facts ?? null);
    const brought = this.#brought.get(session);
    if (brought !== undefined)
      return this.#ofRecord(this.#records.caveats(cwd, brought.text, brought.account), session);
    // A record written by a person takes precedence over a created agent with the same id.
    const found: RecordResult = this.#records.record(cwd, asked);
    // A record that now has another id is another agent.
    const record = found.ok && sameName(found.value.name, name) ? found.value : null;
    const held = this.#links.heldBy(name);
    if (record !== null && held.length === 0) return this.#ofRecord(record, session);
    const made = record === null ? this.#links.made(name) : null;
    if (record === null && (made === null || made.ended !== null))
      return {
        refused: found.ok ? "its record now has another id" : found.message,
        // A fix for people may name other agents, which this one may not be allowed to find.
        fix: null,
      };
    const limits = this.#limitsOf(session);
    const counting = new RecordView(false);
    const chains: Chain[] = [];
    const links: (readonly string[])[] = [];
    for (const chain of counting.authorityOf(record)) {
      chains.push([...chain, ...limits]);
      links.push([]);
    }
    let approvers = record?.approvers ?? ANY_APPROVER;
    let needsReview = record?.needsReview ?? false;
    for (const link of held.slice(0, heldLinksMax)) {
      // A delegation from a session that had read untrusted data may not be the granter's own intent.
      if (!link.isClean) session.taint(`a delegation from a session that had read untrusted content (${link.id})`);
      for (const path of this.#pathsOf(link, counting)) {
        chains.push([...path.chain, ...limits]);
        links.push(path.links);
        approvers = strictest(approvers, path.approvers);
        needsReview ||= path.needsReview;
      }
    }
    return {
      authority: chains,
      written: counting.isAnyWaiting ? () => this.#written(record, held, limits) : null,
      revoked: () => this.#revoked(name, limits),
      links,
      approvers,
      needsReview,
      reading: record?.reading ?? this.#records.readingAt(cwd),
      notes: record?.notes ?? [],
      record,
      blocked: null,
    };
  }

  /** Whether every call of a user is denied: not a member of the workspace, its ceiling is gone, or it needs a record and has none. */
  blockedBy({ user, cwd, name }: Pick<SessionFacts, "user" | "cwd" | "name">, hadRecord: boolean): BlockReason | null {
    const known = user === null ? null : this.#records.user(user);
    if (known !== null) {
      const places = [...new Set([name.workspace, this.#records.workspaceOf(cwd)])];
      const apart = places.find((place) => !known.isMemberOf(place));
      if (apart === undefined) return null;
      return unknownUser(`the user ${user} is not a member of ${apart ?? "a folder outside of every workspace"}`);
    }
    if (hadRecord) return unknownUser(`the record of the user ${user}, which limits this session, was deleted`);
    const { workspace } = name;
    const isRequired =
      this.#records.isUserRequired(cwd) || (workspace !== null && this.#records.isUserRequired(workspace));
    if (!isRequired) return null;
    return unknownUser(user === null ? "sessions here require a user name" : `the user ${user} has no record`);
  }

  #nothing(cwd: string): Omit<Holding, "blocked"> {
    const reading = this.#records.readingAt(cwd);
    const nothing = {
      authority: [],
      written: null,
      revoked: () => [],
      links: [],
      approvers: ANY_APPROVER,
      needsReview: true,
    };
    return { ...nothing, reading, notes: [], record: null };
  }

  #written(record: RecordRead | null, held: readonly StoredLink[], limits: readonly CompiledLink[]): Authority {
    const texts = new RecordView(true);
    const given = held.slice(0, heldLinksMax).flatMap((link) => this.#pathsOf(link, texts).map(({ chain }) => chain));
    return narrowAuthority([...texts.authorityOf(record), ...given], limits);
  }

  /** Read when a call is denied, never for one that is allowed. */
  #revoked(name: AgentName, limits: readonly CompiledLink[]): readonly RevokedAuthority[] {
    const texts = new RecordView(false);
    return this.#links
      .all()
      .filter(({ holder, revoked }) => revoked !== null && holder !== null && sameName(holder, name))
      .slice(-revokedLinksMax)
      .reverse()
      .map((link) => ({
        authority: this.#pathsOf(link, texts, 0, true).map(({ chain }): Chain => [...chain, ...limits]),
        what: `${link.granter.agent} delegated ${link.specs.join(", ")} (${link.id}), which was revoked`,
      }));
  }

  /** For a record without delegations, which is the usual case. Every change of its inputs makes a new record object. */
  #ofRecord(record: RecordRead, session: Session): Holding {
    const { facts, pledges } = session;
    const user = facts.user === null ? null : this.#records.user(facts.user);
    const kept = this.#kept.get(session);
    if (kept?.record === record && kept.user === user && kept.pledges === pledges.length) return kept.holding;
    const limits = [...(user?.authority.flat() ?? []), ...pledges];
    const authority = narrowAuthority(record.authority, limits);
    const { approvers, needsReview, reading, notes, written: text } = record;
    const written = text === null ? null : (): Authority => narrowAuthority(text, limits);
    const links = authority.map(() => []);
    const revoked = (): readonly RevokedAuthority[] => this.#revoked(facts.name, limits);
    const held = { authority, written, revoked, links, approvers, needsReview };
    const holding: Holding = { ...held, reading, notes, record, blocked: null };
    this.#kept.set(session, { holding, record, user, pledges: pledges.length });
    return holding;
  }

  #limitsOf({ facts, pledges }: Session): readonly CompiledLink[] {
    return [...(facts.user === null ? [] : this.#userLimits(facts.user)), ...pledges];
  }

  /** What an agent may delegate: each chain separately, with the link that it came through. */
  passable(name: AgentName): readonly { readonly parent: string | null; readonly chain: Chain }[] {
    const own = this.#recordChains(name).map((chain) => ({ parent: null, chain }));
    const given = this.#links
      .heldBy(name)
      .slice(0, heldLinksMax)
      .flatMap((link) => this.#pathsOf(link, new RecordView(false)).map(({ chain }) => ({ parent: link.id, chain })));
    return [...own, ...given];
  }

  #recordChains(name: AgentName): Authority {
    return this.#recordOf(name)?.authority ?? [];
  }

  #recordOf(name: AgentName): RecordRead | null {
    const found = this.#records.record(name.workspace ?? "/", name.agent);
    return found.ok && sameName(found.value.name, name) ? found.value : null;
  }

  /** From the root record down to this link. A link whose granter holds nothing any more is invalid. */
  #pathsOf(link: StoredLink, texts: RecordView, depth = 0, isRevokedToo = false): readonly HeldChain[] {
    const compiled = this.#compile(link);
    if (compiled === null || (link.revoked !== null && !isRevokedToo) || depth >= delegationDepthMax) return [];
    const { countsWith } = link;
    if (countsWith !== undefined && !isRevokedToo && this.#links.get(countsWith)?.revoked !== null) return [];
    // The ceiling of the user it was granted for always applies, also to sessions of other users.
    const limits = link.user === null ? [] : this.#userLimits(link.user);
    if (limits.length === 0 && link.isUserLimited === true) return [];
    const given = [compiled, ...limits];
    const own = countsWith === undefined ? [link.id] : [countsWith, link.id];
    const record = this.#recordOf(link.granter);
    const approvers = record?.approvers ?? ANY_APPROVER;
    const needsReview = record?.needsReview ?? false;
    if (link.parent === null)
      return texts
        .authorityOf(record)
        .map((chain) => ({ chain: [...chain, ...given], links: own, approvers, needsReview }));
    const parent = this.#links.get(link.parent);
    if (parent === null || parent.holder === null || !sameName(parent.holder, link.granter)) return [];
    return this.#pathsOf(parent, texts, depth + 1, isRevokedToo).map((path) => ({
      chain: [...path.chain, ...given],
      links: [...path.links, ...own],
      approvers: strictest(path.approvers, approvers),
      needsReview: path.needsReview || needsReview,
    }));
  }

  #compile(link: StoredLink): CompiledLink | null {
    // A record written by a person defines an agent's tools; inherited tools are only for an agent without a record.
    const record = link.holder === null ? null : this.#recordOf(link.holder);
    const tools = record !== null ? [] : (link.tools ?? []);
    const limits: PolicyTable = record?.policyLimits ?? new Map();
    const key = `${link.id} ${tools.length} ${[...limits].join(" ")}`;
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    const given = parseSpecs([...link.specs, ...tools], this.#records.readingAt(link.granter.workspace ?? "/"));
    const grants = given === null ? null : limitedBy(limits, given, new Diagnostics());
    const holder = link.holder === null ? "token" : link.holder.agent;
    const compiled =
      grants === null
        ? null
        : compile({
            id: link.id,
            role: "own",
            issuer: link.granter.agent,
            holder,
            grants,
            validity: { notBefore: null, expires: link.expires, generations: null },
            calls: link.calls,
          });
    this.#compiled.set(key, compiled);
    return compiled;
  }

  /** A user without a record has no ceiling; one with an invalid record can do nothing. */
  #userLimits(user: string): readonly CompiledLink[] {
    return this.#records.user(user)?.authority.flat() ?? [];
  }
}

/** Reads records as trusted or as written, and notes whether the two differ for any record read. */
class RecordView {
  readonly #isWritten: boolean;
  isAnyWaiting = false;

  constructor(isWritten: boolean) {
    this.#isWritten = isWritten;
  }

  authorityOf(record: RecordRead | null): Authority {
    if (record === null) return [];
    if (record.written === null) return record.authority;
    this.isAnyWaiting = true;
    return this.#isWritten ? record.written : record.authority;
  }
}

interface HeldChain {
  readonly chain: Chain;
  readonly links: readonly string[];
  /** Required approvers over all records of the chain. */
  readonly approvers: Approvers;
  readonly needsReview: boolean;
}

/** Fewer chains only narrow. */
const chainsMax = 256;

/** INVARIANT: every chain has all links of one that the session above holds, as limits: it allows nothing that they do not. */
function holdingWithin(own: Holding, above: Holding): Holding {
  const pairs = own.authority.flatMap((chain, at) =>
    above.authority.map((limits, aboveAt) => ({
      chain: [...chain, ...limits.map(asLimit)] as unknown as Chain,
      links: [...(own.links[at] ?? []), ...(above.links[aboveAt] ?? [])],
    })),
  );
  const taken = pairs.slice(0, chainsMax);
  const { written } = own;
  const limitsWritten = (): Authority => above.written?.() ?? above.authority;
  return {
    ...own,
    authority: taken.map(({ chain }) => chain),
    written:
      written === null && above.written === null
        ? null
        : () =>
            (written?.() ?? own.authority)
              .flatMap((chain) =>
                limitsWritten().map((limits) => [...chain, ...limits.map(asLimit)] as unknown as Chain),
              )
              .slice(0, chainsMax),
    revoked: () => [],
    links: taken.map(({ links }) => links),
    approvers: strictest(own.approvers, above.approvers),
    needsReview: own.needsReview || above.needsReview,
    blocked: own.blocked ?? above.blocked,
  };
}

/** The same grants and accounts, for a holder of another record. */
function asLimit(compiled: CompiledLink): CompiledLink {
  return compiled.link.role === "limit" ? compiled : compile({ ...compiled.link, role: "limit" });
}

const ANY_APPROVER: Approvers = { need: 1, of: null };

/** The higher number of approvers, and only those that both name. */
function strictest(left: Approvers, right: Approvers): Approvers {
  const need = Math.max(left.need, right.need);
  if (left.of === null || right.of === null) return { need, of: left.of ?? right.of };
  const both = right.of;
  return { need, of: left.of.filter((name) => both.includes(name)) };
}
