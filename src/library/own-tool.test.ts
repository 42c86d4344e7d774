// A tool of the application runs only on a receipt from the daemon, whatever else the daemon answers or fails to answer.
import { expect, test } from "vitest";
import type { JsonObject } from "../core/base/json.ts";
import type { Reading } from "../core/notation/reading.ts";
import type { CallMessages } from "../core/ports/daemon/daemon-calls.ts";
import type { Answer, MessageClient } from "../core/ports/daemon/exchange.ts";
import { defineTool } from "../runtime/tool/define.ts";
import { callOwn } from "./own-tool.ts";
import { registryOf } from "./registry.ts";

const reading: Reading = {
  pathSettings: { home: ["home", "ada"], base: ["work"], protectedPaths: [] },
  toAscii: (host) => host,
  ceiling: null,
};

interface Heard {
  readonly name: string;
  readonly value: JsonObject;
}

/** A daemon that gives these answers, and the messages it received. */
async function called(
  commit: () => Promise<unknown>,
  more: { readonly signal?: AbortSignal; readonly input?: JsonObject } = {},
): Promise<{ readonly answer: unknown; readonly runs: number; readonly heard: readonly Heard[] }> {
  const heard: Heard[] = [];
  let runs = 0;
  const registry = registryOf(reading, null);
  const registered = registry.register(
    defineTool({
      name: "note",
      description: "Reads a note.",
      capabilities: { fs_reach: { read: ["notes"] } },
      input: { type: "object", properties: { file: { type: "string" } } },
      requests: ({ file }) => (file === undefined ? [] : [{ verb: "fs.read", path: file }]),
      execute: () => ++runs,
    }),
    "application",
  );
  expect(registered.ok).toBe(true);
  const tool = registry.find("note");
  if (tool === null) throw new Error("not registered");
  const calls = {
    ask: async (name: string, value: JsonObject): Promise<Answer<unknown>> => {
      heard.push({ name, value });
      return (await commit()) as Answer<unknown>;
    },
    tell: (name: string, value: JsonObject): boolean => {
      heard.push({ name, value });
      return true;
    },
    close: () => undefined,
  } as unknown as MessageClient<CallMessages>;
  const answer = await callOwn({
    ...{ calls, session: "s1", agent: "scout", tool, input: more.input ?? {}, waitMilliseconds: 0 },
    ...{ signal: more.signal ?? new AbortController().signal, protectedPaths: [], now: () => 0 },
  });
  return { answer, runs, heard };
}

const allowed = (receipt: unknown): (() => Promise<unknown>) => {
  return async () => ({ ok: true, value: { outcome: "allowed", receipt, left: [] } });
};

test("runs once per receipt; its requests and its outcome are sent to the daemon", async () => {
  const { answer, runs, heard } = await called(allowed("e_1"), { input: { file: "notes/a.txt" } });
  expect(answer).toEqual({ ok: true, value: 1, receipt: "e_1" });
  expect(runs).toBe(1);
  expect(heard.map(({ name }) => name)).toEqual(["call.commit", "call.settle"]);
  expect(heard[0]?.value).toEqual({
    session: "s1",
    tool: "note",
    input: { file: "notes/a.txt" },
    requests: ["fs.read /work/notes/a.txt"],
    declaration: { fs_reach: { read: ["notes"] } },
    waitMilliseconds: 0,
  });
  expect(heard[1]?.value).toMatchObject({ session: "s1", receipt: "e_1", ended: "done", isUntrusted: false });
});

const told = { outcome: "denied", id: "e_2", code: "revoked", need: null, hint: "No.", approval: null, reason: null };

test.each<{ readonly title: string; readonly commit: () => Promise<unknown>; readonly code: string }>([
  { title: "an empty receipt", commit: allowed(""), code: "audit_unavailable" },
  { title: "a receipt that is not text", commit: allowed(7), code: "audit_unavailable" },
  { title: "no receipt", commit: allowed(undefined), code: "audit_unavailable" },
  { title: "a denial", commit: async () => ({ ok: true, value: told }), code: "revoked" },
  {
    title: "a refusal",
    commit: async () => ({ ok: false, code: "not_available", message: "gone", fix: null }),
    code: "not_available",
  },
  { title: "no answer at all", commit: () => Promise.reject(new Error("gone")), code: "audit_unavailable" },
])("$title does not run it", async ({ commit, code }) => {
  const { answer, runs, heard } = await called(commit);
  expect(answer).toMatchObject({ ok: false, code });
  expect(runs).toBe(0);
  expect(heard).toHaveLength(1);
});

test("an undeclared request is reported to the daemon, and never runs, whatever the daemon answers", async () => {
  const input = { file: "/etc/passwd" };
  const denied = { ...told, code: "scope_violation", need: "fs.read /etc/passwd" };
  const written = await called(async () => ({ ok: true, value: denied }), { input });
  expect(written.answer).toMatchObject({ ok: false, code: "scope_violation", id: "e_2" });
  expect(written.heard[0]?.value).toMatchObject({ requests: ["fs.read /etc/passwd"] });
  const unwritten = await called(async () => ({ ok: false, code: "not_available", message: "", fix: null }), { input });
  expect(unwritten.answer).toMatchObject({ ok: false, code: "scope_violation", id: "", need: "fs.read /etc/passwd" });
  const wrong = await called(allowed("e_1"), { input });
  expect(wrong.answer).toMatchObject({ ok: false, code: "scope_violation" });
  expect(wrong.heard.map(({ name, value }) => [name, value["ended"]])).toEqual([
    ["call.commit", undefined],
    ["call.settle", "refused"],
  ]);
  expect([written.runs, unwritten.runs, wrong.runs]).toEqual([0, 0, 0]);
});

test("a call that was cancelled before is not sent", async () => {
  const { answer, runs, heard } = await called(allowed("e_1"), { signal: AbortSignal.abort() });
  expect(answer).toMatchObject({ ok: false, code: "revoked" });
  expect([runs, heard.length]).toEqual([0, 0]);
});

test("a call that is cancelled during the decision does not run, and says so", async () => {
  const cancel = new AbortController();
  const commit = async (): Promise<unknown> => {
    cancel.abort();
    return allowed("e_1")();
  };
  const { answer, runs, heard } = await called(commit, { signal: cancel.signal });
  expect(answer).toMatchObject({ ok: false, code: "revoked", id: "e_1" });
  expect(runs).toBe(0);
  expect(heard[1]?.value).toMatchObject({ ended: "failed revoked" });
});
