// Pool of tool hosts: one per session and source, kept warm between calls, ended with their session, limited in number.
import { realpathSync } from "node:fs";
import type { Sandboxes } from "../../sandbox/plan/sandboxes.ts";
import { HostProcess } from "../../sandbox/tool-host/host-process.ts";
import { snapshotOf } from "../../sandbox/tool-host/snapshot.ts";
import type { ToolSource } from "../../sandbox/tool-host/sources.ts";
import type { Session } from "../session.ts";
import { type HostDescription, ToolHost } from "./host.ts";

export interface HostPoolOptions {
  readonly state: string;
  /** Path of `dist/tool-host.cjs`. */
  readonly program: string;
  /** Or why there are no sandboxes. */
  sandboxes(): Sandboxes | { readonly message: string };
}

const hostsMax = 32;
const describedMax = 512;

export class HostPool {
  readonly #asked: HostPoolOptions;
  /** In order of last use. */
  readonly #hosts = new Map<string, ToolHost>();
  readonly #watched = new WeakSet<Session>();
  readonly #described = new Map<string, Promise<HostDescription>>();

  constructor(asked: HostPoolOptions) {
    this.#asked = asked;
  }

  get count(): number {
    return this.#hosts.size;
  }

  /** Description by a host that does nothing else; the same for every session. */
  described(source: ToolSource): Promise<HostDescription> {
    const key = keyOf(source);
    const known = this.#described.get(key);
    if (known !== undefined) return known;
    const host = this.#start(source, "tools", "described");
    const told =
      host instanceof ToolHost
        ? host.described.finally(() => host.end())
        : Promise.resolve<HostDescription>({ ok: false, message: host.message, isTools: false });
    this.#described.set(key, told);
    for (const oldest of this.#described.keys())
      if (this.#described.size > describedMax) this.#described.delete(oldest);
    // A failure that the tool did not cause may be gone next time.
    void told.then((answer) => {
      if (!answer.ok && !answer.isTools) this.#described.delete(key);
    });
    return told;
  }

  host(session: Session, source: ToolSource): ToolHost | { readonly message: string } {
    if (session.isClosed) return { message: "the session is closed" };
    const key = `${session.facts.id} ${keyOf(source)}`;
    const known = this.#hosts.get(key);
    if (known !== undefined) {
      this.#hosts.delete(key);
      if (!known.isOver) {
        this.#hosts.set(key, known);
        return known;
      }
    }
    this.#watch(session);
    // The source has changed: end the host of the previous content.
    this.#retire((one, host) => one.startsWith(`${session.facts.id} ${source.kind} ${source.name} `) && host.isIdle);
    if (this.#hosts.size >= hostsMax) this.#makeRoom();
    if (this.#hosts.size >= hostsMax) return { message: "too many tools run at once" };
    const made = this.#start(source, ownerOf(session), session.facts.id);
    if (made instanceof ToolHost) this.#hosts.set(key, made);
    return made;
  }

  async close(): Promise<void> {
    this.#retire(() => true);
    const sandboxes = this.#asked.sandboxes();
    if ("run" in sandboxes) await sandboxes.end(null);
  }

  #start(source: ToolSource, owner: string, session: string): ToolHost | { readonly message: string } {
    const { state, program } = this.#asked;
    const sandboxes = this.#asked.sandboxes();
    if (!("run" in sandboxes)) return sandboxes;
    const folder = snapshotOf(state, source, program);
    if (folder === null) return { message: "the tool's files could not be copied" };
    const node = realpathSync(process.execPath);
    const { entry } = source;
    return new ToolHost(new HostProcess({ sandboxes, owner, session, folder: realpathSync(folder), entry, node }));
  }

  #watch(session: Session): void {
    if (this.#watched.has(session)) return;
    this.#watched.add(session);
    session.onClose(() => {
      this.#retire((key) => key.startsWith(`${session.facts.id} `));
      const sandboxes = this.#asked.sandboxes();
      if ("run" in sandboxes) void sandboxes.end(ownerOf(session));
    });
  }

  #retire(isMeant: (key: string, host: ToolHost) => boolean): void {
    for (const [key, host] of [...this.#hosts]) {
      if (!isMeant(key, host)) continue;
      this.#hosts.delete(key);
      host.end();
    }
  }

  #makeRoom(): void {
    for (const [key, host] of this.#hosts) {
      if (!host.isIdle) continue;
      this.#hosts.delete(key);
      host.end();
      return;
    }
  }
}

function keyOf({ kind, name, digest }: ToolSource): string {
  return `${kind} ${name} ${digest}`;
}

/** Owner key of its sandbox, not shared with others. */
function ownerOf(session: Session): string {
  return `tools of ${session.facts.id}`;
}
