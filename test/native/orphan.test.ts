// Nothing survives its owner, at whatever moment the owner is killed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { frameOf } from "../../src/sandbox/plan/start/frame.ts";
import { pause } from "../house/pause.ts";
import { holdsWithin } from "../house/until.ts";
import { bubblewrapArguments, commandPayload } from "./owner.ts";
import { built } from "./program.ts";

/** An owner in its own process: starts a sandbox, sends the given frames, prints each frame's size, waits. */
const OWNER = `
const [argv, frames] = [JSON.parse(process.argv[1]), Buffer.from(process.argv[2], "base64")];
const child = require("node:child_process").spawn("bwrap", argv, { stdio: ["ignore", "ignore", "ignore", "pipe"] });
child.stdio[3].write(frames);
child.stdio[3].on("data", (chunk) => process.stdout.write(chunk.length + "\\n"));
`;

/** How long a sandboxed program may need to exit on a busy machine; far more than it takes. */
const goneMillisecondsMax = 60_000;

test("when an owner is killed all its processes end, without bubblewrap's help", async () => {
  // A sleep time that no other process uses: it identifies the program.
  const marks = Array.from({ length: 12 }, (_, at) => String(7_000_000 + process.pid * 100 + at));
  for (const [at, mark] of marks.entries()) {
    const argv = bubblewrapArguments({ program: built("program") }).filter((word) => word !== "--die-with-parent");
    const command = commandPayload({ argv: ["sh", "-c", `echo up; setsid sleep ${mark} & sleep ${mark}`] });
    const frames = Buffer.concat([frameOf("G", new Uint8Array(0)), frameOf("X", command)]);
    const owner = spawn(process.execPath, ["-e", OWNER, JSON.stringify(argv), frames.toString("base64")], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    // Some are killed before they could start anything, some with the command running.
    if (at < 4) await once(owner.stdout, "data");
    else await pause(at * 8, "they are killed at different moments of their start");
    owner.kill("SIGKILL");
    await once(owner, "exit");
  }
  await holdsWithin(goneMillisecondsMax, () => running(marks).length === 0);
  expect(running(marks)).toEqual([]);
});

function running(marks: readonly string[]): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => commandLine(pid))
    .filter((line) => line.startsWith("sleep\0") && marks.some((mark) => line.includes(mark)));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
