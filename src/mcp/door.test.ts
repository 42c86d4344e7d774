// The protocol of a session's door: what comes in is translated, and never names a session.
import { describe, expect, test } from "vitest";
import type { DoorAnswer, DoorSession } from "../core/ports/daemon/door.ts";
import { type DoorOptions, doorProtocol } from "./door.ts";

const asked: unknown[] = [];
const SERVED = { content: [{ type: "image", data: "aGk=", mimeType: "image/png" }], isError: true };
const SESSION: DoorSession = {
  list: async () => ({
    ok: true,
    value: {
      tools: [{ name: "fs_read", origin: "builtin", description: "reads", input: { type: "object" } }] as never,
    },
  }),
  call: async (tool, input) => {
    asked.push([tool, input]);
    const done = { outcome: "done", enforcement: [] } as never as object;
    if (tool === "web_fetch") return { ok: true, value: { ...done, result: { pending: "<p>" } } as never };
    if (tool === "files__read") return { ok: true, value: { ...done, result: SERVED, isServerResult: true } as never };
    return { ok: false, code: "not_available", message: "not now", fix: null };
  },
  can: (words) =>
    words[0] === "nonsense"
      ? { ok: false, code: "invalid_input", message: "no such verb", fix: "ambit explain" }
      : {
          ok: true,
          value: {
            ...{ outcome: words[1] === "in" ? "allow" : words[1] === "ask" ? "ask" : "deny", request: words.join(" ") },
            ...{ code: words[1] === "out" ? "scope_violation" : null, level: words[1] === "ask" ? "ask" : null },
            ...{ reason: null, link: null, by: [] },
          } as never,
        },
  why: async (id) =>
    id === "c_1"
      ? {
          ok: true,
          value: {
            ...{ id, kind: "decision", outcome: "deny", tool: "fs_read", code: "scope_violation", at: 0 },
            ...{ need: "fs.read /x", suggest: "fs.read{paths=[/x]}" },
          },
        }
      : { ok: false, code: "unknown_entry", message: "this session has no entry with this id", fix: null },
};

const OPTIONS: DoorOptions = {
  version: "1.2.3",
  present: async (tool, _input, result) => (tool === "web_fetch" ? { text: "as a person reads it" } : result),
};

const ask = (route: string, body: unknown, isText = false): Promise<DoorAnswer> =>
  doorProtocol(OPTIONS)(SESSION, { route, body: typeof body === "string" ? body : JSON.stringify(body), isText });

describe("can", () => {
  test.each([
    [["fs.read", "in"], 200, "allow  fs.read in\n"],
    [["fs.read", "ask"], 202, "ask  fs.read ask\n  a person has to approve it\n"],
    [["fs.read", "out"], 403, "deny  fs.read out  scope_violation\n"],
    [["nonsense"], 400, "error: no such verb\n  fix: ambit explain\n"],
  ])("%s", async (request, status, body) => {
    expect(await ask("can", { request }, true)).toEqual({ status, body });
  });

  test.each([{}, { request: [] }, { request: "fs.read /x" }, { request: [1] }, [], "{", ""])(
    "%j is no request",
    async (body) => {
      expect((await ask("can", body)).status).toBe(400);
    },
  );
});

test("why answers for entries of the session alone", async () => {
  const text = await ask("why", { id: "c_1" }, true);
  expect(text).toMatchObject({ status: 200, body: expect.stringContaining("needs fs.read /x") });
  expect(await ask("why", { id: "c_2" })).toMatchObject({ status: 404 });
  for (const id of ["", 1, null, "x".repeat(129)]) expect((await ask("why", { id })).status).toBe(400);
});

describe("mcp", () => {
  const rpc = async (message: object): Promise<unknown> => {
    const { status, body } = await ask("mcp", { jsonrpc: "2.0", ...message });
    return status === 200 ? JSON.parse(body) : { status, body };
  };

  test("initialize takes a known revision and answers an unknown one with the newest", async () => {
    for (const [wanted, given] of [
      ["2025-06-18", "2025-06-18"],
      ["1999-01-01", "2025-11-25"],
    ])
      expect(await rpc({ id: 1, method: "initialize", params: { protocolVersion: wanted } })).toMatchObject({
        id: 1,
        result: { protocolVersion: given, serverInfo: { name: "ambit", version: "1.2.3" } },
      });
  });

  test("tools are listed and called, whatever else a message holds", async () => {
    const listed = await rpc({ id: "a", method: "tools/list" });
    expect(listed).toMatchObject({ id: "a", result: { tools: [{ name: "fs_read" }] } });
    const params = { name: "fs_read", arguments: { path: "x" }, session: "s_other", agent: "admin" };
    expect(await rpc({ id: 2, method: "tools/call", params, session: "s_other" })).toMatchObject({
      result: { isError: true, structuredContent: { code: "not_available" } },
    });
    expect(asked).toEqual([["fs_read", { path: "x" }]]);
  });

  test("a result of an MCP server keeps its parts and its error; a page is for display", async () => {
    const call = (name: string): Promise<unknown> => rpc({ id: 1, method: "tools/call", params: { name } });
    expect(await call("files__read")).toMatchObject({ result: SERVED });
    expect(await call("web_fetch")).toMatchObject({
      result: { isError: false, structuredContent: { text: "as a person reads it" } },
    });
    asked.splice(0);
  });

  test.each([
    [{ id: 1, method: "session/open" }, -32_601],
    [{ id: 1, method: "tools/call", params: { name: "" } }, -32_602],
    [{ id: 1, method: "tools/call", params: { name: "x", arguments: [] } }, -32_602],
    [{ id: {}, method: "ping" }, -32_600],
  ])("%j is an error", async (message, code) => {
    expect(await rpc(message)).toMatchObject({ error: { code } });
  });

  test("what is not JSON gets an error of the protocol", async () => {
    for (const body of ["{", "[]", "", "null"])
      expect(JSON.parse((await ask("mcp", body)).body)).toMatchObject({ id: null, error: { code: -32_700 } });
  });

  test("notifications and answers get none", async () => {
    expect(await rpc({ method: "notifications/initialized" })).toEqual({ status: 202, body: "" });
    expect(await rpc({ id: 1, result: {} })).toEqual({ status: 202, body: "" });
  });
});

test("there is no other route", async () => {
  for (const route of ["session", "approve", "constructor"]) expect((await ask(route, {})).status).toBe(404);
});
