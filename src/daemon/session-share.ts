// How many sessions one process and its descendants may have, so that none can block all others.
import type { Peer, ProcessMark } from "./rpc/serving.ts";
import type { Session } from "./session.ts";

/** Per process and its descendants: a quarter of the total. */
export const sessionsOfProcessMax = 1_024;

/**
 * Whether one more session of this process fits. Every ancestor that has a session is checked, too: sessions of its
 * descendants count as its own.
 */
export function hasSessionRoom(sessions: readonly Session[], { ancestors }: Peer, root: ProcessMark): boolean {
  if (sessions.length < sessionsOfProcessMax) return true;
  const counted = new Map<string, number>([[keyOf(root), 0]]);
  const above = new Set(ancestors.map(keyOf));
  for (const { facts } of sessions) {
    const key = keyOf(facts.root);
    if (above.has(key)) counted.set(key, 0);
  }
  for (const { facts } of sessions) {
    const keys = new Set([keyOf(facts.root), ...facts.connected.peer.ancestors.map(keyOf)]);
    for (const key of keys) {
      const many = counted.get(key);
      if (many === undefined) continue;
      if (many + 1 >= sessionsOfProcessMax) return false;
      counted.set(key, many + 1);
    }
  }
  return true;
}

function keyOf({ pid, start }: ProcessMark): string {
  return `${pid} ${start}`;
}
