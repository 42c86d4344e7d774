// A person at a terminal starts a program for an agent: the program has no access to that terminal.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { onTerminal } from "../e2e/terminal.ts";
import { type Outcome, outcomesIn } from "./attempt.ts";
import { callers } from "./callers.ts";
import { AttackFixture } from "./fixture.ts";

const WORDS = [
  "streams",
  "terminal",
  "terminals-of-others",
  "tiocsti",
  "tiocsti-high",
  "tioclinux",
  "tioclinux-high",
  "tiocsetd",
];
const EXPECTED = ["pipes", "ENOENT", "ENOENT", "EPERM", "EPERM", "EPERM", "EPERM", "EPERM"];

let fixture: AttackFixture;
beforeAll(() => {
  fixture = new AttackFixture();
});
afterAll(() => fixture.remove());

describe.each(callers())("as $caller", (who) => {
  test("nothing is typed into the user's terminal", async () => {
    const { scene, ambit } = await fixture.scene(who);
    try {
      const argv = [join(scene.root, "probe"), join(scene.root, "scene"), ...WORDS];
      const command = ambit.command(["exec", "probe", "--", ...argv]);
      const { status, raw } = await onTerminal(scene.root, command, [], scene.environment);
      const outcomes = outcomesIn(lines(raw).join("\n"));
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(WORDS.map(() => "blocked"));
      expect(outcomes.map(({ how }) => how)).toEqual(EXPECTED);
      expect(status).toBe(0);
    } finally {
      await scene.end();
    }
  });

  test("outside a sandbox the same program reaches it", async () => {
    const { scene } = await fixture.scene(who);
    try {
      const argv = [...who.prefix, join(scene.root, "probe"), join(scene.root, "scene"), "terminal"];
      const { raw } = await onTerminal(scene.root, argv, [], scene.environment);
      expect(outcomesIn(lines(raw).join("\n")).map(({ outcome }: Outcome) => outcome)).toEqual(["open"]);
    } finally {
      await scene.end();
    }
  });
});

/** Those the probe wrote: a terminal has its own in between. */
function lines(raw: string): readonly string[] {
  return raw.split(/\r?\n/).filter((line) => line.startsWith('{"attempt"'));
}
