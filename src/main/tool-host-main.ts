// The program inside a tool host: redirects its own output, loads the tool, and speaks frames. Nothing here is a
// protection: the sandbox confines this process, and every request from it is decided outside.
import { writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { HostedTools, type HostMessage } from "../runtime/tool/hosted.ts";
import { ToolFrames, toolFrame } from "../sandbox/tool-host/frames.ts";

const OUTPUT = 1;

// Output that a tool prints goes to stderr, away from the frames.
Object.defineProperty(process, "stdout", { get: () => process.stderr, configurable: true });

/** Writes the whole frame, or the host exits: a partial frame is unusable. */
function send(message: object): boolean {
  const frame = toolFrame(message);
  if (frame === null) return false;
  for (let at = 0; at < frame.length; ) {
    try {
      at += writeSync(OUTPUT, frame, at);
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error) || error.code !== "EAGAIN") process.exit(1);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
  return true;
}

async function main(entry: string): Promise<void> {
  const input = process.stdin;
  const frames = new ToolFrames();
  const tools = await loaded(entry);
  if (tools === null) return;
  input.on("data", (chunk: Buffer) => {
    const messages = frames.take(chunk);
    if (messages === null) process.exit(1);
    for (const message of messages) tools.take(message as HostMessage);
  });
  input.on("end", () => process.exit(0));
  send({ kind: "described", tools: tools.describe() });
}

async function loaded(entry: string): Promise<HostedTools | null> {
  try {
    // A package is resolved from our own folder, by its conditions for `import`.
    const name = entry.startsWith("tools/") ? pathToFileURL(join(__dirname, entry)).href : entry;
    return new HostedTools(await import(name), send);
  } catch (error) {
    const message =
      error instanceof Error ? `${error.name}: ${error.message}` : "it threw a value that is not an Error";
    send({ kind: "failed", message: message.slice(0, 2000) });
    return null;
  }
}

void main(process.argv[2] ?? "");
