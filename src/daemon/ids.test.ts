import { expect, test } from "vitest";
import { IdGenerator } from "./ids.ts";

test("no two ids are the same, and each begins with its letter", () => {
  const { id } = new IdGenerator();
  const made = new Set(Array.from({ length: 3000 }, () => id("c")));
  expect(made.size).toBe(3000);
  for (const name of made) expect(name).toMatch(/^c_[a-km-np-z2-9]{24}$/);
});

test("two owners of a state never make the same ids", () => {
  const [one, other] = [new IdGenerator(), new IdGenerator()];
  const made = new Set(Array.from({ length: 1000 }, () => [one.name(), other.name()]).flat());
  expect(made.size).toBe(2000);
});

test("every random character takes every value", () => {
  const names = new IdGenerator();
  const seen = Array.from({ length: 16 }, () => new Set<string>());
  for (let count = 0; count < 2000; count++)
    for (const [at, letter] of [...names.name()].entries()) seen[at]?.add(letter);
  expect(seen.map(({ size }) => size)).toEqual(Array.from({ length: 16 }, () => 32));
});

test("entry ids are sorted by time; ids that a person types are random and short", () => {
  let now = 1_700_000_000_000;
  const { id } = new IdGenerator(() => now);
  const made = Array.from({ length: 200 }, () => {
    now += 40;
    return id("e");
  });
  expect([...made].sort()).toEqual(made);
  for (const letter of ["a", "l", "s", "t"] as const)
    expect(id(letter)).toMatch(new RegExp(`^${letter}_[a-km-np-z2-9]{16}$`));
});

test("a nonsensical clock still gives ids", () => {
  for (const wrong of [Number.NaN, -1, Number.POSITIVE_INFINITY, 0]) {
    const { id } = new IdGenerator(() => wrong);
    expect(id("c")).toMatch(/^c_.{24}$/);
    expect(id("c")).not.toBe(id("c"));
  }
});
