// How many of the sessions one process may have, with everything below it: whoever takes them all keeps everybody else out.
import type { Peer, ProcessMark } from "./rpc/serving.ts";
import type { Session } from "./session.ts";

/** Of one process and what descends from it: a quarter of all there may be. */
export const sessionsOfProcessMax = 1_024;

/**
 * Whether one more session of this process fits. Every process above it that has a session is looked at, too: what it starts
 * counts as its own.
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
