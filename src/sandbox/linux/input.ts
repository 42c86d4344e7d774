// A command's standard input, passed on as fast as it is taken and no further than the command lives.
import { inputEndFrame, inputFrames } from "../plan/command.ts";
import type { Channel } from "./channel.ts";

/** `isOver`: nobody reads any more. False when the source broke off, which is not the end of an input. */
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
