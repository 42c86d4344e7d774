// One process and its descendants have a limited share of the sessions.
import { expect, test } from "vitest";
import type { Peer, ProcessMark } from "./rpc/serving.ts";
import type { Session } from "./session.ts";
import { hasSessionRoom, sessionsOfProcessMax } from "./session-share.ts";

const mark = (pid: number, start = "1"): ProcessMark => ({ pid, start });
/** Itself first. */
const peerOf = (...pids: readonly number[]): Peer => ({
  ...mark(pids[0] as number),
  uid: 0,
  ancestors: pids.map((pid) => mark(pid)),
  terminal: false,
});
const session = (root: ProcessMark, peer: Peer): Session => ({ facts: { root, connected: { peer } } }) as never;
const many = (count: number, make: (at: number) => Session): readonly Session[] =>
  Array.from({ length: count }, (_, at) => make(at));

test("a process has its share and not one more, over any number of connections", () => {
  const peer = peerOf(10, 5, 1);
  const own = many(sessionsOfProcessMax, () => session(mark(10), peerOf(10, 5, 1)));
  expect(hasSessionRoom(own.slice(1), peer, mark(10))).toBe(true);
  expect(hasSessionRoom(own, peer, mark(10))).toBe(false);
  // Its sibling is not affected, nor is a later process with the same pid.
  expect(hasSessionRoom(own, peerOf(11, 5, 1), mark(11))).toBe(true);
  const later: Peer = { ...peer, start: "2", ancestors: [mark(10, "2"), mark(5)] };
  expect(hasSessionRoom(own, later, mark(10, "2"))).toBe(true);
});

test("its children count as its own", () => {
  const below = many(sessionsOfProcessMax - 1, (at) => session(mark(100 + at), peerOf(100 + at, 10, 5, 1)));
  const own = session(mark(10), peerOf(10, 5, 1));
  expect(hasSessionRoom([own, ...below], peerOf(10, 5, 1), mark(10))).toBe(false);
  expect(hasSessionRoom([own, ...below], peerOf(9_999, 10, 5, 1), mark(9_999))).toBe(false);
  expect(hasSessionRoom(below, peerOf(9_999, 10, 5, 1), mark(9_999))).toBe(true);
});

test("a session for a parent counts for the parent", () => {
  const all = many(sessionsOfProcessMax, (at) => session(mark(5), peerOf(100 + at, 5, 1)));
  expect(hasSessionRoom(all, peerOf(7, 5, 1), mark(5))).toBe(false);
});
