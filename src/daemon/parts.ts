// Interfaces of everything that the composition root passes to the daemon: stores, readers and executors.
import type { UserProfiles } from "../clients/profile-choice.ts";
import type { Authority } from "../core/authority/chain.ts";
import type { Moment } from "../core/authority/compiled.ts";
import type { Basis } from "../core/authority/decision.ts";
import type { Level, Span } from "../core/authority/grant.ts";
import type { Request } from "../core/authority/request.ts";
import type { Json, JsonObject } from "../core/base/json.ts";
import type { FixableFailure, Result } from "../core/base/result.ts";
import type { PolicyTable } from "../core/notation/policy/policy.ts";
import type { Reading } from "../core/notation/reading.ts";
import type { UserFacts } from "../core/notation/record/user-record.ts";
import type { ControlMessages, Presence, SecretView, VerifyReport } from "../core/ports/daemon/daemon-control.ts";
import type { DoorProtocol } from "../core/ports/daemon/door.ts";
import type { Answer } from "../core/ports/daemon/exchange.ts";
import type { Digest } from "../core/ports/digest.ts";
import type { DraftSummary, DraftView } from "../core/ports/drafts.ts";
import type { RunDenial, RunResult, Sinks, TerminalRequest } from "../core/ports/process.ts";
import type { KeyInput, KeyStatus } from "../core/ports/secret-key.ts";
import type { ApprovalBinding, ApprovalStore } from "../core/ports/stores/approval-store.ts";
import type { ChainStore } from "../core/ports/stores/chain-rows.ts";
import type { Cost, Ledger } from "../core/ports/stores/ledger.ts";
import type { AgentName, LinkStore } from "../core/ports/stores/link-store.ts";
import type { LogEntry } from "../core/ports/stores/log.ts";
import type { MemoryStore, ObservationStore } from "../core/ports/stores/memory-store.ts";
import type { ScheduleStore } from "../core/ports/stores/schedule-store.ts";
import type { SettingStore } from "../core/ports/stores/secret-store.ts";
import type { SinkStatus } from "../core/ports/stores/sink.ts";
import type { TaskStore } from "../core/ports/stores/task-store.ts";
import type { Zones } from "../core/ports/zone.ts";
import type { StreamRedactor } from "../log/redaction/redactor.ts";
import type { OwnedBudget } from "../org/budget.ts";
import type { OrgTriggers } from "../org/schedules/file-schedule.ts";
import type { ClientModelCall, DoorSource, ModelUsage } from "../sandbox/plan/sandboxes.ts";
import type { GrantLimits } from "../tools/delegation/delegation-tools.ts";
import type { CostRange, UseCredential, UseDecision } from "./calls/program-use.ts";
import type { AccessTokens } from "./oauth/access-tokens.ts";
import type { ClientRun } from "./programs/client-profile.ts";
import type { Session } from "./session.ts";

/** Required number of approvers, and who counts. */
export interface Approvers {
  readonly need: number;
  readonly of: readonly string[] | null;
}

/** An agent's record as it is in effect now. INVARIANT: link ids are unique on this machine, and stable across reads. */
export interface RecordRead {
  readonly name: AgentName;
  /** One chain, ceilings included. Empty if the record is invalid or not trusted. */
  readonly authority: Authority;
  /** The authority if all of it were trusted; null if all of it is. INVARIANT: nothing is allowed by it. */
  readonly written: Authority | null;
  readonly approvers: Approvers;
  /** Changes by its programs need approval: `land: ask`. */
  readonly needsReview: boolean;
  /** What a policy denies it, or asks for, in delegations to it too. */
  readonly policyLimits: PolicyTable;
  /** What it, its team and its org may spend, by the org file; empty for none. */
  readonly budgets: readonly OwnedBudget[];
  /** Diagnostics and untrusted files, as sentences. */
  readonly notes: readonly string[];
  readonly reading: Reading;
  /** Roots as they are written, where a link is on their path. */
  readonly linkedRoots: readonly (readonly string[])[];
  /** Changes whenever any of its source files does. */
  readonly stamp: string;
  /** Source position of a grant: "scout.md:7"; null if it has none. */
  placeOf(span: Span | null): string | null;
}

