// A state in a folder of its own, for tests: real files, removed afterwards.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Approval } from "../../core/ports/stores/approval-store.ts";
import type { DurableResult } from "../../core/ports/stores/durable.ts";
import type { AccountCharge, DecisionWrite } from "../../core/ports/stores/ledger.ts";
import type { StoredLink } from "../../core/ports/stores/link-store.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import { openState, type State, type StateParts } from "../state.ts";

export const digest = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");
export const program: string = process.cwd();

export interface TemporaryState {
  readonly folder: string;
  open(parts?: Partial<StateParts>): DurableResult<State>;
  /** Opens, or throws. */
  opened(parts?: Partial<StateParts>): State;
  remove(): void;
}

export function temporaryState(): TemporaryState {
  const root = mkdtempSync(join(tmpdir(), "ambit-store-"));
  const folder = join(root, "state");
  const states: State[] = [];
  const open = (parts: Partial<StateParts> = {}): DurableResult<State> => {
    const kept = openState(folder, { digest, program, ...parts });
    if (kept.ok) states.push(kept.value);
    return kept;
  };
  return {
    folder,
    open,
    opened: (parts) => value(open(parts)),
    remove: () => {
      for (const state of states) state.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

export function value<T>(kept: DurableResult<T>): T {
  if (!kept.ok) throw new Error(kept.message);
  return kept.value;
}

let count = 0;

export function entryOf(parts: Partial<LogEntry> = {}): LogEntry {
  return {
    id: `entry-${++count}`,
    kind: "decision",
    at: 1_700_000_000_000,
    user: null,
    agent: "scout",
    workspace: "/w",
    chain: [],
    session: null,
    trace: null,
    tool: "run",
    verbs: ["proc.exec"],
    outcome: "allow",
    code: null,
    of: null,
    more: {},
    ...parts,
  };
}

export function writeOf(parts: Partial<DecisionWrite> = {}): DecisionWrite {
  return { entry: entryOf(), charges: [], claim: null, generations: [], links: [], ...parts };
}

export function chargeOf(account: string, parts: Partial<AccountCharge> = {}): AccountCharge {
  return {
    account,
    calls: null,
    rate: null,
    tokens: null,
    money: null,
    family: "family",
    written: [account],
    ...parts,
  };
}

export function approvalOf(id: string, parts: Partial<Approval> = {}): Approval {
  const { user, agent, workspace, chain, session, trace } = entryOf();
  return {
    id,
    state: "pending",
    who: { user, agent, workspace, chain, session, trace },
    tool: "run",
    pin: null,
    binding: null,
    digest: `digest-${id}`,
    generation: 0,
    level: 1,
    need: 1,
    of: null,
    arguments: {},
    requests: [],
    asking: [],
    asked: 1_700_000_000_000,
    expires: 1_800_000_000_000,
    scope: { kind: "exact" },
    usesLeft: 1,
    answers: [],
    reason: null,
    times: 1,
    ...parts,
  };
}

export function linkOf(id: string, parts: Partial<StoredLink> = {}): StoredLink {
  return {
    id,
    parent: null,
    granter: { workspace: "/w", agent: "scout" },
    holder: { workspace: "/w", agent: "child" },
    specs: [],
    calls: null,
    made: 1_700_000_000_000,
    expires: null,
    token: null,
    revoked: null,
    user: null,
    isClean: true,
    ...parts,
  };
}
