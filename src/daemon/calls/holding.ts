// What a session holds at this moment: the agent's own record, what others delegated to it, and every limit around.
import type { Authority, Chain } from "../../core/authority/chain.ts";
import { type CompiledLink, compile } from "../../core/authority/compiled.ts";
import type { DenialCode } from "../../core/authority/decision.ts";
import type { Grant } from "../../core/authority/grant.ts";
import { readCompact } from "../../core/notation/compact/compact.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import type { Reading } from "../../core/notation/reading.ts";
import type { AgentName, KeptLink, LinkStore } from "../../core/ports/stores/link-store.ts";
import type { Approvers, RecordRead, RecordResult, Records } from "../parts.ts";
import type { Session, SessionFacts } from "../session.ts";

/** A delegation that goes deeper than this is none. */
export const delegationDepthMax = 16;
const heldLinksMax = 64;

export interface Holding {
  readonly authority: Authority;
  /** What it would be were every text trusted; null where all of them count. INVARIANT: nothing is allowed by it. */
  readonly written: (() => Authority) | null;
  /** For each chain the delegations it rests on, from the root down. */
  readonly links: readonly (readonly string[])[];
  readonly approvers: Approvers;
  /** What programs write waits for a person, by any record that it rests on. */
  readonly needsReview: boolean;
  readonly reading: Reading;
  readonly notes: readonly string[];
  readonly record: RecordRead | null;
  /** Why nothing at all is decided by it; null where it counts. */
  readonly blocked: Blocked | null;
}

export interface Blocked {
  readonly code: DenialCode;
  readonly reason: string;
}

function unknownUser(reason: string): Blocked {
  return { code: "unknown_user", reason };
}

/** Caveats that a session was opened with. */
export interface Brought {
  readonly text: string;
  /** What its calls are counted under. */
  readonly account: string;
}

/** A holding with everything it was made of. */
interface KeptHolding {
  readonly holding: Holding;
  readonly record: RecordRead;
  readonly user: UserRead | null;
  readonly pledges: number;
}

type UserRead = NonNullable<ReturnType<Records["user"]>>;

export class Holdings {
  readonly #records: Records;
  readonly #links: LinkStore;
  /** Grants of a delegation never change, so they are read once. */
  readonly #compiled = new Map<string, CompiledLink | null>();
  readonly #brought = new WeakMap<Session, Brought>();
  /** As long as everything is as it was, a session holds the same object, and whoever makes something of it keeps that. */
  readonly #kept = new WeakMap<Session, KeptHolding>();

  constructor(records: Records, links: LinkStore) {
    this.#records = records;
    this.#links = links;
  }

  /** A session that holds what it was opened with, and nothing that anybody wrote or delegated. */
  bring(session: Session, brought: Brought): void {
    this.#brought.set(session, brought);
  }