export type RecordResult = Result<RecordRead, FixableFailure>;

export interface Records {
  /** By an id in the workspace of a folder, or by a file. As it is on disk now; cheap if nothing changed. */
  record(cwd: string, name: string): RecordResult;
  /**
   * Caveats that a session is opened with, as JSON text: an agent called `anonymous`, limited by the user's ceilings. Never
   * fails: invalid text grants nothing, and its notes say why. `account`: the account its calls are charged to.
   */
  caveats(cwd: string, text: string, account: string): RecordRead;
  /** Ids of the agents with a record in the workspace of a folder. */
  agentIds(cwd: string): readonly string[];
  /** A user's ceiling, by the name the client gave; null if the user has no record. */
  user(name: string): UserRead | null;
  /** Whether the workspace of a folder, or the user's own configuration, requires that users have a record. */
  isUserRequired(cwd: string): boolean;
  /** How notation is read in a folder. */
  readingAt(cwd: string): Reading;
  /** The folder that relative paths of a workspace start in. */
  workspaceOf(cwd: string): string | null;
  /** The triggers of a workspace's org file; absent: there are no org files. */
  orgTriggers?(workspace: string): OrgTriggers;
  /** The notification program and its first arguments; empty for none. */
  notify(): readonly string[];
  /** The shadow mode of an agent by the user's own configuration: when it ends, and the user's root; null if it has none. */
  shadow?(agent: string): { readonly end: number; readonly root: readonly string[] | null } | null;
  /** Why widening and approving needs presence, by the user's own configuration; null if it does not. */
  presenceReason(): PresenceReason | null;
}

/** Records of agents as files that agents' tools write; each answers with the file. What is added waits for trust. */
export interface AgentRecordWriter {
  /** With these limits in every grant. */
  grant(name: AgentName, specs: readonly string[], limits: GrantLimits): Result<string>;
  create(name: AgentName, specs: readonly string[], limits: GrantLimits, instructions: string): Result<string>;
  remove(name: AgentName): Result<string>;
}

/** The record of a user that a session acts for. */
export interface UserRead {
  /** The user's ceiling. */
  readonly authority: Authority;
  readonly facts: UserFacts;
  readonly stamp: string;
  /** Whether sessions in this workspace may act for the user; null: outside of any workspace. */
  isMemberOf(workspace: string | null): boolean;
}

export interface PresenceReason {
  /** What is wrong with a configuration that may require it; null if it is valid. */
  readonly problem: string | null;
}

/** What a program needs from the daemon while it runs for a call. */
export interface ProgramContext {
  /** The deciding authority: every link of the session, and the tool's requirement. */
  readonly authority: Authority;
  /** Owner of its sandboxes: unlike ids, unique per agent on this machine. */
  readonly owner: string;
  /** The session's current holding, while a program runs. */
  holds(): Authority;
  /** Whether the program's changes need approval, by current records and configurations. */
  needsReview(): boolean;
  readonly agent: AgentName;
  /** The call, by its log id. */
  readonly call: string;
  readonly session: string;
  readonly generation: number;
  readonly cwd: string;
  /** How the caller and the record name folders: a link may be on the path. */
  readonly folderNames: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  moment(): Moment;
  /** Whether a secret may be used for the program's git now; decided and logged. `question`: what a person is shown. */
  useSecret(request: Request, question: JsonObject): Promise<UseDecision>;
  /** Whether a model may be used now; decided, charged and logged. `id`: of the entry. */
  useModel(request: Request, call: ModelUseFacts): Promise<UseDecision>;
  /** Logs what came of it, and replaces the reservation with the cost; null: the reservation is the cost. */
  modelUsed(
    id: string,
    usage: ModelUsage,
    /** `facts`: of a request that `useModel` did not decide. */
    settled: { readonly cost: Cost | null; readonly reserved: Cost | null; readonly facts?: JsonObject },
  ): void;
  /** Answers programs of a client that ask their session; null: they cannot. */
  readonly door: DoorSource | null;
  /** Records a denial while the call runs. Returns the id of its entry. */
  refused(denial: RunDenial, reason: string | null, target?: string | null): string;
}

