// The messages of the `control` socket: what people may say. Those that widen or approve are refused to any process that
// descends from a session, and need presence where the user's configuration asks for it.
import type { JsonObject } from "../../base/json.ts";
import type { DraftMessages } from "../drafts.ts";
import type { KeyGiven, KeyShown, NewKey } from "../secret-key.ts";
import type { Approval, ApprovalState } from "../stores/approval-store.ts";
import type { AccountState } from "../stores/ledger.ts";
import type { KeptLink, MadeAgent } from "../stores/link-store.ts";
import type { LogQuery, PlacedEntry } from "../stores/log.ts";
import type { SecretBinding } from "../stores/secret-store.ts";
import type { SinkShown } from "../stores/sink.ts";

export interface DaemonStatus {
  readonly pid: number;
  readonly version: string;
  readonly protocol: number;
  readonly started: number;
  readonly state: string;
  readonly isFrozen: boolean;
  readonly sessions: readonly SessionShown[];
  readonly waiting: number;
  readonly entries: number;
  /** Of today, by code. */
  readonly denials: readonly { readonly code: string; readonly times: number }[];
  readonly sandboxes: number;
  readonly connections: number;
  readonly problems: readonly string[];
  /** The second copy of the log; null where none is kept. */
  readonly sink?: SinkShown | null;
  /** Where the key of the secrets comes from, and why none opens; null where none are kept. */
  readonly secrets?: KeyShown | null;
}

export interface SessionShown {
  readonly session: string;
  readonly agent: string;
  readonly workspace: string | null;
  readonly user: string | null;
  readonly face: string;
  readonly opened: number;
  readonly isClean: boolean;
  readonly calls: number;
  readonly running: number;
}

/** Proof that a person is there: a name and the passphrase typed for this one answer. */
export interface Presence {
  readonly name: string;
  readonly passphrase: string;
}

/** One step of the ladder: how far an approval may reach, in words and as what it would cover. */
export interface LadderStep {
  readonly name: string;
  readonly words: string;
  /** Null: exactly this call. */
  readonly specs: readonly string[] | null;
}

export interface ApprovalShown {
  readonly approval: Approval;
  readonly ladder: readonly LadderStep[];
}

export interface SecretShown {
  readonly name: string;
  readonly version: number;
  readonly binding: SecretBinding;
  readonly username: string | null;
  readonly isCanary: boolean;
  readonly used: number;
  readonly at: number;
}

export interface VerifyAnswer {
  readonly isIntact: boolean;
  readonly entries: number;
  readonly from: number;
  readonly head: { readonly place: number; readonly hash: string };
  readonly checkpoints: number;
  /** Entries behind the last checkpoint: chained, not yet signed. */
  readonly unsigned: number;
  readonly problems: readonly { readonly place: number; readonly what: string }[];
}

interface WithPresence {
  readonly presence: Presence | null;
}

/** A tool as a person is shown it. */
export interface ToolListed {
  readonly name: string;
  /** `builtin`, or the file or package it comes from. */
  readonly origin: string;
  readonly risk: string;
  /** What it declares to touch; null for ours, which ask for everything they do. */
  readonly declared: JsonObject | null;
  readonly available: boolean;
  /** Why it cannot run; or that nobody trusted it as it stands. */
  readonly why: string | null;
}

