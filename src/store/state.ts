// The state of one user on one machine: one file, one commit loop, and every store that writes through it.

import type { Digest } from "../core/ports/digest.ts";
import type { ApprovalStore } from "../core/ports/stores/approval-store.ts";
import type { ChainStore } from "../core/ports/stores/chain-rows.ts";
import type { DurableResult } from "../core/ports/stores/durable.ts";
import type { Ledger } from "../core/ports/stores/ledger.ts";
import type { LinkStore } from "../core/ports/stores/link-store.ts";
import type { MemoryStore, ObservationStore } from "../core/ports/stores/memory-store.ts";
import type { Notary } from "../core/ports/stores/notary.ts";
import type { SecretStore, SettingStore } from "../core/ports/stores/secret-store.ts";
import { Generations } from "./accounts/generation.ts";
import { SqliteApprovalStore } from "./approvals/approval.ts";
import { ApprovalRows } from "./approvals/approval-rows.ts";
import { CommitLoop, unkept } from "./commit-loop.ts";
import { machineGround, type StateEnvironment } from "./folder.ts";
import { SqliteLedger } from "./ledger.ts";
import { SqliteLinkStore } from "./links/link.ts";
import { LinkRows } from "./links/link-rows.ts";
import { SqliteChainStore } from "./log/chain.ts";
import { FactFiller } from "./log/fact-filler.ts";
import { IndexFiller } from "./log/index-filler.ts";
import { LogReader } from "./log/log-reader.ts";
import { SqliteMemoryStore } from "./memory/memory.ts";
import { SqliteObservationStore } from "./memory/observation.ts";
import { openConnection } from "./open.ts";
import { SqliteSecretStore } from "./secret.ts";
import { SqliteSettingStore } from "./setting.ts";
import { loadDriver } from "./sqlite.ts";

export interface StateParts {
  readonly digest: Digest;
  /** The folder of our own package, from which the database driver is found. */
  readonly program: string;
  /** Signs every commit; without it none is signed. */
  readonly notary?: Notary;
  /** Facts about the machine; for tests. */
  readonly ground?: StateEnvironment;
  /** Milliseconds of a monotonic clock; for tests. */
  readonly elapsed?: () => number;
}

export interface State {
  readonly ledger: Ledger;
  readonly chain: ChainStore;
  readonly approvals: ApprovalStore;
  readonly links: LinkStore;
  readonly memory: MemoryStore;
  readonly observations: ObservationStore;
  readonly secrets: SecretStore;
  readonly settings: SettingStore;
  readonly loop: CommitLoop;
  /** Writes pending jobs; everything after it is refused. */
  close(): void;
}

/** The message of a refusal says what is wrong with the folder or the file, and what to do. */
export function openState(folder: string, parts: StateParts): DurableResult<State> {
  const { digest, program, notary = null, ground = machineGround() } = parts;
  const { elapsed = () => performance.now() } = parts;
  const driver = loadDriver(program);
  if (driver === null) return unkept("no SQLite was found: install ambit's packages again");
  const loop = new CommitLoop({
    elapsed,
    open: () => openConnection({ folder, driver, digest, ground, notary }),
  });
  const [generations, approvals, links] = [new Generations(), new ApprovalRows(), new LinkRows()];
  const facts = new FactFiller();
  for (const mirror of [generations, approvals, links, facts]) loop.mirror(mirror);
  new IndexFiller(loop, facts).begin();
  const reader = new LogReader(loop);
  const chain = new SqliteChainStore(loop);
  const state: State = {
    ledger: new SqliteLedger(loop, { generations, approvals, links, reader }),
    chain,
    approvals: new SqliteApprovalStore(loop, approvals),
    links: new SqliteLinkStore(loop, links),
    memory: new SqliteMemoryStore(loop),
    observations: new SqliteObservationStore(loop),
    secrets: new SqliteSecretStore(loop),
    settings: new SqliteSettingStore(loop),
    loop,
    close: () => loop.close(),
  };
  const opened = loop.open();
  if (opened.ok) chain.resume();
  return opened.ok ? { ok: true, value: state } : opened;
}