/** An MCP server to be run. INVARIANT: its output is redacted where a call returns it, and goes nowhere else. */
export interface ServerRun {
  readonly environment: readonly (readonly [name: string, value: string])[];
  readonly runtime: readonly (readonly string[])[];
  /** The folder of its package on the host: read-only inside. */
  readonly package?: string;
  /** A folder of ours on the host that is its home, and writable: for the program that fetches a package. */
  readonly home?: string;
}

export interface ModelUseFacts
  extends Pick<ClientModelCall, "digest" | "bytes" | "isCharged" | "hasForeignCredential"> {
  readonly cost: CostRange;
  /** What a person is shown where approval is required. */
  readonly question: JsonObject;
  /** What it is sent with. Null: there is nothing, and it is denied. */
  readonly credential: UseCredential | null;
}

export interface ProgramRun {
  readonly argv: readonly [string, ...string[]];
  readonly request: Request;
  /** The plan is made from the grants that decided, never from the verdict. */
  readonly by: Basis;
  readonly input: AsyncIterable<Uint8Array> | null;
  /** INVARIANT: all output passes through here and comes out without known secrets. */
  readonly sinks: Sinks;
  /** Shorter than the configured limit, never longer. */
  readonly milliseconds: number | null;
  readonly signal: AbortSignal | null;
  /** For a whole client: no time limit, a home that stays, and the profile's variables. */
  readonly client?: ClientRun | null;
  /** For an MCP server: no time limit, its own variables and program folders, and never without a sandbox. */
  readonly server?: ServerRun | null;
  /** For the person at the client: what its home does not have, and why. */
  onNotes?(notes: readonly string[]): void;
  /** Absent: it has pipes. */
  readonly terminal?: TerminalRequest | null;
  /** All of its changes wait for a person's approval. */
  readonly needsReview?: boolean;
}

export interface Programs {
  /** Whether the tool runs one program. */
  isProgram(tool: string): boolean;
  /** The argument vector of a call of such a tool; null for other input. */
  argvOf(input: JsonObject): readonly [string, ...string[]] | null;
  run(context: ProgramContext, asked: ProgramRun): Promise<RunResult>;
  /** The user's own profiles of clients, as they are now. */
  profiles(cwd: string): UserProfiles;
  /** Ends the sandboxes of an owner, or all; returns how many ended. `by`: the command that says so, for their results. */
  end(owner: string | null, by: string): Promise<number>;
  readonly count: number;
}

/** Drafts: landed and pending changes, and undo. */
export interface Drafts {
  list(all: boolean): readonly DraftSummary[];
  show(id: string): Promise<Answer<DraftView>>;
  /** Lands pending changes for a person who approved what this digest names. */
  land(
    id: string,
    digest: string | null,
    agreed: Level,
  ): Promise<Answer<{ readonly summary: DraftSummary; readonly landed: number }>>;
  discard(id: string): Promise<Answer<{ readonly summary: DraftSummary }>>;
  undo(id: string): Promise<Answer<{ readonly summary: DraftSummary }>>;
}

export interface Stores {
  readonly ledger: Ledger;
  readonly chain: ChainStore;
  readonly approvals: ApprovalStore;
  readonly links: LinkStore;
  readonly memory: MemoryStore;
  readonly observations: ObservationStore;
  readonly settings: SettingStore;
  readonly tasks: TaskStore;
  readonly schedules: ScheduleStore;
}

/** Enrolled people who can confirm their presence. */
export interface PresenceBook {
  names(): readonly string[];
  check(presence: Presence): Promise<Answer<object>>;
  set(name: string, passphrase: string, entry: LogEntry): Promise<Answer<object>>;
  delete(name: string, entry: LogEntry): Promise<Answer<object>>;
}

export type SecretRequest<K extends keyof ControlMessages> = Omit<ControlMessages[K]["asks"], "presence">;