export type ControlMessages = DraftMessages & {
  /** Every tool there is in a folder's workspace, or those an agent's own record can ever allow. */
  readonly "tools.all": {
    readonly asks: { readonly cwd: string; readonly agent: string | null };
    readonly answers: {
      readonly tools: readonly ToolListed[];
      /** Files and packages that are not loaded. */
      readonly refused: readonly { readonly source: string; readonly why: string }[];
    };
  };
  readonly "daemon.status": { readonly asks: object; readonly answers: DaemonStatus };
  readonly "daemon.stop": { readonly asks: object; readonly answers: object };
  /** Whether this process may do something that widens: asked by commands that edit files themselves, before they do. */
  readonly "control.admit": {
    readonly asks: WithPresence & { readonly command: string; readonly what: string; readonly isWidening: boolean };
    readonly answers: { readonly entry: string };
  };
  readonly "presence.set": {
    readonly asks: WithPresence & { readonly name: string; readonly passphrase: string };
    readonly answers: object;
  };
  readonly "presence.list": { readonly asks: object; readonly answers: { readonly names: readonly string[] } };
  readonly "presence.delete": { readonly asks: WithPresence & { readonly name: string }; readonly answers: object };

  readonly "approvals.list": {
    readonly asks: { readonly states: readonly ApprovalState[]; readonly count: number };
    readonly answers: { readonly approvals: readonly Approval[] };
  };
  readonly "approvals.show": { readonly asks: { readonly id: string }; readonly answers: ApprovalShown };
  readonly "approvals.approve": {
    readonly asks: WithPresence & {
      readonly id: string;
      /** Name of a step of the ladder. */
      readonly step: string;
      readonly uses: number;
      readonly milliseconds: number;
    };
    /** Still pending where more people have to agree. */
    readonly answers: { readonly approval: Approval; readonly missing: number };
  };
  readonly "approvals.refuse": {
    readonly asks: { readonly id: string; readonly reason: string };
    readonly answers: { readonly approval: Approval };
  };
  /** Takes a refusal back: the question waits for an answer again. */
  readonly "approvals.reopen": {
    readonly asks: { readonly id: string; readonly presence: Presence | null };
    readonly answers: { readonly approval: Approval };
  };
  /** Lasts: an event `{approval}` for every change, those that wait now first. */
  readonly "approvals.watch": { readonly asks: object; readonly answers: object };

  readonly "log.query": { readonly asks: LogQuery; readonly answers: { readonly entries: readonly PlacedEntry[] } };
  /** Lasts: an event `{entries}` for everything new that fits. */
  readonly "log.follow": { readonly asks: LogQuery; readonly answers: object };
  readonly "log.entry": {
    readonly asks: { readonly id: string };
    readonly answers: { readonly entry: PlacedEntry; readonly more: readonly PlacedEntry[] };
  };
  readonly "audit.verify": {
    readonly asks: { readonly head: { readonly place: number; readonly hash: string } | null };
    readonly answers: VerifyAnswer;
  };
  /** Lasts: events `{lines}`; the answer is the last head. */
  readonly "audit.export": {
    readonly asks: { readonly from: number };
    readonly answers: { readonly place: number; readonly hash: string };
  };
  readonly "audit.key": { readonly asks: object; readonly answers: { readonly keys: readonly string[] } };
  readonly "audit.rotate": { readonly asks: WithPresence; readonly answers: { readonly key: string } };
  /** Removes what is older than so many days, up to the last checkpoint before. */
  readonly "audit.retain": {
    readonly asks: WithPresence & { readonly days: number };
    readonly answers: { readonly removed: number; readonly first: number };
  };
  readonly "accounts.list": {
    readonly asks: { readonly family: string | null };
    readonly answers: { readonly accounts: readonly AccountState[] };
  };

  readonly "links.list": {
    readonly asks: object;
    readonly answers: { readonly links: readonly KeptLink[]; readonly made: readonly MadeAgent[] };
  };
  readonly "links.revoke": {
    readonly asks: { readonly id: string; readonly kill: boolean };
    readonly answers: { readonly revoked: readonly string[]; readonly ended: number };
  };
  /** Every session of the agent ends, with what it runs; its warrants, links and tokens count no more. */
  readonly "agent.stop": {
    readonly asks: { readonly cwd: string; readonly agent: string };
    readonly answers: { readonly sessions: number; readonly ended: number; readonly links: number };
  };
  readonly freeze: { readonly asks: object; readonly answers: { readonly ended: number } };
  readonly thaw: { readonly asks: WithPresence; readonly answers: object };

  readonly "secrets.set": {
    readonly asks: WithPresence & {
      readonly name: string;
      readonly value: string;
      readonly binding: SecretBinding;
      readonly username: string | null;
      readonly isCanary: boolean;
      /** Rotating: the name must be there, and its binding stays. */
      readonly isRotation: boolean;
    };
    readonly answers: SecretShown;
  };
  readonly "secrets.list": { readonly asks: object; readonly answers: { readonly secrets: readonly SecretShown[] } };
  readonly "secrets.policy": {
    readonly asks: WithPresence & { readonly name: string; readonly binding: SecretBinding };
    readonly answers: SecretShown;
  };
  readonly "secrets.delete": { readonly asks: { readonly name: string }; readonly answers: object };
  /** Where the key comes from now. */
  readonly "secrets.source": { readonly asks: object; readonly answers: KeyShown };
  readonly "secrets.unlock": { readonly asks: KeyGiven; readonly answers: object };
  readonly "secrets.lock": { readonly asks: object; readonly answers: object };
  /** Seals every secret anew, under a key from there. */
  readonly "secrets.key": { readonly asks: WithPresence & { readonly key: NewKey }; readonly answers: object };
};
