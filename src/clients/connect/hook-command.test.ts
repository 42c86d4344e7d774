// The shell line of a hook: what it was made for can be read from it, and only the line itself is equal to it.
import { describe, expect, test } from "vitest";
import { choiceIn, commandIn, type HookCommandOptions, hookCommand } from "./hook-command.ts";

const OWN = { native: "/opt/a b/native", daemon: "/home/o'neil/state", ambit: ["/usr/bin/node", "/opt/ambit"] };
const CHOICE = { client: "claude", agent: "coder", user: null, folder: null, isConfined: true, hasServer: false };

describe("a line of a hook", () => {
  test.each<Partial<HookCommandOptions>>([
    {},
    { user: "ann" },
    { folder: "/work/it's here", isConfined: false },
    { agent: "team/dev", hasServer: true },
  ])("says what it was made for: %j", (more) => {
    const choice = { ...CHOICE, ...more };
    const line = hookCommand({ ...choice, ...OWN });
    expect(commandIn(JSON.stringify({ command: line }))).toBe(line);
    expect(choiceIn(line)).toEqual(choice);
  });

  test.each([
    ["another command behind the mark", ": ambit-hook claude coder; touch planted"],
    ["nothing behind the mark", ": ambit-hook "],
    ["another program in its place", hookCommand({ ...CHOICE, ...OWN }).replace("'/opt/a b/native'", "./evil")],
    ["one more command", `${hookCommand({ ...CHOICE, ...OWN })}; touch planted`],
    ["a substitution", ": ambit-hook claude coder; $(touch planted) hook d 1 claude coder"],
  ])("with %s is not the one that we make", (_, line) => {
    const choice = choiceIn(line);
    expect(choice === null ? null : hookCommand({ ...choice, ...OWN })).not.toBe(line);
  });
});
