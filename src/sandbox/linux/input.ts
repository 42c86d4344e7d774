// Forwards a command's standard input as fast as it is consumed, and no longer than the command lives.
import { inputEndFrame, inputFrames } from "../plan/command.ts";
import type { Channel } from "./channel.ts";

/** `isOver`: the command no longer reads. False when the source failed, which is not the end of an input. */
export async function feed(
  input: AsyncIterable<Uint8Array>,
  channel: Channel,
  isOver: () => boolean,
): Promise<boolean> {
  try {
    for await (const bytes of input) {
      for (const frame of inputFrames(bytes)) {
        if (isOver()) return true;
        channel.write(frame);
        await channel.drained();
      }
      if (isOver()) return true;
    }
    if (!isOver()) channel.write(inputEndFrame());
    return true;
  } catch {
    return false;
  }
}
