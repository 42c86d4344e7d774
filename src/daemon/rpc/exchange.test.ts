// An answered request is released, even if a handler still references its exchange.
import { expect, test } from "vitest";
import { type ExchangeTransport, OpenExchange } from "./exchange.ts";

test("a request is empty once it is answered", () => {
  const said: string[] = [];
  const line = {
    outgoing: { json: (text: string) => said.push(text) },
    answerBytesMax: 1024,
    weigh: () => undefined,
  } as unknown as ExchangeTransport;
  const exchange = new OpenExchange(line, { id: 1, name: "echo", value: { long: "x".repeat(10) }, hasInput: false });
  expect(exchange.value).toEqual({ long: "x".repeat(10) });
  exchange.answer({ ok: true, value: {} });
  expect(exchange.value).toEqual({});
  expect(said).toEqual(['{"id":1,"ok":true,"value":{}}']);
});
