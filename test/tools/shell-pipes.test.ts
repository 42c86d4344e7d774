// Pipelines of the `shell` tool with real programs: a reader that exits stops its writer as SIGPIPE does, a slow reader slows
// its writer down, and every byte arrives.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ProgramsFixture, programsFixture, shellIn } from "./programs-fixture.ts";

const bigBytes = 14 * 1024 * 1024;
const brokenPipe = { kind: "signalled", signal: 13 };

interface Result {
  readonly ending: unknown;
  readonly stdout: string;
  readonly stderr: string;
  readonly commands: readonly { readonly argv: readonly string[]; readonly ending: unknown }[];
}

let fixture: ProgramsFixture;
beforeEach(() => {
  fixture = programsFixture(
    ({ programs, files }) => [shellIn({ programs, files: files.calls })],
    "proc.exec{cmds=[yes,head,cat,grep,dd,sh,sleep,wc]}",
    "fs.read",
    "fs.write",
  );
  writeFileSync(join(fixture.folder, "big"), `x\n${"0123456789abcde\n".repeat(bigBytes / 16)}`.slice(0, bigBytes));
});
afterEach(() => fixture.close());

async function run(script: string): Promise<Result> {
  const said = await fixture.call("shell", { script });
  if (!("value" in said)) throw new Error(JSON.stringify(said));
  return said.value as unknown as Result;
}

const endings = ({ commands }: Result): readonly unknown[] => commands.map(({ ending }) => ending);

/** `dd` prints how long it was writing, in its own statistics. */
function secondsOf({ stderr }: Result): number {
  return Number(/copied, ([\d.e-]+) s/.exec(stderr)?.[1]);
}

describe("a reader that exits stops its writer with a broken pipe", () => {
  test.each([
    ["yes | head -1", "y\n"],
    ["cat big | grep -m1 x", "x\n"],
    ["yes | cat | cat | head -n 2", "y\ny\n"],
    ["yes | sleep 1", ""],
  ])("%s", async (script, output) => {
    const result = await run(script);
    // Not because of the time limit: the writer is ended by the broken pipe.
    expect(result).toMatchObject({ ending: { kind: "exited", status: 0 }, stdout: output });
    const [last, ...writers] = [...endings(result)].reverse();
    expect(last).toMatchObject({ kind: "exited", status: 0 });
    expect(writers).toEqual(writers.map(() => expect.objectContaining(brokenPipe)));
  });
});

describe("a slow reader slows its writer down, and gets every byte", () => {
  test.each([
    "dd if=big bs=64K | sh -c 'sleep 3; wc -c'",
    "dd if=big bs=64K | cat | cat | sh -c 'sleep 3; wc -c'",
    "sh -c 'cat big >&2' 2>&1 | sh -c 'sleep 1; wc -c'",
  ])("%s", async (script) => {
    const result = await run(script);
    expect(endings(result)).toEqual(endings(result).map(() => expect.objectContaining({ kind: "exited", status: 0 })));
    expect(Number(result.stdout)).toBe(bigBytes);
    // Without backpressure `dd` is done in some hundredths of a second.
    if (script.startsWith("dd")) expect(secondsOf(result)).toBeGreaterThan(1.5);
  });
});
