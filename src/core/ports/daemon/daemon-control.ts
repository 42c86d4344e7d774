// Messages of the `control` socket, for people. Messages that widen authority or approve are refused to any process that
// descends from a session, and need presence where the user's configuration requires it.
import type { JsonObject } from "../../base/json.ts";
import type { DraftMessages } from "../drafts.ts";
import type { KeyInput, KeyStatus, NewKey } from "../secret-key.ts";
import type { Approval, ApprovalState } from "../stores/approval-store.ts";
import type { AccountState } from "../stores/ledger.ts";
import type { CreatedAgent, StoredLink } from "../stores/link-store.ts";
import type { ChainedEntry, LogQuery } from "../stores/log.ts";
import type { SecretBinding } from "../stores/secret-store.ts";
import type { SinkStatus } from "../stores/sink.ts";
import type { DecisionView, HoldingRequest, HoldingView } from "./holding-view.ts";
import type { ServerMessages } from "./server-messages.ts";
import type { StoreMessages } from "./store-messages.ts";
import type { BudgetMessages, ScheduleMessages, TaskMessages } from "./task-messages.ts";

export interface DaemonStatus {
  readonly pid: number;
  readonly version: string;
  readonly protocol: number;
  readonly started: number;
  readonly state: string;
  readonly isFrozen: boolean;
  readonly sessions: readonly SessionView[];
  readonly waiting: number;
  readonly entries: number;
  /** Today's denials, by code. */
  readonly denials: readonly { readonly code: string; readonly times: number }[];
  readonly sandboxes: number;
  readonly connections: number;
  readonly problems: readonly string[];
  /** The second copy of the log; null if none is configured. */
  readonly sink?: SinkStatus | null;
  /** Source of the secret store's key, and why it is locked; null if there is no secret store. */
  readonly secrets?: KeyStatus | null;
}

