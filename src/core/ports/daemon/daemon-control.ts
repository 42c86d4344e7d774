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

interface WithPresence {
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

/** A package that was fetched, as a person is shown it before an entry names it. */
export interface FetchedPackage {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly lock: string;
  /** Its install scripts have run. */
  readonly hasScripts: boolean;
  readonly packages: number;
  /** Packages with install scripts. */
  readonly scripts: readonly string[];
  readonly programs: readonly string[];
  readonly files: number;
  readonly bytes: number;
}

/** A sign-in at a server; without its tokens. */
export interface SignInView {
  readonly state: "signed in" | "expired";
  readonly issuer: string;
  readonly scope: string | null;
  /** When the current access token ends; null where that is not known. */
  readonly expires: number | null;
  /** Hosts besides the server's own that a person allowed for it. */
  readonly hosts: readonly string[];
}

/** An MCP server as shown to a person. */
export interface ServerView {
  readonly name: string;
  readonly level: "user" | "project";
  /** Null for a server at an address. */
  readonly command: readonly string[] | null;
  /** The package that its program is from, and whether it was fetched; null: a program of this machine. */
  readonly package: { readonly text: string; readonly isStored: boolean } | null;
  /** Null for a program. */
  readonly url: string | null;
  /** Stored secrets that it names: where each goes, and whether its program gets the value. */
  readonly secrets: readonly { readonly name: string; readonly at: string; readonly isRevealed: boolean }[];
  /** Compact specs of what it reaches. */
  readonly requires: readonly string[];
  readonly risk: string;
  readonly runtime: readonly string[];
  /** Names of its own variables. */
  readonly environment: readonly string[];
  readonly isEnabled: boolean;
  readonly isClean: boolean;
  /** Why it is not in effect; null where it is. */
  readonly waits: string | null;
  /** Pinned tools; null before its first use. */
  readonly pinned: number | null;
  /** Tools that wait for a person, as far as the server was started. */
  readonly held: number;
  /** Pinned tools whose text names tools of other servers, or of ambit. */
  readonly shadowing: readonly { readonly tool: string; readonly others: readonly string[] }[];
  /** Why it could not be started last; null where it could, or was not started. */
  readonly failure: string | null;
  /** Null where no person signed in. */
  readonly signIn: SignInView | null;
}

export interface ServerToolView {
  /** As a client calls it. */
  readonly name: string;
  readonly tool: string;
  readonly title: string | null;
  readonly description: string;
  readonly input: JsonObject;
  /** Hints of the server: they grant nothing. */
  readonly annotations: JsonObject | null;
  /** What its arguments mean, as it is written in a file; null where nothing is known. */
  readonly map: string | null;
  readonly mapSource: "file" | "shipped" | null;
  /** Pinned, and said exactly so by the server. */
  readonly isPinned: boolean;
  /** Its text has characters that a person does not see. */
  readonly hasHiddenText: boolean;
  /** Tools of other servers, or of ambit, that its text names. */
  readonly namesOthers: readonly string[];
}

export interface ServerDetails {
  readonly server: ServerView;
  readonly version: string;
  readonly instructions: string;
  readonly tools: readonly ServerToolView[];
  readonly refused: readonly { readonly tool: string; readonly why: string }[];
  readonly changes: readonly {
    readonly tool: string | null;
    readonly part: string;
    readonly before: string | null;
    readonly now: string | null;
  }[];
  /** Of everything above that can be pinned. */
  readonly digest: string;
}

type SharedMessages = DraftMessages & TaskMessages & ScheduleMessages & BudgetMessages & StoreMessages;

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
  /** The MCP servers of a folder's workspace, without starting any. */
  readonly "servers.list": {
    readonly asks: { readonly cwd: string };
    readonly answers: { readonly servers: readonly ServerView[] };
  };
  /** Starts one in its sandbox, and shows what it says about itself beside what is pinned. */
  readonly "servers.show": {
    readonly asks: { readonly cwd: string; readonly name: string };
    readonly answers: ServerDetails;
  };
  /** Pins what `servers.show` answered with, by its digest. */
  readonly "servers.pin": {
    readonly asks: WithPresence & { readonly cwd: string; readonly name: string; readonly digest: string };
    readonly answers: { readonly tools: number };
  };
  /** Resolves and fetches a package in a sandbox of its own, and stores it; nothing names it yet. */
  readonly "packages.fetch": {
    readonly asks: {
      readonly cwd: string;
      readonly name: string;
      readonly range: string;
      readonly registry: string;
      readonly runScripts: boolean;
      /** Only if it is the same as this one. */
      readonly expected: { readonly integrity: string; readonly lock: string } | null;
    };
    readonly answers: FetchedPackage;
  };
  /** Whether a package is stored as it was fetched. */
  readonly "packages.check": {
    readonly asks: { readonly lock: string; readonly hasScripts: boolean };
    readonly answers: { readonly state: "stored" | "missing" | "changed" };
  };
  /** Removes a stored package that no entry names. */
  readonly "packages.release": {
    readonly asks: { readonly cwd: string; readonly lock: string; readonly hasScripts: boolean };
    readonly answers: { readonly isRemoved: boolean };
  };
  /**
   * Begins a sign-in at a server at an address: the page that a person opens, or a host that they have to allow first. `redirect`: where
   * the page leads back to; `hosts`: those that the person allowed.
   */
  readonly "servers.login": {
    readonly asks: WithPresence & {
      readonly cwd: string;
      readonly name: string;
      readonly redirect: string;
      readonly hosts: readonly string[];
      readonly clientId: string | null;
    };
    readonly answers: { readonly page: string | null; readonly issuer: string | null; readonly host: string | null };
  };
  /** Ends it with what the page led back with. */
  readonly "servers.signin": {
    readonly asks: { readonly state: string; readonly code: string; readonly iss: string | null };
    readonly answers: { readonly name: string; readonly signIn: SignInView };
  };
  /** Deletes the tokens of a sign-in. */
  readonly "servers.logout": {
    readonly asks: { readonly cwd: string; readonly name: string };
    readonly answers: { readonly wasSignedIn: boolean };
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
