// One write to the memory, inside a commit: the expected version must match, and there must be room.
import type { MemoryWrite, MemoryWriteResult } from "../../core/ports/stores/memory-store.ts";
import type { Connection } from "../connection.ts";
import { isOver, rowOf } from "./memory-row.ts";
import { agentText, bytesOf, jsonOf, keyOf, namespaceText } from "./memory-text.ts";

export const memoryKeyBytesMax: number = 512;
export const memoryValueBytesMax: number = 256 * 1024;
/** Of one namespace. Keys count towards the bytes too. */
export const memorySpaceKeysMax: number = 10_000;
export const memorySpaceBytesMax: number = 16 * 1024 * 1024;

/** Rows removed in one commit. */
export const sweepRowsMax: number = 10_000;
/** A namespace that has been empty this long is dropped, and its versions start again. */
const spaceIdleMillisecondsMax = 30 * 24 * 60 * 60_000;

export function writeMemory(connection: Connection, write: MemoryWrite): MemoryWriteResult {
  const [space, key, bytes] = [namespaceText(write.namespace), keyOf(write.key), bytesOf(write.value)];
  if (key === null) return refused("quota", "the key contains an unpaired surrogate");
  if (key.length > memoryKeyBytesMax) return refused("quota", `a key has at most ${memoryKeyBytesMax} bytes`);
  if (bytes > memoryValueBytesMax) return refused("quota", `a value has at most ${memoryValueBytesMax} bytes`);
  const there = liveVersion(connection, space, key, write.at);
  if (write.version !== null && write.version !== there)
    return refused("version_conflict", there === 0 ? "there is no such key" : `it has version ${there}`);
  const size = key.length + bytes;
  if (!hasRoom(connection, space, key, size)) {
    forgetOver(connection, space, write.at);
    if (!hasRoom(connection, space, key, size))
      return refused("quota", `a namespace has at most ${memorySpaceKeysMax} keys and ${memorySpaceBytesMax} bytes`);
  }
  const version = nextVersion(connection, space, write.at);
  connection.run(
    `INSERT INTO memory (namespace, key, value, version, at, expires, is_clean, writer, bytes)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, version = excluded.version, at = excluded.at,
       expires = excluded.expires, is_clean = excluded.is_clean, writer = excluded.writer, bytes = excluded.bytes`,
    ...[space, key, jsonOf(write.value), version, write.at, whole(write.expires)],
    ...[write.isClean ? 1 : 0, agentText(write.writer), size],
  );
  return { ok: true, version };
}

/** The number of removed rows; at the limit there may be more. */
export function sweptOnce(connection: Connection, now: number): number {
  const removed = connection.run(
    "DELETE FROM memory WHERE rowid IN (SELECT rowid FROM memory WHERE expires <= ? LIMIT ?)",
    now,
    sweepRowsMax,
  );
  connection.run("DELETE FROM memory_space WHERE keys = 0 AND at <= ?", now - spaceIdleMillisecondsMax);
  return removed;
}

/** 0 if there is none, or if it has expired: then it is removed now, and no longer counted. */
function liveVersion(connection: Connection, space: string, key: Uint8Array, now: number): number {
  const row = rowOf(connection, space, key);
  if (row === undefined) return 0;
  if (!isOver(row, now)) return Number(row["version"]);
  connection.run("DELETE FROM memory WHERE namespace = ? AND key = ?", space, key);
  return 0;
}

function hasRoom(connection: Connection, space: string, key: Uint8Array, size: number): boolean {
  const room = connection.get("SELECT keys, bytes FROM memory_space WHERE namespace = ?", space);
  const old = connection.get("SELECT bytes FROM memory WHERE namespace = ? AND key = ?", space, key);
  const keys = Number(room?.["keys"] ?? 0) + (old === undefined ? 1 : 0);
  const bytes = Number(room?.["bytes"] ?? 0) + size - Number(old?.["bytes"] ?? 0);
  // An existing value may be replaced by a smaller one even if the limits were wider before.
  return keys <= memorySpaceKeysMax && (bytes <= memorySpaceBytesMax || size <= Number(old?.["bytes"] ?? -1));
}

function forgetOver(connection: Connection, space: string, now: number): void {
  connection.run("DELETE FROM memory WHERE namespace = ? AND expires <= ?", space, now);
}

function nextVersion(connection: Connection, space: string, at: number): number {
  connection.run(
    `INSERT INTO memory_space (namespace, last, at) VALUES (?, 1, ?)
       ON CONFLICT (namespace) DO UPDATE SET last = last + 1, at = excluded.at`,
    space,
    at,
  );
  return Number(connection.get("SELECT last FROM memory_space WHERE namespace = ?", space)?.["last"]);
}

/** Rounded down: expires sooner, never later. */
function whole(expires: number | null): number | null {
  return expires === null ? null : Math.floor(expires);
}

function refused(code: "version_conflict" | "quota", message: string): MemoryWriteResult {
  return { ok: false, code, message };
}
