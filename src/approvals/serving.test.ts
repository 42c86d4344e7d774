// Which calls an answer covers, one difference at a time; the digest of a call; and the limit of pending questions.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Approval } from "../core/ports/stores/approval-store.ts";
import { canonicalJson } from "../log/chain/canonical.ts";
import { specsCover } from "./cover.ts";
import { type CallIdentity, callDigest } from "./digest.ts";
import { mayAsk } from "./flood.ts";
import { agree, begin, refuse } from "./lifecycle.ts";
import { pendingPerAgentMax } from "./limits.ts";
import { answeredLevel, type CurrentCall, isLive, serves } from "./serving.ts";
import { ASKED_AT, answerOf, approvalOf, LADDER, READING, requestOf } from "./testing/approval.ts";

function approved(step: string, uses = 1, level: 1 | 2 = 1, pin: string | null = null): Approval {
  const change = agree(approvalOf({ pin }), answerOf({ step, uses, level }), LADDER);
  if (!change.ok) throw new Error(change.code);
  return change.approval;
}

const CALL: CurrentCall = {
  workspace: "/work/p",
  agent: "scout",
  tool: "fs_write",
  pin: null,
  digest: "d".repeat(64),
  generation: 3,
  level: 1,
  profile: null,
  asking: [requestOf("fs.write /work/p/a.txt")],
};
/** An answer with the widest step there is for a model. */
function model(profile: string | null): Approval {
  const shown = { provider: "anthropic", model: "claude-x", ...(profile === null ? {} : { profile }) };
  const specs = ["model.use{providers=[anthropic],models=[claude-x]}"];
  return { ...approved("folder"), tool: "model", arguments: shown, scope: { kind: "grants", specs } };
}
const USE = { tool: "model", asking: [requestOf("model.use anthropic claude-x")] };
const SOON = ASKED_AT + 2000;
const covers = specsCover(READING);

describe("an answer covers", () => {
  const rows: readonly (readonly [string, Approval, Partial<CurrentCall>, boolean])[] = [
    ["exactly the call that was shown", approved("exact"), {}, true],
    ["no call with other arguments", approved("exact"), { digest: "e".repeat(64) }, false],
    ["with a wider step one with other arguments", approved("file"), { digest: "e".repeat(64) }, true],
    ["no sibling file", approved("file"), { asking: [requestOf("fs.write /work/p/b.txt")] }, false],
    ["with the folder the sibling file", approved("folder"), { asking: [requestOf("fs.write /work/p/b.txt")] }, true],
    ["no other verb", approved("folder"), { asking: [requestOf("fs.delete /work/p/a.txt")] }, false],
    [
      "not a call with further requests",
      approved("folder"),
      { asking: [requestOf("fs.write /work/p/a.txt"), requestOf("net.get https://x.example/")] },
      false,
    ],
    ["not a call without known requests", approved("folder"), { asking: [] }, false],
    ["no other agent", approved("folder"), { agent: "scout2" }, false],
    ["no agent of that name elsewhere", approved("folder"), { workspace: "/work/q" }, false],
    ["no agent of that name without a workspace", approved("folder"), { workspace: null }, false],
    ["no other tool", approved("folder"), { tool: "fs_edit" }, false],
    ["not the tool once it has changed", approved("folder"), { pin: "p2" }, false],
    ["the tool as long as it is unchanged", approved("folder", 1, 1, "p1"), { pin: "p1" }, true],
    ["no tool that lost its pin", approved("folder", 1, 1, "p1"), { pin: null }, false],
    ["a model for the client that was shown", model("claude"), { ...USE, profile: "claude" }, true],
    ["a model for no other client", model("claude"), { ...USE, profile: "codex" }, false],
    ["a model for no use without a client", model("claude"), USE, false],
    ["a model without a client for none", model(null), { ...USE, profile: "claude" }, false],
    [
      "no other model",
      model("claude"),
      { ...USE, profile: "claude", asking: [requestOf("model.use anthropic claude-y")] },
      false,
    ],
    [
      "no model of that name of another provider",
      model("claude"),
      { ...USE, profile: "claude", asking: [requestOf("model.use openai claude-x")] },
      false,
    ],
    ["no later generation", approved("folder"), { generation: 4 }, false],
    ["no call that needs presence, by a plain yes", approved("folder"), { level: 2 }, false],
    ["a call that needs presence, with presence", approved("folder", 1, 2), { level: 2 }, true],
  ];
  for (const [title, approval, call, expected] of rows)
    test(title, () => expect(serves(approval, { ...CALL, ...call }, SOON, covers)).toBe(expected));

  test("not before, not after, not once it is used or refused", () => {
    expect(serves(approvalOf(), CALL, SOON, covers)).toBe(false);
    expect(serves(approved("exact"), CALL, ASKED_AT + 601_000, covers)).toBe(false);
    const used = begin(approved("exact"), SOON);
    expect(used.ok && serves(used.approval, CALL, SOON, covers)).toBe(false);
    const refused = refuse(approved("exact"), "no");
    expect(refused.ok && serves(refused.approval, CALL, SOON, covers)).toBe(false);
    const twice = begin(approved("exact", 2), SOON);
    expect(twice.ok && serves(twice.approval, CALL, SOON, covers)).toBe(true);
  });

  test("not if it was stored as approved without the answers", () => {
    expect(serves({ ...approved("exact"), need: 2 }, CALL, SOON, covers)).toBe(false);
    expect(serves({ ...approved("exact"), answers: [] }, CALL, SOON, covers)).toBe(false);
    expect(serves({ ...approved("exact"), usesLeft: 0 }, CALL, SOON, covers)).toBe(false);
  });
});

