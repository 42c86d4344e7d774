// A simulated disk whose power can be cut: it has everything that was flushed, and any part of the rest.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DiskEvent } from "./trace.ts";

interface FileContent {
  readonly sure: Content;
  unsure: Change[];
}

type Change = { readonly at: number; readonly bytes: Uint8Array } | { readonly size: number };
type NameChange = { readonly path: string; readonly kept: FileContent | null };

const sectorBytes = 512;

export class Disk {
  readonly #live: Map<string, FileContent> = new Map();
  readonly #sureNames: Map<string, FileContent> = new Map();
  #unsureNames: NameChange[] = [];
  syncs = 0;

  happen(happened: DiskEvent): void {
    switch (happened.kind) {
      case "make":
        this.#at(happened.path);
        return;
      case "write":
        this.#at(happened.path).unsure.push({ at: happened.at, bytes: happened.bytes });
        return;
      case "truncate":
        this.#at(happened.path).unsure.push({ size: happened.size });
        return;
      case "sync":
        this.#sync(happened.path);
        return;
      case "unlink":
        this.#live.delete(happened.path);
        this.#unsureNames.push({ path: happened.path, kept: null });
        return;
      case "rename": {
        const kept = this.#at(happened.from);
        this.#live.delete(happened.from);
        this.#live.set(happened.to, kept);
        this.#unsureNames.push({ path: happened.from, kept: null }, { path: happened.to, kept });
        return;
      }
      case "said":
        return;
      default:
        happened satisfies never;
    }
  }

  /** The disk after the power came back. `luck` decides for each unflushed sector whether it arrived. */
  writeTo(folder: string, luck: () => boolean): void {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const [path, kept] of this.#sureNames) {
      // Memory that processes share; after a power cut it is gone.
      if (path.endsWith("-shm")) continue;
      const content = new Content(kept.sure.bytes);
      for (const change of kept.unsure) content.apply(change, luck);
      writeFileSync(join(folder, basename(path)), content.bytes, { mode: 0o600 });
    }
  }

  #at(path: string): FileContent {
    const known = this.#live.get(path);
    if (known !== undefined) return known;
    const kept: FileContent = { sure: new Content(new Uint8Array(0)), unsure: [] };
    this.#live.set(path, kept);
    this.#unsureNames.push({ path, kept });
    return kept;
  }

  /** Of a file: its bytes and its existence, as Linux file systems do. Of a folder: its names. */
  #sync(path: string): void {
    this.syncs += 1;
    const kept = this.#live.get(path);
    if (kept !== undefined) {
      for (const change of kept.unsure) kept.sure.apply(change, () => true);
      kept.unsure = [];
    }
    this.#unsureNames = this.#unsureNames.filter((change) => {
      const isSure = kept === undefined ? dirname(change.path) === path : change.kept === kept;
      if (!isSure) return true;
      if (change.kept === null) this.#sureNames.delete(change.path);
      else this.#sureNames.set(change.path, change.kept);
      return false;
    });
  }
}

/** A growing byte buffer. */
class Content {
  #room: Uint8Array;
  #size: number;

  constructor(bytes: Uint8Array) {
    this.#room = Uint8Array.from(bytes);
    this.#size = bytes.length;
  }

  get bytes(): Uint8Array {
    return this.#room.subarray(0, this.#size);
  }

  apply(change: Change, arrives: () => boolean): void {
    if ("size" in change) {
      if (arrives()) this.#resize(change.size);
      return;
    }
    // Power fails between two sectors, not only between two writes.
    for (let from = 0; from < change.bytes.length; from += sectorBytes) {
      if (!arrives()) continue;
      const part = change.bytes.subarray(from, from + sectorBytes);
      const at = change.at + from;
      if (at + part.length > this.#size) this.#resize(at + part.length);
      this.#room.set(part, at);
    }
  }

  #resize(size: number): void {
    if (size > this.#room.length) {
      const wider = new Uint8Array(size * 2);
      wider.set(this.bytes);
      this.#room = wider;
    }
    // A truncated part comes back as zeros.
    if (size < this.#size) this.#room.fill(0, size, this.#size);
    this.#size = size;
  }
}
