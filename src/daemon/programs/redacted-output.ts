// Output of a program on its way to the caller, with secrets replaced.
import type { Sinks } from "../../core/ports/process.ts";
import type { StreamRedactor } from "../../log/redaction/redactor.ts";

/** On a terminal the person sees what they type: bytes are held back only as long as more may be on its way. */
const terminalMillisecondsMax = 20;

/** Output held back because a secret may continue in the next chunk is sent at the end. */
export function redactedOutput(
  streamOf: () => StreamRedactor | null,
  sink: Sinks["output"],
  hasTerminal: boolean,
): { write: Sinks["output"]; end(): void } {
  let stream = streamOf();
  let timer: NodeJS.Timeout | undefined;
  const send: Sinks["output"] = (bytes) => (bytes.length > 0 ? sink(bytes) : undefined);
  const end = (): void => {
    clearTimeout(timer);
    if (stream !== null) void send(stream.end());
  };
  return {
    write: (bytes) => {
      clearTimeout(timer);
      if (stream === null) return send(bytes);
      const passed = stream.write(bytes);
      // A key that is typed behind a prompt passes at once, because the line of it has begun.
      if (hasTerminal && stream.isHolding())
        timer = setTimeout(() => {
          end();
          stream = streamOf();
        }, terminalMillisecondsMax);
      return send(passed);
    },
    end,
  };
}
