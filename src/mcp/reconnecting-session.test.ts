// The session behind a server, with a fake daemon connection.
import { expect, test } from "vitest";
import type { CallMessages, OpenSessionRequest, ToolView } from "../core/ports/daemon/daemon-calls.ts";
import type { Answer, MessageClient } from "../core/ports/daemon/exchange.ts";
import { ReconnectingSession } from "./reconnecting-session.ts";

const OPENING: OpenSessionRequest = {
  ...{ cwd: "/", agent: "scout", user: null, trace: null, face: "mcp", pledge: null, token: null },
  ...{ environment: {}, isForParent: false },
};
const GONE = { ok: false, code: "unknown_session", message: "", fix: null } as const;
const TOOL: ToolView = { name: "fs_read", origin: "builtin", description: "", input: {} };

/** A daemon that can be stopped and started again; `answers` are those to a call. */
function owner(answers: (tool: string) => object): {
  readonly session: ReconnectingSession;
  stop(): void;
  restart(): void;
  tools: readonly ToolView[];
} {
  let isStopped = false;
  let lost: () => void = () => undefined;
  const fixture = { tools: [TOOL] as readonly ToolView[] };
  const ask = async (name: string, value: { readonly tool?: string }): Promise<unknown> => {
    if (name === "session.open") return { ok: true, value: { session: "s_1", agent: "scout", notes: [] } };
    if (isStopped) return GONE;
    if (name === "tools.list") return { ok: true, value: { tools: fixture.tools } };
    return { ok: true, value: name === "call.do" ? answers(value.tool ?? "") : {} };
  };
  const session = new ReconnectingSession({
    opening: OPENING,
    waitMilliseconds: 0,
    connect: async (ring) => {
      lost = ring;
      return { ok: true, value: { ask, close: () => undefined } } as unknown as Answer<MessageClient<CallMessages>>;
    },
    present: async (_tool, _input, result) => result,
    note: () => undefined,
  });
  return {
    session,
    stop: () => {
      isStopped = true;
    },
    restart: () => {
      isStopped = false;
      lost();
    },
    get tools() {
      return fixture.tools;
    },
    set tools(tools) {
      fixture.tools = tools;
    },
  };
}

const NEVER = new AbortController().signal;

test("a session that a user ended stays ended, also after the daemon restarts", async () => {
  const done = { outcome: "done", receipt: "c_1", result: { text: "x" } };
  const { session, stop, restart } = owner(() => done);
  expect((await session.call("fs_read", {}, NEVER)).isError).not.toBe(true);
  stop();
  // Only the list is requested, as it is every second.
  await session.currentList();
  restart();
  expect(await session.call("fs_read", {}, NEVER)).toMatchObject({
    isError: true,
    structuredContent: { code: "revoked" },
  });
});

test.each(["budget_exhausted", "generation_stale", "unsupported_command", "scope_violation", "approval_required"])(
  "a third-party tool that is not on the list answers as an unknown one, also if the denial is %s",
  async (code) => {
    const denied = { outcome: "denied", id: "c_1", code, need: null, hint: "", approval: null, reason: "why" };
    const { session } = owner(() => denied);
    const answers = await Promise.all(["fs_read", "send_money"].map((tool) => session.call(tool, {}, NEVER)));
    expect(answers.map(({ structuredContent }) => structuredContent)).toMatchObject([
      { code },
      { code: "unknown_tool" },
    ]);
    expect(JSON.stringify(answers[1])).not.toContain("why");
  },
);

test("a built-in tool that was not granted says so, with what to request", async () => {
  const denied = { outcome: "denied", id: "c_1", code: "capability_absent", need: "memory.read a", hint: "ask" };
  const { session } = owner(() => ({ ...denied, approval: null, reason: null }));
  expect((await session.call("memory_get", {}, NEVER)).structuredContent).toMatchObject({
    code: "capability_absent",
    need: "memory.read a",
  });
});

test("an exhausted budget is reported to a client that knew the tool, although the list no longer has it", async () => {
  const denied = { outcome: "denied", id: "c_1", need: null, hint: "", approval: null, reason: null };
  const fixture = owner((tool) => ({ ...denied, code: tool === "fs_read" ? "budget_exhausted" : "capability_absent" }));
  await fixture.session.list();
  fixture.tools = [];
  const answer = await fixture.session.call("fs_read", {}, NEVER);
  expect(answer).toMatchObject({ structuredContent: { code: "budget_exhausted" } });
});

test("missing trust is reported as such, although the tool is on no list", async () => {
  const denied = { outcome: "denied", id: "c_1", need: null, hint: "h", approval: null, reason: null };
  const fixture = owner((tool) => ({ ...denied, code: tool === "fs_read" ? "untrusted_policy" : "capability_absent" }));
  fixture.tools = [];
  const answers = await Promise.all(["fs_read", "send_money"].map((tool) => fixture.session.call(tool, {}, NEVER)));
  expect(answers.map(({ structuredContent }) => structuredContent)).toMatchObject([
    { code: "untrusted_policy", hint: "h" },
    { code: "unknown_tool" },
  ]);
});

test("a call that is cancelled while the session opens does not reach the daemon", async () => {
  const calls: string[] = [];
  const { session } = owner((tool) => {
    calls.push(tool);
    return { outcome: "done", receipt: "c_1", result: null };
  });
  const controller = new AbortController();
  const result = session.call("fs_read", {}, controller.signal);
  controller.abort();
  expect([(await result).isError, calls]).toEqual([true, []]);
});
