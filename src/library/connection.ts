// The connection of an application: one for all its sessions, opened again for the next session after it was lost.
// Sessions of a lost connection have ended.
import type { CallMessages, OpenSessionRequest, OpenSessionResult } from "../core/ports/daemon/daemon-calls.ts";
import { type Answer, type MessageClient, NO_DAEMON } from "../core/ports/daemon/exchange.ts";
import { AmbitRefused } from "./answers.ts";

type Calls = MessageClient<CallMessages>;

export class DaemonConnection {
  readonly #connect: () => Promise<Answer<Calls>>;
  #open: Promise<Answer<Calls>> | null = null;
  #isClosed = false;

  constructor(connect: () => Promise<Answer<Calls>>) {
    this.#connect = connect;
  }

  async open(): Promise<Answer<Calls>> {
    if (this.#isClosed) return { ok: false, code: "not_available", message: "it was closed", fix: null };
    const opening = this.#open ?? this.#connect();
    this.#open = opening;
    const opened = await opening;
    if (!opened.ok) this.#drop(opening);
    return opened;
  }

  async session(asked: OpenSessionRequest): Promise<{ readonly calls: Calls; readonly opened: OpenSessionResult }> {
    const first = await this.#session(asked);
    // The daemon may have been restarted since the last session.
    const { calls, opened } = !first.opened.ok && first.opened.code === NO_DAEMON ? await this.#session(asked) : first;
    if (!opened.ok) throw new AmbitRefused(opened);
    return { calls, opened: opened.value };
  }

  async #session(
    asked: OpenSessionRequest,
  ): Promise<{ readonly calls: Calls; readonly opened: Answer<OpenSessionResult> }> {
    const opening = await this.open();
    if (!opening.ok) throw new AmbitRefused(opening);
    const calls = opening.value;
    const used = this.#open;
    const opened = await calls.ask("session.open", asked);
    if (!opened.ok && opened.code === NO_DAEMON) this.#drop(used);
    return { calls, opened };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const opened = await this.#open;
    if (opened?.ok === true) opened.value.close();
  }

  /** Unless a newer connection has replaced it. */
  #drop(opening: Promise<Answer<Calls>> | null): void {
    if (this.#open === opening) this.#open = null;
  }
}