  /** INVARIANT: read anew for every call, so that an edit, a revocation or a pledge holds from the next call on. */
  of(session: Session): Holding | { readonly refused: string; readonly fix: string | null } {
    const { name, asked, cwd } = session.facts;
    const blocked = this.blockedBy(session.facts, session.hadUserRecord);
    if (blocked !== null) return { ...this.#nothing(cwd), blocked };
    session.hadUserRecord ||= session.facts.user !== null && this.#records.user(session.facts.user) !== null;
    const brought = this.#brought.get(session);
    if (brought !== undefined)
      return this.#ofRecord(this.#records.caveats(cwd, brought.text, brought.account), session);
    // A person's own text comes before an agent of the same id that another agent made.
    const found: RecordResult = this.#records.record(cwd, asked);
    // A text that now claims another id is another agent.
    const record = found.ok && sameName(found.value.name, name) ? found.value : null;
    const held = this.#links.heldBy(name);
    if (record !== null && held.length === 0) return this.#ofRecord(record, session);
    const made = record === null ? this.#links.made(name) : null;
    if (record === null && (made === null || made.ended !== null))
      return {
        refused: found.ok ? "its text is another agent's now" : found.message,
        fix: found.ok ? null : found.fix,
      };
    const limits = this.#limitsOf(session);
    const counting = new Texts(false);
    const chains: Chain[] = [];
    const links: (readonly string[])[] = [];
    for (const chain of counting.authorityOf(record)) {
      chains.push([...chain, ...limits]);
      links.push([]);
    }
    let approvers = record?.approvers ?? ANYBODY;
    let needsReview = record?.needsReview ?? false;
    for (const link of held.slice(0, heldLinksMax)) {
      // What was passed on by somebody who had read something untrusted was perhaps somebody else's idea.
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
      links,
      approvers,
      needsReview,
      reading: record?.reading ?? this.#records.readingAt(cwd),
      notes: record?.notes ?? [],
      record,
      blocked: null,
    };
  }

  /** Whether nothing is decided for a user: one whose ceiling is gone, or one that is not known where users have to be. */
  blockedBy({ user, cwd, name }: Pick<SessionFacts, "user" | "cwd" | "name">, hadRecord: boolean): Blocked | null {
    if (user !== null && this.#records.user(user) !== null) return null;
    if (hadRecord) return unknownUser(`the record of the user ${user}, which limits this session, was deleted`);
    const { workspace } = name;
    const isRequired =
      this.#records.isUserRequired(cwd) || (workspace !== null && this.#records.isUserRequired(workspace));
    if (!isRequired) return null;
    return unknownUser(user === null ? "sessions here require a user name" : `the user ${user} has no record`);
  }

  #nothing(cwd: string): Omit<Holding, "blocked"> {
    const reading = this.#records.readingAt(cwd);
    const nothing = { authority: [], written: null, links: [], approvers: ANYBODY, needsReview: true };
    return { ...nothing, reading, notes: [], record: null };
  }

  #written(record: RecordRead | null, held: readonly KeptLink[], limits: readonly CompiledLink[]): Authority {
    const texts = new Texts(true);
    const given = held.slice(0, heldLinksMax).flatMap((link) => this.#pathsOf(link, texts).map(({ chain }) => chain));
    return [...texts.authorityOf(record), ...given].map((chain): Chain => [...chain, ...limits]);
  }

  /** By a text alone, which is most sessions. What it is made of is an object that is made anew by every change. */
  #ofRecord(record: RecordRead, session: Session): Holding {
    const { facts, pledges } = session;
    const user = facts.user === null ? null : this.#records.user(facts.user);
    const kept = this.#kept.get(session);
    if (kept?.record === record && kept.user === user && kept.pledges === pledges.length) return kept.holding;
    const limits = [...(user?.authority.flat() ?? []), ...pledges];
    const authority = record.authority.map((chain): Chain => [...chain, ...limits]);
    const { approvers, needsReview, reading, notes, written: text } = record;
    const written = text === null ? null : (): Authority => text.map((chain): Chain => [...chain, ...limits]);
    const links = authority.map(() => []);
    const held = { authority, written, links, approvers, needsReview };
    const holding: Holding = { ...held, reading, notes, record, blocked: null };
    this.#kept.set(session, { holding, record, user, pledges: pledges.length });
    return holding;
  }

  #limitsOf({ facts, pledges }: Session): readonly CompiledLink[] {
    return [...(facts.user === null ? [] : this.#userLimits(facts.user)), ...pledges];
  }

  /** What an agent may hand on: each chain by itself, with the link that it came through. */
  passable(name: AgentName): readonly { readonly parent: string | null; readonly chain: Chain }[] {
    const own = this.#recordChains(name).map((chain) => ({ parent: null, chain }));
    const given = this.#links
      .heldBy(name)
      .slice(0, heldLinksMax)
      .flatMap((link) => this.#pathsOf(link, new Texts(false)).map(({ chain }) => ({ parent: link.id, chain })));
    return [...own, ...given];
  }

  #recordChains(name: AgentName): Authority {
    return this.#recordOf(name)?.authority ?? [];
  }

  #recordOf(name: AgentName): RecordRead | null {
    const found = this.#records.record(name.workspace ?? "/", name.agent);
    return found.ok && sameName(found.value.name, name) ? found.value : null;
  }