test("a live approval can still be answered or used", () => {
  expect(isLive(approvalOf(), SOON)).toBe(true);
  expect(isLive(approvalOf(), ASKED_AT + 3_600_000)).toBe(false);
  expect(isLive(approved("exact"), SOON)).toBe(true);
  expect(isLive({ ...approved("exact"), usesLeft: 0 }, SOON)).toBe(false);
  expect(isLive({ ...approved("exact"), state: "executing" }, SOON)).toBe(false);
});

test("several people answered at the level of the weakest", () => {
  expect(answeredLevel(approvalOf())).toBe(0);
  const answers = [answerOf({ level: 2 }), answerOf({ by: "bob", level: 1 })];
  expect(answeredLevel({ ...approvalOf(), answers })).toBe(1);
  expect(answeredLevel({ ...approvalOf(), answers: answers.slice(0, 1) })).toBe(2);
});

describe("the digest of a call", () => {
  const digest = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");
  const call: CallIdentity = {
    workspace: "/w",
    agent: "a",
    tool: "t",
    pin: null,
    generation: 1,
    arguments: { x: 1, y: { b: [1, 2], a: "" } },
    asking: ["fs.read /a", "net.get https://x/"],
  };
  const name = (changed: Partial<CallIdentity> = {}): string =>
    callDigest(digest, canonicalJson, { ...call, ...changed });

  test("does not depend on the order of keys", () => {
    expect(name()).toMatch(/^[0-9a-f]{64}$/);
    expect(name({ arguments: { y: { a: "", b: [1, 2] }, x: 1 } })).toBe(name());
    expect(name({ asking: call.asking.toReversed() })).toBe(name());
  });

  const others: readonly (readonly [string, Partial<CallIdentity>])[] = [
    ["workspace", { workspace: "/v" }],
    ["no workspace", { workspace: null }],
    ["a workspace called null", { workspace: "null" }],
    ["agent", { agent: "b" }],
    ["agent and tool run together", { agent: "at", tool: "" }],
    ["tool", { tool: "u" }],
    ["pin", { pin: "p" }],
    ["an empty pin", { pin: "" }],
    ["generation", { generation: 2 }],
    ["a value", { arguments: { x: 2, y: { b: [1, 2], a: "" } } }],
    ["the order of a list", { arguments: { x: 1, y: { b: [2, 1], a: "" } } }],
    ["a number as text", { arguments: { x: "1", y: { b: [1, 2], a: "" } } }],
    ["the file a path leads to", { asking: ["fs.read /b", "net.get https://x/"] }],
    ["two requests as one", { asking: ["fs.read /a,net.get https://x/"] }],
  ];
  for (const [title, changed] of others)
    test(`${title} makes it different`, () => expect(name(changed)).not.toBe(name()));
});

test("the number of pending requests of an agent is limited, but the same one may be repeated", () => {
  const waiting = (count: number): readonly Approval[] =>
    Array.from({ length: count }, (_, at) => approvalOf({ id: `a-${at}`, digest: `d${at}` }));
  expect(mayAsk(waiting(pendingPerAgentMax - 1), "new")).toEqual({ ok: true });
  expect(mayAsk(waiting(pendingPerAgentMax), "new")).toMatchObject({ ok: false, code: "too_many_pending" });
  expect(mayAsk(waiting(pendingPerAgentMax), "d3")).toEqual({ ok: true });
});
