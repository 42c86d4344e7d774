// Everything the daemon is handed by the composition: what it keeps, what it reads, what it can have done.
import type { Authority } from "../core/authority/chain.ts";
import type { Moment } from "../core/authority/compiled.ts";
import type { Basis } from "../core/authority/decision.ts";
import type { Level, Span } from "../core/authority/grant.ts";
import type { Request } from "../core/authority/request.ts";
import type { Json, JsonObject } from "../core/base/json.ts";
import type { Reading } from "../core/notation/reading.ts";
import type { ControlMessages, Presence, SecretShown, VerifyAnswer } from "../core/ports/daemon/daemon-control.ts";
import type { Answer } from "../core/ports/daemon/exchange.ts";
import type { Digest } from "../core/ports/digest.ts";
import type { DraftShown, DraftSummary } from "../core/ports/drafts.ts";
import type { RunDenial, RunResult, Sinks } from "../core/ports/process.ts";
import type { KeyGiven, KeyShown } from "../core/ports/secret-key.ts";
import type { ApprovalBinding, ApprovalStore } from "../core/ports/stores/approval-store.ts";
import type { ChainStore } from "../core/ports/stores/chain-rows.ts";
import type { Ledger } from "../core/ports/stores/ledger.ts";
import type { AgentName, LinkStore } from "../core/ports/stores/link-store.ts";
import type { LogEntry } from "../core/ports/stores/log.ts";
import type { MemoryStore, ObservationStore } from "../core/ports/stores/memory-store.ts";
import type { SettingStore } from "../core/ports/stores/secret-store.ts";
import type { SinkShown } from "../core/ports/stores/sink.ts";
import type { CancelSignal } from "../sandbox/plan/sandboxes.ts";
import type { Session } from "./session.ts";

/** How many people must agree, and who counts. */
export interface Approvers {
  readonly need: number;
  readonly of: readonly string[] | null;
}

/** An agent's text as it counts now. INVARIANT: ids of links are unique on this machine, and the same at every reading. */
export interface RecordRead {
  readonly name: AgentName;
  /** One chain, ceilings included. Nothing where the text cannot be believed or is not trusted. */
  readonly authority: Authority;
  /** What it would be were all of it trusted; null where all of it counts. INVARIANT: nothing is allowed by it. */
  readonly written: Authority | null;
  readonly approvers: Approvers;
  /** What its programs write waits for a person: `land: ask`. */
  readonly needsReview: boolean;
  /** Diagnostics and what is not trusted, as sentences. */
  readonly notes: readonly string[];
  readonly reading: Reading;
  /** Changes whenever anything that was read for it did. */
  readonly stamp: string;
  /** Where a grant is written: "scout.md:7"; null where nobody wrote it. */
  placeOf(span: Span | null): string | null;
}

export type RecordResult =
  | { readonly ok: true; readonly value: RecordRead }
  | { readonly ok: false; readonly message: string; readonly fix: string | null };

export interface Records {
  /** By an id in the workspace of a folder, or by a file. As it is on disk now; cheap where nothing changed. */
  record(cwd: string, name: string): RecordResult;
  /**
   * Caveats that somebody opened a session with, as JSON text: an agent called `anonymous`, held to the user's ceilings. Never
   * fails: a text that is not understood grants nothing, and its notes say why. `account`: what its calls are counted under.
   */
  caveats(cwd: string, text: string, account: string): RecordRead;
  /** Ids of the agents that are written in the workspace of a folder. */
  agentIds(cwd: string): readonly string[];
  /** Of a user, by the name the opener of a session gave: what no session of theirs may exceed; null where none is written. */
  user(name: string): { readonly authority: Authority; readonly stamp: string } | null;
  /** Whether the workspace of a folder, or the user's own configuration, serves only users that have a record. */
  isUserRequired(cwd: string): boolean;
  /** How texts are read in a folder. */
  readingAt(cwd: string): Reading;
  /** The folder that relative names of a workspace are read in. */
  workspaceOf(cwd: string): string | null;
  /** Whom to tell that something waits: a program and its first words; empty for nobody. */
  notify(): readonly string[];
  /** Why widening and approving needs presence, by the user's own configuration; null where it does not. */
  presenceReason(): PresenceReason | null;
}

export interface PresenceReason {
  /** What is wrong with the configuration, which may ask for it; null where it does. */
  readonly problem: string | null;
}

/** What a program needs of the daemon while it runs for a call. */
export interface ProgramGround {
  /** What was decided by: every link of the session, and what the tool requires. */
  readonly authority: Authority;
  /** Whose sandboxes these are: unlike ids, no two agents of this machine share it. */
  readonly owner: string;
  /** What the session holds by now, while a program runs. */
  holds(): Authority;
  /** Whether what the program writes waits for a person, by the records and configurations of now. */
  needsReview(): boolean;
  readonly agent: AgentName;
  /** The call, as the log names it. */
  readonly call: string;
  readonly session: string;
  readonly generation: number;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  moment(): Moment;
  /** Whether a secret may be handed to the program's helper for this request; decided and written down. */
  useSecret(request: Request): Promise<boolean>;
  /** Something was refused while the call ran: written down as a denial of its own. Returns the id of its entry. */
  refused(denial: RunDenial, reason: string | null): string;
}

