// The terminal of a program, as a session asks for it: one at a time, of a size that the client says.
import { numberIn } from "../../core/base/fields.ts";
import { isJsonObject, type JsonObject, member } from "../../core/base/json.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { TerminalControl, TerminalRequest, TerminalSize } from "../../core/ports/process.ts";
import type { Exchange, MessageHandler } from "../rpc/serving.ts";
import type { Session } from "../session.ts";

const sizeMax = 10_000;

/** Null: the program has pipes. Takes the session's terminal; the caller gives it back. */
export function terminalOf(exchange: Exchange, session: Session): Answer<TerminalRequest | null> {
  const asked = member(exchange.value, "terminal") ?? null;
  if (asked === null) return { ok: true, value: null };
  const size = isJsonObject(asked) ? sizeIn(asked) : null;
  if (size === null) return refusal("invalid_input", "the size of a terminal is whole numbers of columns and rows");
  if (session.terminal !== null)
    return refusal("not_available", "a program of this session already runs on its terminal");
  let latest = size;
  let control: TerminalControl | null = null;
  session.terminal = {
    resize: (wanted) => {
      latest = wanted;
      control?.resize(wanted);
    },
    resume: () => control?.resume(),
  };
  return {
    ok: true,
    value: {
      size,
      attach: (made) => {
        control = made;
        // The sandbox may have started before the client's window was resized.
        if (latest !== size) made.resize(latest);
      },
      onHalt: () => exchange.tell({ halted: true }),
    },
  };
}

/** Messages to the program of a session that runs on a terminal; one that has ended needs neither. */
export function terminalAnswers(
  sessionOf: (exchange: Exchange) => Session | null,
): readonly (readonly [string, MessageHandler])[] {
  const answer =
    (act: (control: TerminalControl, value: JsonObject) => void): MessageHandler =>
    async (exchange) => {
      const control = sessionOf(exchange)?.terminal ?? null;
      if (control !== null) act(control, exchange.value);
      return { ok: true, value: {} };
    };
  return [
    [
      "terminal.resize",
      answer((control, value) => {
        const size = sizeIn(value);
        if (size !== null) control.resize(size);
      }),
    ],
    ["terminal.resume", answer((control) => control.resume())],
  ];
}

function sizeIn(value: JsonObject): TerminalSize | null {
  const [columns, rows] = [numberIn(value, "columns", 1, sizeMax), numberIn(value, "rows", 1, sizeMax)];
  return columns === null || rows === null ? null : { columns, rows };
}