export interface SessionView {
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

/** Proof of presence: a name and the passphrase typed for this one answer. */
export interface Presence {
  readonly name: string;
  readonly passphrase: string;
}

/** One step of the approval ladder: how far an approval may reach, in words and as the grants it would cover. */
export interface LadderStep {
  readonly name: string;
  readonly words: string;
  /** Null: exactly this call. */
  readonly specs: readonly string[] | null;
}

export interface ApprovalView {
  readonly approval: Approval;
  readonly ladder: readonly LadderStep[];
}

export interface SecretView {
  readonly name: string;
  readonly version: number;
  readonly binding: SecretBinding;
  readonly username: string | null;
  readonly isCanary: boolean;
  readonly used: number;
  readonly at: number;
}

export interface VerifyReport {
  readonly isIntact: boolean;
  readonly entries: number;
  readonly from: number;
  readonly head: { readonly place: number; readonly hash: string };
  readonly checkpoints: number;
  /** Entries after the last checkpoint: chained, not yet signed. */
  readonly unsigned: number;
  readonly problems: readonly { readonly place: number; readonly what: string }[];
}

export interface WithPresence {
  readonly presence: Presence | null;
}

/** A tool as shown to a person. */
export interface ToolDetails {
  readonly name: string;
  /** `builtin`, or the file or package it comes from. */
  readonly origin: string;
  readonly risk: string;
  /** Its declaration; null for built-in tools, which request everything they do. */
  readonly declared: JsonObject | null;
  readonly available: boolean;
  readonly description: string;
  /** JSON Schema of its input. */
  readonly input: JsonObject;
  /** Arguments that the schema accepts; null if none could be made from it. */
  readonly example: JsonObject | null;
  /** Why it cannot run; or that its current content is not trusted. */
  readonly why: string | null;
}

/** A token that a client of the HTTP server presents, without the token. */
export interface ClientTokenView {
  readonly id: string;
  readonly agent: string;
  readonly cwd: string;
  readonly user: string | null;
  readonly created: number;
  readonly expires: number;
}

type SharedMessages = DraftMessages & TaskMessages & ScheduleMessages & BudgetMessages & StoreMessages & ServerMessages;

export type ControlMessages = SharedMessages & {
  /** All tools of a folder's workspace, or those an agent's own record can ever allow. */
  readonly "tools.all": {
    readonly asks: { readonly cwd: string; readonly agent: string | null };
    readonly answers: {
      readonly tools: readonly ToolDetails[];
      /** Files and packages that are not loaded. */
      readonly refused: readonly { readonly source: string; readonly why: string }[];
    };
  };
  /** The token is in this answer alone; the state has its digest. */
  readonly "tokens.add": {
    readonly asks: WithPresence & {
      readonly cwd: string;
      readonly agent: string;
      readonly user: string | null;
      readonly milliseconds: number;
    };
    readonly answers: { readonly id: string; readonly token: string; readonly expires: number };
  };
  readonly "tokens.list": { readonly asks: object; readonly answers: { readonly tokens: readonly ClientTokenView[] } };
  /** Ends the sessions it opened, and what they run. */
  readonly "tokens.revoke": { readonly asks: { readonly id: string }; readonly answers: { readonly sessions: number } };
  readonly "daemon.status": { readonly asks: object; readonly answers: DaemonStatus };
  /** `ifIdle`: only if no session is open and nothing runs. */
  readonly "daemon.stop": {
    readonly asks: { readonly ifIdle?: boolean };
    readonly answers: { readonly isStopping?: boolean };
  };
  /** Whether this process may widen authority: asked by commands before they edit files themselves. */
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
  readonly "approvals.show": { readonly asks: { readonly id: string }; readonly answers: ApprovalView };
  readonly "approvals.approve": {
    readonly asks: WithPresence & {
      readonly id: string;
      /** Name of a step of the approval ladder. */
      readonly step: string;
      readonly uses: number;
      readonly milliseconds: number;
    };
    /** Still pending if more approvers have to agree. */
    readonly answers: { readonly approval: Approval; readonly missing: number };
  };
  readonly "approvals.refuse": {
    readonly asks: { readonly id: string; readonly reason: string };
    readonly answers: { readonly approval: Approval };
  };
  /** Withdraws a refusal: the approval is pending again. */
  readonly "approvals.reopen": {
    readonly asks: { readonly id: string; readonly presence: Presence | null };
    readonly answers: { readonly approval: Approval };
  };
  /** Long-running: an event `{approval}` for every change; pending approvals come first. */
  readonly "approvals.watch": { readonly asks: object; readonly answers: object };

  readonly "log.query": { readonly asks: LogQuery; readonly answers: { readonly entries: readonly ChainedEntry[] } };
  /** Long-running: an event `{entries}` for new matching entries. */
  readonly "log.follow": { readonly asks: LogQuery; readonly answers: object };
  readonly "log.entry": {
    readonly asks: { readonly id: string };
    readonly answers: { readonly entry: ChainedEntry; readonly more: readonly ChainedEntry[] };
  };
  readonly "audit.verify": {
    readonly asks: { readonly head: { readonly place: number; readonly hash: string } | null };
    readonly answers: VerifyReport;
  };
  /** Long-running: events `{lines}`; the response is the last head. */
  readonly "audit.export": {
    readonly asks: { readonly from: number };
    readonly answers: { readonly place: number; readonly hash: string };
  };
  readonly "audit.key": { readonly asks: object; readonly answers: { readonly keys: readonly string[] } };
  readonly "audit.rotate": { readonly asks: WithPresence; readonly answers: { readonly key: string } };
  /** Removes entries older than that many days, up to the last checkpoint before. */
  readonly "audit.retain": {
    readonly asks: WithPresence & { readonly days: number };
    readonly answers: { readonly removed: number; readonly first: number };
  };
  readonly "accounts.list": {
    readonly asks: { readonly family: string | null };
    readonly answers: { readonly accounts: readonly AccountState[] };
  };

  /** What an agent holds now, as a session of it would. */
  readonly "agent.holding": { readonly asks: HoldingRequest; readonly answers: HoldingView };
  /** How a request of it would be decided now, without asking, charging or logging. */
  readonly "agent.decide": {
    readonly asks: HoldingRequest & { readonly request: readonly string[] };
    readonly answers: DecisionView;
  };
  readonly "links.list": {
    readonly asks: object;
    readonly answers: { readonly links: readonly StoredLink[]; readonly made: readonly CreatedAgent[] };
  };
  readonly "links.revoke": {
    readonly asks: { readonly id: string; readonly kill: boolean };
    readonly answers: { readonly revoked: readonly string[]; readonly ended: number };
  };
  /** Ends every session of the agent and its processes; its warrants, links and tokens become invalid. */
  readonly "agent.stop": {
    readonly asks: { readonly cwd: string; readonly agent: string };
    /** `agents`: those made by an agent, which are gone. */
    readonly answers: {
      readonly sessions: number;
      readonly ended: number;
      readonly links: number;
      readonly agents: number;
    };
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
      /** Rotation: the name must exist, and its binding stays. */
      readonly isRotation: boolean;
    };
    readonly answers: SecretView;
  };
  readonly "secrets.list": { readonly asks: object; readonly answers: { readonly secrets: readonly SecretView[] } };
  readonly "secrets.policy": {
    readonly asks: WithPresence & { readonly name: string; readonly binding: SecretBinding };
    readonly answers: SecretView;
  };
  readonly "secrets.delete": { readonly asks: { readonly name: string }; readonly answers: object };
  /** Current source of the key. */
  readonly "secrets.source": { readonly asks: object; readonly answers: KeyStatus };
  readonly "secrets.unlock": { readonly asks: KeyInput; readonly answers: object };
  readonly "secrets.lock": { readonly asks: object; readonly answers: object };
  /** Reseals every secret under a key from the given source. */
  readonly "secrets.key": { readonly asks: WithPresence & { readonly key: NewKey }; readonly answers: object };
};
