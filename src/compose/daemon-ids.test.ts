import { expect, test } from "vitest";
import { Names } from "./daemon-ids.ts";

test("no two names are the same, and each begins with its letter", () => {
  const { id } = new Names();
  const made = new Set(Array.from({ length: 3000 }, () => id("c")));
  expect(made.size).toBe(3000);
  for (const name of made) expect(name).toMatch(/^c_[a-km-np-z2-9]{10}$/);
});

test("two owners of a state never make the same names", () => {
  const [one, other] = [new Names(), new Names()];
  const made = new Set(Array.from({ length: 1000 }, () => [one.name(), other.name()]).flat());
  expect(made.size).toBe(2000);
});