  /** From the record at the root down to this link. A link whose granter holds nothing any more leads nowhere. */
  #pathsOf(link: KeptLink, texts: Texts, depth = 0): readonly Path[] {
    const compiled = this.#compile(link);
    if (compiled === null || link.revoked !== null || depth >= delegationDepthMax) return [];
    const { countsWith } = link;
    if (countsWith !== undefined && this.#links.get(countsWith)?.revoked !== null) return [];
    // Whoever it was given for stands above it for good, whoever uses it.
    const limits = link.user === null ? [] : this.#userLimits(link.user);
    if (limits.length === 0 && link.isUserLimited === true) return [];
    const given = [compiled, ...limits];
    const own = countsWith === undefined ? [link.id] : [countsWith, link.id];
    const record = this.#recordOf(link.granter);
    const approvers = record?.approvers ?? ANYBODY;
    const needsReview = record?.needsReview ?? false;
    if (link.parent === null)
      return texts
        .authorityOf(record)
        .map((chain) => ({ chain: [...chain, ...given], links: own, approvers, needsReview }));
    const parent = this.#links.get(link.parent);
    if (parent === null || parent.holder === null || !sameName(parent.holder, link.granter)) return [];
    return this.#pathsOf(parent, texts, depth + 1).map((path) => ({
      chain: [...path.chain, ...given],
      links: [...path.links, ...own],
      approvers: strictest(path.approvers, approvers),
      needsReview: path.needsReview || needsReview,
    }));
  }

  #compile(link: KeptLink): CompiledLink | null {
    // A person's own text says which tools an agent calls; those of its maker are for an agent without one.
    const tools = link.holder !== null && this.#recordOf(link.holder) !== null ? [] : (link.tools ?? []);
    const key = `${link.id} ${tools.length}`;
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    const grants = grantsOf([...link.specs, ...tools], this.#records.readingAt(link.granter.workspace ?? "/"));
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

  /** A user without a record has no ceiling; one whose record cannot be believed can do nothing. */
  #userLimits(user: string): readonly CompiledLink[] {
    return this.#records.user(user)?.authority.flat() ?? [];
  }
}

/** Texts as they count, or as they are written; and whether that is two things for any that was looked at. */
class Texts {
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

interface Path {
  readonly chain: Chain;
  readonly links: readonly string[];
  /** What every record on the way asks for. */
  readonly approvers: Approvers;
  readonly needsReview: boolean;
}

const ANYBODY: Approvers = { need: 1, of: null };

/** As many people as either wants, and only those whom both name. */
function strictest(left: Approvers, right: Approvers): Approvers {
  const need = Math.max(left.need, right.need);
  if (left.of === null || right.of === null) return { need, of: left.of ?? right.of };
  const both = right.of;
  return { need, of: left.of.filter((name) => both.includes(name)) };
}

/** Null where one of them is not understood: what was meant cannot be known. */
export function grantsOf(specs: readonly string[], reading: Reading): readonly Grant[] | null {
  const diagnostics = new Diagnostics();
  const grants: Grant[] = [];
  for (const spec of specs) {
    const span = { source: "delegation", start: 0, end: spec.length };
    const grant = readCompact(spec, { reading, diagnostics, span, root: null });
    if (grant === null) return null;
    grants.push(grant);
  }
  return diagnostics.list.some(({ severity }) => severity === "error") ? null : grants;
}

export function sameName(left: AgentName, right: AgentName): boolean {
  return left.agent === right.agent && left.workspace === right.workspace;
}
