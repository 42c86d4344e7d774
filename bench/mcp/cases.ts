// The same calls to each server, back to back. Ours with policy, confined file worker and durable audit on; the others as they
// are.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Row } from "../row.ts";
import { byTurns, type Contender, inFlight, timeRounds } from "../sandbox/turns.ts";
import { plainCallers } from "../state/local-callers.ts";
import { McpClient, type ServerWords } from "./client.ts";
import { filesCount, fileText, type McpFixture } from "./fixture.ts";

export const READY = "from the start to the list of tools";
export const ECHO = "a call that answers with a few bytes";
export const READ = "read a file of 1 kB";
export const READ_32 = "read a file of 1 kB, 32 in flight";
export const WRITE = "write a file of 1 kB";
export const WRITE_32 = "write a file of 1 kB, 32 in flight";
/** Alternates with the callers, so that all have the same disk. */
export const COMMIT = "one plain durable commit";
export const FIRST = "read a file of 1 kB, the first 150 calls";

const lanes = 32;
const callsPerTurn = 25;
const callsPerLane = 8;
/** A daemon runs for hours, and code is compiled as it is used: this many calls of each kind come before those that count. */
const warmCalls = 2_000;

export async function measureMcp(fixture: McpFixture, say: (what: string) => void): Promise<readonly Row[]> {
  const { ambit, filesystem, everything } = fixture;
  say(READY);
  const ready = await byTurns(READY, 7, [ambit, filesystem, everything].map(starting));
  const [ours, theirs, echoing] = await Promise.all([ambit, filesystem, everything].map((one) => McpClient.start(one)));
  if (ours === undefined || theirs === undefined || echoing === undefined) throw new Error("a server is missing");
  await ours.call("memory_set", { key: "echo", value: "hello" });
  const read = (client: McpClient, tool: string) => async (at: number) => {
    const text = await client.call(tool, { path: join(fixture.project, `file-${at % filesCount}.txt`) });
    if (!text.includes(fileText)) throw new Error(`${tool} has read something else`);
  };
  const write = (client: McpClient, tool: string) => async (at: number) => {
    await client.call(tool, { path: join(fixture.project, `file-${at % filesCount}.txt`), content: fileText });
  };
  const echo = {
    ours: async () => expectText(await ours.call("memory_get", { key: "echo" }), "hello"),
    theirs: async () => expectText(await echoing.call("echo", { message: "hello" }), "hello"),
  };
  try {
    say("calls");
    const alone = (subject: string, call: (at: number) => Promise<void>): Contender => ({
      subject,
      turn: async () => {
        const taken: number[] = [];
        for (let at = 0; at < callsPerTurn; at++) taken.push(...(await timeRounds(() => call(at))));
        return taken;
      },
    });
    const together = (subject: string, call: (at: number) => Promise<void>): Contender => ({
      subject,
      turn: async () => [await inFlight(lanes, callsPerLane, call)],
    });
    const [reading, writing] = [
      [read(ours, "fs_read"), read(theirs, "read_text_file")] as const,
      [write(ours, "fs_write"), write(theirs, "write_file")] as const,
    ];
    const commitOnce = committing(fixture);
    const commit = alone(COMMIT, commitOnce);
    const first = await byTurns(FIRST, 4, [alone(ambit.subject, reading[0]), alone(filesystem.subject, reading[1])]);
    for (const call of [echo.ours, echo.theirs, ...reading, ...writing, commitOnce])
      for (let at = 0; at < warmCalls; at++) await call(at);
    return [
      ...ready,
      ...first,
      ...(await byTurns(ECHO, 20, [alone(ambit.subject, echo.ours), alone(everything.subject, echo.theirs)])),
      ...(await byTurns(READ, 20, [alone(ambit.subject, reading[0]), alone(filesystem.subject, reading[1]), commit])),
      ...(await byTurns(READ_32, 20, [together(ambit.subject, reading[0]), together(filesystem.subject, reading[1])])),
      ...(await byTurns(WRITE, 20, [alone(ambit.subject, writing[0]), alone(filesystem.subject, writing[1]), commit])),
      ...(await byTurns(WRITE_32, 20, [together(ambit.subject, writing[0]), together(filesystem.subject, writing[1])])),
    ];
  } finally {
    await Promise.all([ours.end(), theirs.end(), echoing.end()]);
  }
}

function starting(words: ServerWords): Contender {
  return {
    subject: words.subject,
    turn: async () => {
      let client: McpClient | null = null;
      const taken = await timeRounds(async () => {
        client = await McpClient.start(words);
      });
      await (client as McpClient | null)?.end();
      return taken;
    },
  };
}

function committing({ base }: McpFixture): () => Promise<void> {
  const folder = join(base, "plain");
  mkdirSync(folder, { recursive: true });
  const [call] = plainCallers({ folder, callers: 1 } as Parameters<typeof plainCallers>[0]);
  return async () => {
    await call?.();
  };
}

function expectText(text: string, wanted: string): void {
  if (!text.includes(wanted)) throw new Error(`another answer: ${text.slice(0, 100)}`);
}