export interface ProgramAsked {
  readonly argv: readonly [string, ...string[]];
  readonly request: Request;
  /** The plan is made from the grants that decided, never from the verdict. */
  readonly by: Basis;
  readonly input: AsyncIterable<Uint8Array> | null;
  /** INVARIANT: nothing that goes in here is a known secret any more when it comes out. */
  readonly sinks: Sinks;
  /** Shorter than the configured limit, never longer. */
  readonly milliseconds: number | null;
  readonly stop: CancelSignal | null;
  /** What it writes waits for a person, all of it. */
  readonly needsReview?: boolean;
}

export interface Programs {
  /** Whether the tool runs one program. */
  isProgram(tool: string): boolean;
  /** The words of a call of such a tool; null for other input. */
  argvOf(input: JsonObject): readonly [string, ...string[]] | null;
  run(ground: ProgramGround, asked: ProgramAsked): Promise<RunResult>;
  /** Ends what runs for an owner, or for everybody; the number of sandboxes that ended. */
  end(owner: string | null): Promise<number>;
  readonly count: number;
}

/** What programs wrote: what landed, what waits, and taking it back. */
export interface Drafts {
  list(all: boolean): readonly DraftSummary[];
  show(id: string): Promise<Answer<DraftShown>>;
  /** Lands what waits for a person who agreed to what this digest names. */
  land(
    id: string,
    digest: string | null,
    agreed: Level,
  ): Promise<Answer<{ readonly summary: DraftSummary; readonly landed: number }>>;
  discard(id: string): Promise<Answer<{ readonly summary: DraftSummary }>>;
  undo(id: string): Promise<Answer<{ readonly summary: DraftSummary }>>;
}

export interface Kept {
  readonly ledger: Ledger;
  readonly chain: ChainStore;
  readonly approvals: ApprovalStore;
  readonly links: LinkStore;
  readonly memory: MemoryStore;
  readonly observations: ObservationStore;
  readonly settings: SettingStore;
}

/** People who can prove that they are there. */
export interface PresenceBook {
  names(): readonly string[];
  check(presence: Presence): Promise<Answer<object>>;
  set(name: string, passphrase: string, entry: LogEntry): Promise<Answer<object>>;
  delete(name: string, entry: LogEntry): Promise<Answer<object>>;
}

export type SecretsAsked<K extends keyof ControlMessages> = Omit<ControlMessages[K]["asks"], "presence">;

/** Secrets, sealed; opened only where they are used. */
export interface Vault {
  set(asked: SecretsAsked<"secrets.set">, entry: LogEntry): Promise<Answer<SecretShown>>;
  list(): readonly SecretShown[];
  policy(asked: SecretsAsked<"secrets.policy">, entry: LogEntry): Promise<Answer<SecretShown>>;
  delete(name: string, entry: LogEntry): Promise<Answer<object>>;
  /** Where the key comes from, and why nothing opens where nothing does. */
  source(): KeyShown;
  unlock(given: KeyGiven): Promise<Answer<object>>;
  lock(): Promise<Answer<object>>;
  rekey(asked: SecretsAsked<"secrets.key">, entry: LogEntry): Promise<Answer<object>>;
}

/** The log's own proof: signed notes of how far it went. */
export interface Proof {
  verify(head: { readonly place: number; readonly hash: string } | null): Promise<Answer<VerifyAnswer>>;
  export(
    from: number,
    line: (text: string) => Promise<void>,
  ): Promise<Answer<{ readonly place: number; readonly hash: string }>>;
  keys(): readonly string[];
  rotate(): Promise<Answer<{ readonly key: string }>>;
  retain(days: number): Promise<Answer<{ readonly removed: number; readonly first: number }>>;
  /** Signs how far it went, where that is due. */
  checkpoint(isLast: boolean): Promise<void>;
}

/** Takes known secrets out of what leaves us. */
export interface Redacting {
  /** The same object as long as the same secrets are looked for; null while there are none. */
  readonly known: object | null;
  text(text: string): string;
  json<T extends Json>(value: T): T;
}

/** A call that a person is asked about, as far as it says which files and which tool it runs. */
export interface PinnedCall {
  readonly workspace: string | null;
  readonly tool: string;
  readonly input: JsonObject;
  /** All of them, not only those that ask: a question about `tool.invoke` is a question about the program, too. */
  readonly requests: readonly Request[];
}

/** `digest` is null where nothing is bound; `binding` is null where the call runs neither a program nor a project's tool. */
export interface CallPin {
  readonly digest: string | null;
  readonly binding: ApprovalBinding | null;
}

export interface DaemonParts {
  /** Does something for a session: what is found in its output meanwhile is told as its. */
  during?<T>(session: Session, act: () => T): T;
  readonly kept: Kept;
  /** What is wrong with what is kept, as sentences for a person. */
  problems(): readonly string[];
  /** Where a second copy of the log is kept, and how it is; null where none is. */
  sink?(): SinkShown | null;
  readonly presence: PresenceBook;
  readonly vault: Vault;
  readonly proof: Proof;
  readonly records: Records;
  readonly programs: Programs;
  readonly drafts: Drafts;
  readonly redacting: Redacting;
  /** Whether a request changes a name that tools on this machine run or obey, and that lands by ask. */
  isTrigger(session: Session, request: Request): boolean;
  /** What the programs, scripts and tools of a call are at this moment. */
  pin(call: PinnedCall): Promise<CallPin>;
  readonly version: string;
  readonly digest: Digest;
  canonical(value: Json): string;
  /** Never goes back while we run, whatever the clock on the wall does. */
  now(): number;
  /** A letter for its kind and enough of chance. */
  id(letter: "c" | "a" | "l" | "s" | "e" | "t" | "o"): string;
  /** Something worth telling a person who looks at the daemon's own log. */
  note(line: string): void;
}
