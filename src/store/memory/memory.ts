// Values by key in namespaces: with versions, expiry, and limited space.
import { setImmediate as turn } from "node:timers/promises";
import type { Durable } from "../../core/ports/stores/durable.ts";
import type {
  MemoryStore,
  MemoryValue,
  MemoryWrite,
  MemoryWriteResult,
  Namespace,
} from "../../core/ports/stores/memory-store.ts";
import type { CommitLoop } from "../commit-loop.ts";
import { isOver, type KeyPosition, lookRowsMax, memoryOf, rowOf, rowsFrom } from "./memory-row.ts";
import { holdsWords, keyOf, namespaceText, plainOfKey, wordsOf } from "./memory-text.ts";
import { sweepRowsMax, sweptOnce, writeMemory } from "./memory-write.ts";

export const memoryListCountMax: number = 1_000;

type ListQuery = Parameters<MemoryStore["list"]>[1];

export class SqliteMemoryStore implements MemoryStore {
  readonly #loop: CommitLoop;

  constructor(loop: CommitLoop) {
    this.#loop = loop;
  }

  get(namespace: Namespace, key: string, now: number): Durable<MemoryValue | null> {
    const [space, bytes] = [namespaceText(namespace), keyOf(key)];
    return this.#loop.read((connection) => {
      const row = bytes === null ? undefined : rowOf(connection, space, bytes);
      return row === undefined || isOver(row, now) ? null : memoryOf(row);
    });
  }

  set(write: MemoryWrite): Durable<MemoryWriteResult> {
    return this.#loop.write((connection) => writeMemory(connection, write), write.key.length + write.value.length);
  }

  delete(namespace: Namespace, key: string, version: number | null): Durable<boolean> {
    const [space, bytes] = [namespaceText(namespace), keyOf(key)];
    return this.#loop.write((connection) => {
      if (bytes === null) return false;
      const where = "namespace = ? AND key = ? AND (? IS NULL OR version = ?)";
      return connection.run(`DELETE FROM memory WHERE ${where}`, space, bytes, version, version) > 0;
    });
  }

  async list(namespace: Namespace, asked: ListQuery, now: number): Durable<readonly MemoryValue[]> {
    const space = namespaceText(namespace);
    const words = wordsOf(asked.text);
    const count = Math.min(asked.count, memoryListCountMax);
    const from = keyOf(asked.prefix);
    const after = asked.after === null ? null : keyOf(asked.after);
    const found: MemoryValue[] = [];
    if (words === null || from === null || (asked.after !== null && after === null)) return { ok: true, value: found };
    let place: KeyPosition =
      after !== null && Buffer.compare(after, from) >= 0 ? { key: after, isIn: false } : { key: from, isIn: true };
    // Bounded: every iteration but the last advances by that many keys, and a namespace has a limited number of them.
    for (;;) {
      const looked = await this.#loop.read((connection) => rowsFrom(connection, space, place));
      if (!looked.ok) return looked;
      for (const row of looked.value) {
        const key = plainOfKey(row["key"]);
        if (!key.startsWith(asked.prefix) || found.length >= count) return { ok: true, value: found };
        if (isOver(row, now)) continue;
        const value = memoryOf(row);
        if (holdsWords(`${value.key}\n${value.value}`, words)) found.push(value);
      }
      const last = looked.value.at(-1);
      if (last === undefined || looked.value.length < lookRowsMax) return { ok: true, value: found };
      place = { key: last["key"] as Uint8Array, isIn: false };
      await turn();
    }
  }

  async sweep(now: number): Durable<number> {
    let removed = 0;
    // In steps, so that no commit blocks others for long; bounded by the number of rows.
    for (;;) {
      const swept = await this.#loop.write((connection) => sweptOnce(connection, now));
      if (!swept.ok) return swept;
      removed += swept.value;
      if (swept.value < sweepRowsMax) return { ok: true, value: removed };
    }
  }
}
