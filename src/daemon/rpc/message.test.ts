// Requests with too many values are refused by id, and the connection continues.
import { expect, test } from "vitest";
import { questionValuesMax } from "./limits.ts";
import { readAskerMessage } from "./message.ts";

const question = (values: number): string => `{"id":7,"ask":"x","value":{"a":[${"0,".repeat(values)}0]}}`;

test("a question has a bounded number of values", () => {
  // The list, the value, the message and its other two members count as well.
  expect(readAskerMessage(question(questionValuesMax - 6)).kind).toBe("ask");
  expect(readAskerMessage(question(questionValuesMax))).toMatchObject({
    kind: "misasked",
    id: 7,
    why: expect.stringContaining(String(questionValuesMax)),
  });
});

test("a long text is one value", () => {
  const text = "[,{".repeat(questionValuesMax);
  expect(readAskerMessage(JSON.stringify({ id: 7, ask: "x", value: { text } })).kind).toBe("ask");
});