/** Secrets, sealed; opened only for use. */
export interface Vault {
  set(asked: SecretRequest<"secrets.set">, entry: LogEntry): Promise<Answer<SecretView>>;
  list(): readonly SecretView[];
  policy(asked: SecretRequest<"secrets.policy">, entry: LogEntry): Promise<Answer<SecretView>>;
  delete(name: string, entry: LogEntry): Promise<Answer<object>>;
  /** Source of the key, and why the store is locked, if it is. */
  source(): KeyStatus;
  unlock(given: KeyInput): Promise<Answer<object>>;
  lock(): Promise<Answer<object>>;
  rekey(asked: SecretRequest<"secrets.key">, entry: LogEntry): Promise<Answer<object>>;
}

/** The log's integrity proof: signed checkpoints. */
export interface Proof {
  verify(head: { readonly place: number; readonly hash: string } | null): Promise<Answer<VerifyReport>>;
  export(
    from: number,
    line: (text: string) => Promise<void>,
  ): Promise<Answer<{ readonly place: number; readonly hash: string }>>;
  keys(): readonly string[];
  rotate(): Promise<Answer<{ readonly key: string }>>;
  retain(days: number): Promise<Answer<{ readonly removed: number; readonly first: number }>>;
  /** Signs a checkpoint, if one is due. */
  checkpoint(isLast: boolean): Promise<void>;
}

/** Redacts known secrets from output. */
export interface OutputRedactor {
  /** The same object while the same secrets are known; null if there are none. */
  readonly known: object | null;
  text(text: string): string;
  json<T extends Json>(value: T): T;
}

export interface StreamingRedactor extends OutputRedactor {
  /** For output that is sent as it comes; null: nothing is redacted. */
  stream(): Pick<StreamRedactor, "write" | "end"> | null;
}

/** A call that needs approval, with the requests that show which files and which tool it runs. */
export interface PinnedCall {
  readonly workspace: string | null;
  readonly tool: string;
  readonly input: JsonObject;
  /** All of them, not only those that need approval: an approval of `tool.invoke` covers the program, too. */
  readonly requests: readonly Request[];
}

/** `digest` is null if nothing is bound; `binding` is null if the call runs neither a program nor a project's tool. */
export interface CallPin {
  readonly digest: string | null;
  readonly binding: ApprovalBinding | null;
}

export interface DaemonParts {
  /** Runs work for a session: secrets found in its output meanwhile are attributed to the session. */
  during?<T>(session: Session, act: () => T): T;
  /** The protocol of a session's door; absent: programs inside cannot ask. */
  readonly door?: DoorProtocol;
  readonly stores: Stores;
  /** Problems of the stored state, as sentences for a person. */
  problems(): readonly string[];
  /** The second copy of the log and its status; null if none is configured. */
  sink?(): SinkStatus | null;
  /** Access tokens of authorization servers that the user named; absent: only ambit's own tokens are accepted. */
  readonly accessTokens?: AccessTokens;
  readonly presence: PresenceBook;
  readonly vault: Vault;
  /** Whether the value of this secret signs a text, by HMAC with SHA-256 in hexadecimal; null if its value cannot be read. */
  isSigned(secret: string, text: string, signature: string): Promise<boolean | null>;
  readonly proof: Proof;
  readonly records: Records;
  readonly agentRecords: AgentRecordWriter;
  readonly programs: Programs;
  readonly drafts: Drafts;
  readonly redacting: StreamingRedactor;
  /** Whether a request changes a trigger path, which tools on this machine execute or obey, and which needs approval. */
  isTrigger(session: Session, request: Request): boolean;
  /** Pins the current content of the programs, scripts and tools of a call. */
  pin(call: PinnedCall): Promise<CallPin>;
  readonly version: string;
  readonly digest: Digest;
  canonical(value: Json): string;
  /** Never goes back while the daemon runs, whatever the wall clock does. */
  now(): number;
  /** What the wall clock shows. For schedules alone: a person wrote their times. */
  wall(): number;
  readonly zones: Zones;
  /** Kind prefix plus random suffix. */
  id(letter: "c" | "a" | "k" | "l" | "s" | "e" | "t" | "o" | "w" | "h"): string;
  /** Writes a line to the daemon's own log. */
  note(line: string): void;
}
