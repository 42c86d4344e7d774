// A typed answer that stray typing cannot give: type-ahead is dropped before the question is shown, and a number that was
// made for this one question has to be typed. Everything else is a no.
import type { Terminal } from "../agents/ports.ts";

/** True where the person typed the number that the question shows. `what` completes "type 1234 to". */
export async function typedYes(terminal: Terminal, what: string): Promise<boolean> {
  const { randomInt } = await import("node:crypto");
  const code = String(randomInt(1000, 10_000));
  const typed = await terminal.typed(`Type ${code} to ${what}; any other input cancels`);
  return typed?.trim() === code;
}

/** Typing has stopped when nothing comes for so long. */
const quietMilliseconds = 250;
/** Input over the limit counts as a refusal. */
const dropMillisecondsMax = 3_000;
const INTERRUPT = "\u0003";

/** Drops what was typed before a question was shown. False where the person interrupted meanwhile. */
export async function dropTypeAhead(input: NodeJS.ReadStream = process.stdin): Promise<boolean> {
  if (!input.isTTY) return true;
  let isInterrupted = false;
  let heardAt = performance.now();
  const until = heardAt + dropMillisecondsMax;
  const heard = (bytes: Buffer): void => {
    heardAt = performance.now();
    isInterrupted ||= bytes.toString("latin1").includes(INTERRUPT);
  };
  input.setRawMode(true);
  input.on("data", heard);
  input.resume();
  while (!isInterrupted && performance.now() - heardAt < quietMilliseconds && performance.now() < until)
    await new Promise((done) => setTimeout(done, 20));
  input.off("data", heard);
  input.pause();
  input.setRawMode(false);
  return !isInterrupted;
}
