// Selects the second copy of the log from the user's configuration, checked periodically. An invalid configuration changes
// nothing about a known copy; if no state was known, every call is denied.

import { statSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../core/base/error-code.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { type SinkTarget, sinkText, type WrittenAudit } from "../../core/notation/config/audit-setting.ts";
import type { Config } from "../../core/notation/config/config.ts";
import type { Digest } from "../../core/ports/digest.ts";
import type { ChainStore } from "../../core/ports/stores/chain-rows.ts";
import type { Ledger } from "../../core/ports/stores/ledger.ts";
import type { LogEntry } from "../../core/ports/stores/log.ts";
import type { SettingStore } from "../../core/ports/stores/secret-store.ts";
import type { Sink, SinkStatus } from "../../core/ports/stores/sink.ts";
import { FileSink } from "../../log/sinks/sink-file.ts";
import { SocketSink } from "../../log/sinks/sink-socket.ts";
import { SINK_BEHIND, SINK_CAUGHT_UP } from "../../log/verify/copy-lines.ts";
import { copyPosition, isTornHeader } from "../../log/verify/copy-position.ts";
import { outOfReach } from "../../platform/path-target.ts";
import { isSettled, stampText } from "../../platform/stamp.ts";
import type { Copies } from "./copied-ledger.ts";
import type { LogProof } from "./proof.ts";
import { SecondCopy } from "./second-copy.ts";

const lookMilliseconds = 500;
const SETTING = "sink";
const NAMES = ["config.yml", "config.yaml"];

export interface SinkOptions {
  /** Folder of the user's configuration. */
  readonly folder: string | null;
  /** As it is on disk now; null if there is none. */
  config(): Config | null;
  readonly node: string;
  readonly chain: ChainStore;
  readonly ledger: Ledger;
  readonly settings: SettingStore;
  readonly digest: Digest;
  readonly beginning: LogProof["beginning"];
  entry(outcome: string, more: JsonObject): LogEntry;
  now(): number;
  log(line: string): void;
}

export class DaemonSink implements Copies {
  #asked: SinkOptions | null = null;
  #copy: SecondCopy | null = null;
  #audit: WrittenAudit | null = null;
  #refusal: string | null = null;
  #problem: string | null = null;
  #stamp: string | null = null;
  #isKnown = false;
  /** The last check found no copy configured where one was before: the file may be in the middle of a rewrite. */
  #isDoubted = false;
  #timer: NodeJS.Timeout | null = null;
  isPlain = true;

  get copy(): SecondCopy | null {
    return this.#copy;
  }

  get refusal(): string | null {
    return this.#refusal;
  }

  /** Runs before the sockets open. */
  begin(asked: SinkOptions): void {
    this.#asked = asked;
    this.#look();
    this.#timer = setInterval(() => this.#look(), lookMilliseconds);
    this.#timer.unref();
  }

  shown(): SinkStatus | null {
    const copy = this.#copy?.shown() ?? null;
    if (copy !== null) return { ...copy, problem: copy.problem ?? this.#problem };
    const problem = this.#refusal;
    const target = this.#asked?.settings.get(SETTING) ?? "not known";
    return problem === null ? null : { target, kept: null, behind: null, isDenying: true, problem };
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#copy?.close();
  }

  #look(): void {
    const asked = this.#asked;
    const stamp = asked === null ? null : stampOf(asked.folder, asked.now());
    if (asked === null || (stamp !== null && stamp === this.#stamp && !this.#isDoubted)) return;
    this.#stamp = stamp;
    const config = configIn(asked);
    if (config !== null && ("failed" in config || config.broken)) {
      this.#isDoubted = false;
      this.#unknown("is not valid: ambit doctor");
      return;
    }
    const audit = config?.audit ?? null;
    if (audit === null && !this.#isDoubted && this.#isNamed(asked)) {
      this.#isDoubted = true;
      if (this.#copy === null) this.#unknown("no longer configures a second copy of the log. It is read once more");
      return;
    }
    this.#isDoubted = false;
    this.#isKnown = true;
    this.#take(audit, asked);
    this.#refusal = null;
    this.#problem = null;
    this.isPlain = this.#copy === null;
  }

  /** Whether a copy is configured, or was when the daemon last ended. */
  #isNamed({ settings }: SinkOptions): boolean {
    return this.#copy !== null || (!this.#isKnown && settings.get(SETTING) !== null);
  }

  #unknown(why: string): void {
    const what = `the user's configuration ${why}`;
    // INVARIANT: an error in the file never ends a copy, nor allows calls without one.
    if (this.#copy === null) this.#refusal = `${what}. It is unknown whether a second copy of the log is required`;
    else this.#problem = `${what}. The copy continues unchanged`;
    this.isPlain = false;
  }

  #take(audit: WrittenAudit | null, asked: SinkOptions): void {
    const [target, before] = [audit === null ? null : sinkText(audit.sink), this.#audit];
    const isSame = before !== null && audit !== null && sinkText(before.sink) === target;
    if (audit === null ? before === null : isSame && before.timeoutMilliseconds === audit.timeoutMilliseconds) {
      if (audit === null) this.#remember(null, asked);
      return;
    }
    this.#copy?.drop();
    this.#audit = audit;
    this.#copy = audit === null || target === null ? null : this.#begun(audit, target, asked);
    this.#remember(target, asked);
  }

  #begun({ sink, timeoutMilliseconds }: WrittenAudit, target: string, asked: SinkOptions): SecondCopy {
    const { chain, digest, beginning, ledger, entry, log } = asked;
    const tell = (outcome: string, more: JsonObject): void => {
      log(`the second copy of the log: ${outcome} ${JSON.stringify({ target, ...more })}`);
      void ledger.append([entry(outcome, { target, ...more })]).then(() => copy.wake());
    };
    const copy: SecondCopy = new SecondCopy({
      ...{ target, chain, digest, timeoutMilliseconds, beginning },
      sink: sinkAt(sink, asked.node),
      changed: (isLate, problem) => tell(isLate ? SINK_BEHIND : SINK_CAUGHT_UP, { problem, kept: copy.kept }),
      wentBack: (from, to) => tell("sink_went_back", { from, to }),
    });
    return copy;
  }

  /** Logs when a copy was set or removed. */
  #remember(target: string | null, { settings, entry, log }: SinkOptions): void {
    const was = settings.get(SETTING);
    if (was === target) return;
    log(`the second copy of the log: ${target ?? "none"}, before: ${was ?? "none"}`);
    const told = entry(target === null ? "sink_removed" : "sink_set", { target, was });
    void settings.set(SETTING, target, told).then(() => this.#copy?.wake());
  }
}

function sinkAt({ kind, path }: SinkTarget, node: string): Sink {
  if (kind === "socket") return new SocketSink(path);
  return new FileSink(path, {
    standing: (header, tail, isAll) => copyPosition(node, header, tail, isAll),
    isTornHeader,
  });
}

function configIn(asked: SinkOptions): Config | { readonly failed: true } | null {
  try {
    return asked.config();
  } catch {
    return { failed: true };
  }
}

/** Null if it has to be read: it changed just now, or its status is unknown. */
function stampOf(folder: string | null, now: number): string | null {
  if (folder === null) return "";
  const stamps = NAMES.map((name) => {
    const path = join(folder, name);
    try {
      const found = statSync(path, { bigint: true });
      return isSettled(found, now) ? stampText(found) : null;
    } catch (error) {
      return errorCode(error) === "ENOENT" && outOfReach(path) === null ? "" : null;
    }
  });
  return stamps.includes(null) ? null : stamps.join(" ");
}
