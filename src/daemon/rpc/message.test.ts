// Requests with too many values are refused by id, and the connection continues.
import { expect, test } from "vitest";
import { requestValuesMax } from "./limits.ts";
import { readClientMessage } from "./message.ts";

const question = (values: number): string => `{"id":7,"ask":"x","value":{"a":[${"0,".repeat(values)}0]}}`;

test("the number of values of a request is limited", () => {
  // The list, the value, the message and its other two members count as well.
  expect(readClientMessage(question(requestValuesMax - 6)).kind).toBe("ask");
  expect(readClientMessage(question(requestValuesMax))).toMatchObject({
    kind: "misasked",
    id: 7,
    why: expect.stringContaining(String(requestValuesMax)),
  });
});

test("a long text is one value", () => {
  const text = "[,{".repeat(requestValuesMax);
  expect(readClientMessage(JSON.stringify({ id: 7, ask: "x", value: { text } })).kind).toBe("ask");
});
