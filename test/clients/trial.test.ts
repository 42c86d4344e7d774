// `ambit connect` and `ambit doctor --clients` with the real clients: each is started against our scripted model, and obeys its hook;
// where the hook says nothing, that is seen.
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Fixture } from "../state/fixture.ts";
import { copilot, newerNode, wholeClients } from "./place.ts";

const PROGRAMS = { ...wholeClients, copilot };
type Name = keyof typeof PROGRAMS;

interface Control {
  /** The file with the hook. */
  readonly file: string;
  /** Leaves our line as it is, so that `doctor` tries it, and keeps the client from running it. */
  change(text: string): string;
  readonly report: RegExp;
}

const otherMatcher = (text: string): string => text.replace(/"matcher": ?"[^"]*"/, '"matcher": "NoToolOfThisName"');
const CHANGED = /warning: the hook's command differs from the one this ambit writes, so it was not tested/;

const CLIENTS: Readonly<Record<Name, Control>> = {
  claude: {
    file: ".claude/settings.json",
    change: otherMatcher,
    report: /error: Claude Code [\d.]+ itself ran a command/,
  },
  codex: { file: ".codex/hooks.json", change: otherMatcher, report: /error: Codex [\d.]+ itself ran a command/ },
  gemini: {
    file: ".gemini/settings.json",
    change: otherMatcher,
    report: /error: Gemini CLI [\d.]+ itself ran a command/,
  },
  // Files that are ours alone: nothing in them can change without being seen.
  opencode: {
    file: ".opencode/plugin/ambit.js",
    change: (text) => text.replace('"tool.execute.before"', '"tool.execute.never"'),
    report: CHANGED,
  },
  copilot: {
    file: ".github/hooks/ambit.json",
    change: (text) => text.replace('"preToolUse"', '"postToolUse"'),
    report: CHANGED,
  },
};

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("coder", ["fs.read"], "sandbox: .\n");
  const bin = join(fixture.base, "bin");
  mkdirSync(bin);
  for (const [name, program] of Object.entries(PROGRAMS)) {
    if (program === null) continue;
    const words = name === "gemini" ? [newerNode, realpathSync(program)] : [program];
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  fixture.variables = { PATH: `${bin}:${process.env["PATH"]}` };
  await fixture.begin();
});
afterAll(() => fixture?.remove());

describe.each(Object.entries(CLIENTS) as readonly [Name, Control][])("%s", (name, { file, change, report }) => {
  const isSkipped = PROGRAMS[name] === null;
  test.skipIf(isSkipped)("obeys its hook, and a hook that the client does not run is seen", async () => {
    const connected = await fixture.ambitAtTerminal("connect", name, "--agent", "coder", "--yes", "--project");
    expect(connected.out).toMatch(/ok: .* [\d.]+ itself ran the hook, and did not run/);
    expect(connected.status).toBe(0);
    const path = join(fixture.project, file);
    const before = readFileSync(path, "utf8");
    const after = change(before);
    expect(after).not.toBe(before);
    writeFileSync(path, after);
    const { out } = await fixture.ambitAtTerminal("doctor", "--clients");
    const own = out.slice(out.indexOf(`hook of ${name} in ${path}`));
    expect(own).toMatch(report);
    await fixture.ambitAtTerminal("disconnect", name, "--project");
  });
});

/** Mistakes elsewhere in the file with the hook: the client loads nothing of it, and would run every tool. */
describe.each([
  ["claude", ".claude/settings.json", { model: 5 }, "(model): Expected string, but received number"],
  ["claude", ".claude/settings.json", { permissions: { defaultMode: "yes" } }, "(permissions.defaultMode)"],
  ["codex", ".codex/hooks.json", { description: 5 }, "failed to parse hooks config"],
] as const)("%s with %s %j", (name, file, settings, words) => {
  const path = (): string => join(fixture.project, file);
  const connect = (): ReturnType<Fixture["ambitAtTerminal"]> =>
    fixture.ambitAtTerminal("connect", name, "--agent", "coder", "--yes", "--project");

  test.skipIf(PROGRAMS[name] === null)("does not run the hook, which is an error of connect and doctor", async () => {
    mkdirSync(dirname(path()), { recursive: true });
    writeFileSync(path(), JSON.stringify(settings));
    const connected = await connect();
    expect(connected.out).toContain(`does not run the hook with the rest of ${file}`);
    expect(connected.out).toContain(words);
    expect(connected.out).not.toContain("kernel");
    expect(connected.status).toBe(1);
    const told = await fixture.ambitAtTerminal("doctor", "--clients");
    expect(told.out).toContain(`does not run the hook with the rest of ${file}`);
    expect(told.status).toBe(1);
    await fixture.ambitAtTerminal("disconnect", name, "--project");
    rmSync(path());
  });
});

test.skipIf(PROGRAMS.claude === null)("other hooks of the file reach nothing in the trial", async () => {
  const [seen, planted] = [join(fixture.base, "seen"), join(fixture.base, "planted")];
  writeFileSync(seen, "of the person");
  const command = `cat ${seen} > $HOME/copy && cp $HOME/copy ${planted}; touch ${planted} /var/tmp/ambit-planted`;
  const path = join(fixture.project, ".claude/settings.json");
  writeFileSync(path, JSON.stringify({ hooks: { SessionStart: [{ hooks: [{ type: "command", command }] }] } }));
  const connected = await fixture.ambitAtTerminal("connect", "claude", "--agent", "coder", "--yes", "--project");
  expect(connected.out).toMatch(/ok: .* itself ran the hook, and did not run the command that it denied$/m);
  expect([existsSync(planted), existsSync("/var/tmp/ambit-planted")]).toEqual([false, false]);
  await fixture.ambitAtTerminal("disconnect", "claude", "--project");
  rmSync(path);
});
