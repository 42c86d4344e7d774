// The door over HTTP: bounded, POST with JSON alone, and nothing but route and body goes to the daemon.
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DoorCall } from "../../../core/ports/daemon/door.ts";
import { isDoorTarget, readDoorQuestion, readDoorReply, serveDoor } from "./door.ts";
import { ByteBudget } from "./relay-body.ts";

const calls: DoorCall[] = [];
const bodies = new ByteBudget(4_194_304);
let answers = true;
const server = http.createServer((request, response) => {
  void serveDoor(request, response, bodies, async (call) => {
    calls.push(call);
    return answers ? { status: 403, body: '{"outcome":"deny"}\n' } : null;
  });
});
let base = "";

beforeAll(async () => {
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

const JSON_TYPE = { "content-type": "application/json" };

test("route, body and kind of answer go to the daemon; its answer comes back", async () => {
  const headers = { ...JSON_TYPE, accept: "text/plain", authorization: "Bearer x", "x-session": "s_other" };
  const sent = await fetch(`${base}/ambit/can`, { method: "POST", headers, body: '{"request":["fs.read"]}' });
  expect([sent.status, await sent.text()]).toEqual([403, '{"outcome":"deny"}\n']);
  expect(calls.splice(0)).toEqual([{ route: "can", body: '{"request":["fs.read"]}', isText: true }]);
});

test("a daemon that does not answer is a failure", async () => {
  answers = false;
  const sent = await fetch(`${base}/ambit/why`, { method: "POST", headers: JSON_TYPE, body: "{}" });
  answers = true;
  expect(sent.status).toBe(503);
  calls.splice(0);
});

test.each<[string, string, RequestInit, number]>([
  ["GET", "/ambit/mcp", {}, 405],
  ["a form", "/ambit/can", { method: "POST", body: new URLSearchParams({ request: "x" }) }, 405],
  ["text", "/ambit/can", { method: "POST", headers: { "content-type": "text/plain" }, body: "{}" }, 405],
  ["a longer route", "/ambit/mcp/../can", { method: "POST", headers: JSON_TYPE, body: "{}" }, 403],
  ["another session's", "/ambit/mcp/s_other", { method: "POST", headers: JSON_TYPE, body: "{}" }, 404],
  ["a query", "/ambit/mcp?session=s_other", { method: "POST", headers: JSON_TYPE, body: "{}" }, 404],
  ["no route", "/ambit/", { method: "POST", headers: JSON_TYPE, body: "{}" }, 404],
  ["too much", "/ambit/mcp", { method: "POST", headers: JSON_TYPE, body: "x".repeat(1_048_577) }, 413],
])("%s", async (_title, target, request, status) => {
  const answered = await fetch(`${base}${target}`, request);
  expect(answered.status).toBe(status);
  await answered.text();
  calls.splice(0);
});

test("only targets below the prefix are the door's", () => {
  for (const target of ["/ambit/can", "/ambit/"]) expect(isDoorTarget(target)).toBe(true);
  for (const target of ["/ambit", "/ambitious/can", "/anthropic/v1/messages", "", "http://x/ambit/can"])
    expect(isDoorTarget(target)).toBe(false);
});

test("messages with another shape are not understood", () => {
  const question = { kind: "door-request", number: 1, sandbox: "s-1", route: "can", body: "{}", isText: false };
  expect(readDoorQuestion(question)).toEqual(question);
  for (const wrong of [{ route: "Can" }, { route: "a/b" }, { number: 0 }, { session: "s" }, { body: null }])
    expect(readDoorQuestion({ ...question, ...wrong })).toBeNull();
  const reply = { kind: "door-answer", number: 1, status: 200, body: "" };
  expect(readDoorReply(reply)).toEqual(reply);
  for (const wrong of [{ status: 199 }, { status: 600 }, { body: 1 }])
    expect(readDoorReply({ ...reply, ...wrong })).toBeNull();
});
