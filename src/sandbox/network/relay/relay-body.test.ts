// Bodies of requests are bounded before they are parsed, whatever their pieces are.
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ByteBudget, bodyBytesMax, bodyDepthMax, bodyValuesMax, JsonBounds, receiveBody } from "./relay-body.ts";

const list = (values: number): string => `[${Array(values).fill("0").join()}]`;
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

describe("the bounds of a JSON text", () => {
  test.each<[string, string, string | null]>([
    ["as many values as allowed", list(bodyValuesMax - 1), null],
    ["one value more", list(bodyValuesMax), "JSON values"],
    ["empty lists", `[${"[],".repeat(bodyValuesMax)}[]]`, "JSON values"],
    ["members of an object", `{${'"a":0,'.repeat(bodyValuesMax)}"a":0}`, "JSON values"],
    ["as deep as allowed", nested(bodyDepthMax), null],
    ["one level deeper", nested(bodyDepthMax + 1), "nested"],
    ["levels side by side", `[${Array(100).fill(nested(9)).join()}]`, null],
    ["structure inside a string", JSON.stringify("[{,".repeat(bodyValuesMax)), null],
    ["a string after an escaped quote", `["\\"${"[".repeat(99)}"]`, null],
    ["lists after an escaped backslash", `["\\\\",${nested(bodyDepthMax)}]`, "nested"],
  ])("%s", (_title, text, fault) => {
    for (const length of [text.length, 4093]) {
      const bounds = new JsonBounds();
      let found: string | null = null;
      for (let at = 0; at < text.length; at += length) found ??= bounds.take(Buffer.from(text.slice(at, at + length)));
      if (fault === null) expect(found).toBeNull();
      else expect(found).toContain(fault);
    }
  });
});

describe("a body that is received", () => {
  const all = 2 * bodyBytesMax;
  const broker = new ByteBudget(all);
  const server = http.createServer((request, response) => {
    const held = { bytes: 0 };
    const budget = new ByteBudget(1.5 * bodyBytesMax, broker);
    void receiveBody(request, budget, held).then((received) => {
      response.writeHead(received.ok ? 200 : received.status);
      response.end(received.ok ? `${received.body.length}` : received.message);
      budget.release(held.bytes);
    });
  });
  let url = "";
  beforeAll(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(() => void server.close());

  const json = { "content-type": "application/json" };
  test.each<[string, string | Buffer, Record<string, string>, number]>([
    ["JSON", "{}", json, 200],
    ["JSON in UTF-8", "{}", { "content-type": 'application/json;charset="utf-8"' }, 200],
    ["another charset", "{}", { "content-type": "application/json; charset=utf-16" }, 415],
    ["two charsets", "{}", { "content-type": "application/json; charset=utf-8; charset=utf-7" }, 415],
    ["another type", "{}", { "content-type": "text/plain" }, 415],
    ["a compressed body", "{}", { ...json, "content-encoding": "gzip" }, 415],
    ["as many bytes as allowed", " ".repeat(bodyBytesMax), json, 200],
    ["one byte more", " ".repeat(bodyBytesMax + 1), json, 413],
    ["too many values", list(bodyValuesMax), json, 413],
  ])("%s", async (_title, body, headers, status) => {
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(status);
    // Nothing stays held.
    expect(broker.take(all)).toBe(true);
    broker.release(all);
  });
});

test("a body beyond the budget is refused for the moment", async () => {
  const server = http.createServer((request, response) => {
    void receiveBody(request, new ByteBudget(1), { bytes: 0 }).then((received) => {
      response.writeHead(received.ok ? 200 : received.status).end();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const post = async (body: string): Promise<number> =>
    (await fetch(url, { method: "POST", body: Buffer.from(body) })).status;
  expect([await post("1"), await post("12")]).toEqual([200, 503]);
  server.close();
});

test("where the parent budget is too small, take() fails and reserves nothing", () => {
  const parent = new ByteBudget(10);
  const [one, other] = [new ByteBudget(8, parent), new ByteBudget(8, parent)];
  expect([one.take(9), one.take(8), other.take(3), other.take(2)]).toEqual([false, true, false, true]);
  one.release(8);
  expect([other.take(7), other.take(6)]).toEqual([false, true]);
});
