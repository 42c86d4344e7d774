// Lines of two streams in one destination: none is split, nothing is lost, and an incomplete line is passed on at the
// end.
import { expect, test } from "vitest";
import { WholeLines } from "./whole-lines.ts";

test("lines are passed on whole, the rest at the end", () => {
  let text = "";
  const pass = (bytes: Uint8Array): void => {
    text += new TextDecoder().decode(bytes);
  };
  const [one, other] = [new WholeLines(pass), new WholeLines(pass)];
  const say = (to: WholeLines, said: string): void => void to.write(new TextEncoder().encode(said));
  say(one, "a: ");
  say(other, "three\nfo");
  say(one, "gone\nb");
  say(other, "ur");
  expect(text).toBe("three\na: gone\n");
  one.end();
  other.end();
  other.end();
  expect(text).toBe("three\na: gone\nbfour");
});

test("an endless line is not kept forever", () => {
  let bytes = 0;
  const lines = new WholeLines(({ length }) => {
    bytes += length;
  });
  for (let count = 0; count < 100; count++) lines.write(new Uint8Array(1000));
  expect(bytes).toBeGreaterThan(30_000);
  lines.end();
  expect(bytes).toBe(100_000);
});
