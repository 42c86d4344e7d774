// A disk whose power can be cut: it has for certain what it was told to make sure of, and of the rest whatever it likes.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Happened } from "./trace.ts";

interface Kept {
  sure: Uint8Array;
  unsure: Change[];
}

type Change = { readonly at: number; readonly bytes: Uint8Array } | { readonly size: number };
type NameChange = { readonly path: string; readonly kept: Kept | null };

const sectorBytes = 512;

export class Disk {
  readonly #live: Map<string, Kept> = new Map();
  readonly #sureNames: Map<string, Kept> = new Map();
  #unsureNames: NameChange[] = [];
  syncs = 0;

  happen(happened: Happened): void {
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

  /** The disk after the power came back. `luck` says for each unsure sector whether it arrived after all; 0 to 1. */
  writeTo(folder: string, luck: () => boolean): void {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const [path, kept] of this.#sureNames) {
      // Memory that processes share; after a power cut nobody shares it any more.
      if (path.endsWith("-shm")) continue;
      const bytes = kept.unsure.reduce((sum, change) => changed(sum, change, luck), kept.sure);
      writeFileSync(join(folder, basename(path)), bytes, { mode: 0o600 });
    }
  }

  #at(path: string): Kept {
    const known = this.#live.get(path);
    if (known !== undefined) return known;
    const kept: Kept = { sure: new Uint8Array(0), unsure: [] };
    this.#live.set(path, kept);
    this.#unsureNames.push({ path, kept });
    return kept;
  }

  /** Of a file: its bytes and that it is there at all, as Linux file systems have it. Of a folder: its names. */
  #sync(path: string): void {
    this.syncs += 1;
    const kept = this.#live.get(path);
    if (kept !== undefined) {
      kept.sure = kept.unsure.reduce((sum, change) => changed(sum, change, () => true), kept.sure);
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

function changed(before: Uint8Array, change: Change, arrives: () => boolean): Uint8Array {
  if ("size" in change) {
    if (!arrives()) return before;
    const after = new Uint8Array(change.size);
    after.set(before.subarray(0, change.size));
    return after;
  }
  let after = before;
  // Power goes between two sectors, not only between two writes.
  for (let from = 0; from < change.bytes.length; from += sectorBytes) {
    if (!arrives()) continue;
    const part = change.bytes.subarray(from, from + sectorBytes);
    const end = change.at + from + part.length;
    if (after === before || end > after.length) {
      const wider = new Uint8Array(Math.max(end, after.length));
      wider.set(after);
      after = wider;
    }
    after.set(part, change.at + from);
  }
  return after;
}
