// A second copy of the log at a collector: it receives lines, and answers with the last entry it has stored, `PLACE
// HASH` a line.

import { connect, type Socket } from "node:net";
import { errorCode } from "../../core/base/error-code.ts";
import type { Sink, SinkPosition, SinkResult } from "../../core/ports/stores/sink.ts";
import { checkSinkPath } from "./sink-path.ts";

/** Of an incomplete answer. */
const answerCharactersMax = 96;
/** Consecutive answers without news: an honest collector sends a few for lines it received in parts. */
const repeatsMax = 1000;
const ANSWER = /^(?:0|([1-9]\d{0,15}) ([0-9a-f]{64}))$/;
const BARE = /^[1-9]\d{0,15}$/;

const CLOSED = { ok: false, message: "it was closed" } as const;

/** One request that waits for an answer. */
interface PendingAnswer {
  place(place: number, hash: string): void;
  lost(message: string): void;
}

export class SocketSink implements Sink {
  readonly #path: string;
  #socket: Socket | null = null;
  #waiting: PendingAnswer | null = null;
  #rest = "";
  /** The last acknowledged position, and the highest possible one. */
  #kept = 0;
  #sent = 0;
  #repeats = 0;
  trouble: string | null = "it is not open";
  /** Cancels the `open` that has no socket yet. */
  #cancelOpen: (() => void) | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  async open(header: string): Promise<SinkResult<SinkPosition>> {
    this.close();
    let isCancelled = false;
    // The file system may never answer: `close` ends the wait for it.
    const cancelled = new Promise<typeof CLOSED>((resolve) => {
      this.#cancelOpen = () => {
        isCancelled = true;
        resolve(CLOSED);
      };
    });
    const place = await Promise.race([checkSinkPath(this.#path, "socket"), cancelled]);
    // INVARIANT: nothing connects after `close`, and nothing of an earlier `open` after a later one.
    if (isCancelled) return CLOSED;
    this.#cancelOpen = null;
    if (!place.ok) return place;
    return new Promise((resolve) => {
      const socket = connect(this.#path);
      this.#socket = socket;
      this.#rest = "";
      this.#kept = 0;
      this.#repeats = 0;
      this.#sent = Number.MAX_SAFE_INTEGER;
      this.#waiting = {
        place: (at, hash) => {
          this.#waiting = null;
          this.#sent = at;
          this.trouble = null;
          const last = at === 0 ? { place: null, hash: null } : { place: at, hash };
          resolve({ ok: true, value: { ...last, note: null, first: null, rotations: null } });
        },
        lost: (message) => resolve({ ok: false, message }),
      };
      socket.setEncoding("latin1");
      socket.on("data", (text: unknown) => this.#heard(socket, String(text)));
      socket.on("error", (error) =>
        this.#lost(socket, `the collector at ${this.#path} cannot be reached (${errorCode(error)})`),
      );
      socket.on("close", () => this.#lost(socket, `the collector at ${this.#path} closed the connection`));
      socket.write(`${header}\n`);
    });
  }

  keep(lines: string, last: number, kept: (place: number, hash: string) => boolean): Promise<SinkResult<null>> {
    const socket = this.#socket;
    if (socket === null) return Promise.resolve({ ok: false, message: this.trouble ?? "it is not open" });
    // Notes alone have no position of their own: they are acknowledged with the next entry.
    const isNoted = last <= this.#kept;
    this.#sent = Math.max(this.#sent, last);
    this.#repeats = 0;
    socket.write(lines);
    if (isNoted) return Promise.resolve({ ok: true, value: null });
    return new Promise((resolve) => {
      this.#waiting = {
        place: (place, hash) => {
          if (place > 0 && !kept(place, hash)) {
            this.#lost(socket, `the collector at ${this.#path} has a different entry ${place} than was sent`);
            return;
          }
          if (place < last) return;
          this.#waiting = null;
          resolve({ ok: true, value: null });
        },
        lost: (message) => resolve({ ok: false, message }),
      };
    });
  }

  look(): Promise<string | null> {
    return Promise.resolve(this.trouble);
  }

  close(): void {
    this.#cancelOpen?.();
    this.#cancelOpen = null;
    const socket = this.#socket;
    if (socket !== null) this.#lost(socket, CLOSED.message);
  }

  #heard(socket: Socket, text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (socket !== this.#socket) return;
      const match = ANSWER.exec(line);
      const [place, hash] = match === null ? [-1, ""] : [Number(match[1] ?? 0), match[2] ?? ""];
      this.#repeats = place === this.#kept ? this.#repeats + 1 : 0;
      if (!Number.isSafeInteger(place) || place < this.#kept || place > this.#sent || this.#repeats > repeatsMax) {
        this.#lost(socket, this.#wrong(line, place));
        return;
      }
      this.#kept = place;
      this.#waiting?.place(place, hash);
    }
    if (this.#rest.length > answerCharactersMax) this.#lost(socket, this.#wrong(this.#rest, -1));
  }

  #wrong(line: string, place: number): string {
    const said = JSON.stringify(line.slice(0, answerCharactersMax));
    if (place > this.#sent)
      return `the collector at ${this.#path} acknowledged ${said}, but was sent entries only up to ${this.#sent}`;
    if (BARE.test(line))
      return `the collector at ${this.#path} answered ${said} without the hash of that entry: it must answer PLACE HASH, or 0 if it has no entries`;
    if (this.#repeats > repeatsMax) return `the collector at ${this.#path} keeps repeating ${said}`;
    if (place >= 0)
      return `the collector at ${this.#path} answered ${said}, but had acknowledged entries up to ${this.#kept} before`;
    return `the collector at ${this.#path} answered ${said}, which is not the number of an entry`;
  }

  #lost(socket: Socket, message: string): void {
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.trouble = message;
    const waiting = this.#waiting;
    this.#waiting = null;
    socket.destroy();
    waiting?.lost(message);
  }
}
