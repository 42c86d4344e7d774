// `ambit presence`: passphrases are typed, twice, and appear nowhere.
import { expect, test } from "vitest";
import { done, type Ran, ran, refusal } from "../testing/approvals.ts";

const WORDS = "correct horse";

function leaks({ out, errors }: Ran): boolean {
  return `${out}${errors}`.includes(WORDS);
}

test("set prompts twice, sends once, shows nothing", async () => {
  const result = await ran(["presence", "set", "ann"], {
    answers: { "presence.set": () => done({}) },
    says: [WORDS, WORDS],
  });
  expect([result.exit, result.out]).toEqual([0, "set ann"]);
  expect(result.asked).toEqual([["presence.set", { name: "ann", passphrase: WORDS, presence: null }]]);
  expect(leaks(result)).toBe(false);
});

test.each<[string, readonly (string | null)[] | undefined, number]>([
  ["ann", [WORDS, "correct house"], 2],
  ["ann", ["short", "short"], 2],
  ["ann", [null], 11],
  ["ann", undefined, 2],
  ["a nn", [WORDS, WORDS], 2],
  ["\u0430nn", [WORDS, WORDS], 2],
])("set %s %j sends nothing", async (name, says, code) => {
  const result = await ran(["presence", "set", name], {
    answers: { "presence.set": () => done({}) },
    ...(says === undefined ? {} : { says }),
  });
  expect([result.exit, result.asked.length]).toEqual([code, 0]);
});

test("where presence is required, that person's passphrase is prompted for, once", async () => {
  const answers = {
    "presence.list": () => done({ names: ["bob"] }),
    "presence.set": ({ presence }: { readonly presence: object | null }) =>
      presence === null ? refusal("presence_required") : done({}),
  };
  const result = await ran(["presence", "set", "ann"], { answers, says: [WORDS, WORDS, "of bob's"] });
  expect(result.exit).toBe(0);
  expect(result.asked.at(-1)?.[1]).toMatchObject({ presence: { name: "bob", passphrase: "of bob's" } });
  const named = await ran(["presence", "set", "ann", "--presence", "bob"], {
    answers,
    says: [WORDS, WORDS, "of bob's"],
  });
  expect(named.asked).toHaveLength(1);
  const wrong = { ...answers, "presence.set": () => refusal("presence_required") };
  expect((await ran(["presence", "set", "ann"], { answers: wrong, says: [WORDS, WORDS, "x"] })).exit).toBe(4);
});

test("list and delete", async () => {
  const names = { "presence.list": () => done({ names: ["ann", "b\u001b[2J"] }) };
  expect((await ran(["presence", "list"], { answers: names })).out).toBe(`ann\nb${String.raw`\u{1b}`}[2J`);
  expect(JSON.parse((await ran(["presence", "list", "--json"], { answers: names })).out).names).toHaveLength(2);
  const answers = { "presence.delete": () => done({}) };
  expect((await ran(["presence", "delete", "ann"], { answers, says: [true] })).exit).toBe(0);
  expect((await ran(["presence", "delete", "ann"], { answers, says: [false] })).asked).toHaveLength(0);
  expect((await ran(["presence", "delete", "ann"], { answers })).exit).toBe(2);
  expect((await ran(["presence", "delete", "ann", "--yes", "--json"], { answers })).out).toBe(
    '{"name":"ann","done":"deleted"}',
  );
});
