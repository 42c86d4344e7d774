// A question that widens: asked plainly first, and again with a passphrase where the configuration wants one.
import type { ControlMessages } from "../../core/ports/daemon/daemon-control.ts";
import type { Answer } from "../../core/ports/daemon/exchange.ts";
import type { ControlPorts } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import type { ExitCode } from "../terminal/exit.ts";
import { presenceOf } from "./presence.ts";

type Widening = {
  [K in keyof ControlMessages]: ControlMessages[K]["asks"] extends { readonly presence: unknown } ? K : never;
}[keyof ControlMessages];

export async function askWidening<K extends Widening>(
  ports: ControlPorts,
  name: K,
  value: Omit<ControlMessages[K]["asks"], "presence">,
  options: { readonly json: boolean; readonly presence?: string },
): Promise<Answer<ControlMessages[K]["answers"]> | ExitCode> {
  const control = await ports.control();
  if (!control.ok) return control;
  const ask = (presence: unknown): Promise<Answer<ControlMessages[K]["answers"]>> =>
    control.value.ask(name, { ...value, presence } as never) as Promise<Answer<ControlMessages[K]["answers"]>>;
  try {
    const plain = options.presence === undefined ? await ask(null) : null;
    if (plain !== null && (plain.ok || plain.code !== "presence_required" || !ports.terminal.isInteractive))
      return plain;
    // Why a passphrase is asked for: a configuration that cannot be read is not known to want one.
    if (plain?.ok === false) ports.printError(`${ports.paint.warn("warning")}: ${visibleText(plain.message)}`);
    const presence = await presenceOf(ports, control.value, options, options.presence);
    return typeof presence === "number" ? presence : await ask(presence);
  } finally {
    control.value.close();
  }
}
