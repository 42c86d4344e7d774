// `ambit connect` and `ambit doctor --clients` with the real clients: each is started against our scripted model, and obeys its hook;
// where the hook says nothing, that is seen.
import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Fixture } from "../state/fixture.ts";
import { newerNode, wholeClients } from "./place.ts";

type Name = keyof typeof wholeClients;

/** The file with the hook's line, and what is said where that line lets everything pass. */
const CLIENTS: Readonly<Record<Name, readonly [string, RegExp]>> = {
  claude: [".claude/settings.json", /error: Claude Code [\d.]+ itself ran a command/],
  codex: [".codex/hooks.json", /error: Codex [\d.]+ itself ran a command/],
  gemini: [".gemini/settings.json", /error: Gemini CLI [\d.]+ itself ran a command/],
  // It asks for every tool without the plugin's answer, and rejects what it asked.
  opencode: [".opencode/plugin/ambit.js", /not verified in opencode itself: it ended with 0 and gave no result/],
};

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("coder", ["fs.read"], "sandbox: .\n");
  const bin = join(fixture.base, "bin");
  mkdirSync(bin);
  for (const [name, program] of Object.entries(wholeClients)) {
    if (program === null) continue;
    const words = name === "gemini" ? [newerNode, realpathSync(program)] : [program];
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  fixture.variables = { PATH: `${bin}:${process.env["PATH"]}` };
  await fixture.begin();
});
afterAll(() => fixture?.remove());

describe.each(Object.entries(CLIENTS) as readonly [Name, readonly [string, RegExp]][])("%s", (name, [file, open]) => {
  const isSkipped = wholeClients[name] === null;
  test.skipIf(isSkipped)("obeys its hook, and a hook that says nothing is seen", async () => {
    const connected = await fixture.ambitAtTerminal("connect", name, "--agent", "coder", "--yes", "--project");
    expect(connected.out).toMatch(/ok: .* [\d.]+ itself ran the hook, and did not run/);
    expect(connected.status).toBe(0);
    const path = join(fixture.project, file);
    // The canary has no such variable, a client without a terminal does.
    const line = readFileSync(path, "utf8").replace(/(: ambit-hook \w+ coder;)/, '$1 [ \\"$CI\\" = 1 ] && exit 0;');
    writeFileSync(path, line);
    const { out } = await fixture.ambitAtTerminal("doctor", "--clients");
    expect(out).toContain("the hook denied a canary call");
    expect(out).toMatch(open);
    await fixture.ambitAtTerminal("disconnect", name, "--project");
  });
});
