// `ambit presence`: the names and passphrases people prove with that they are there, and how a command asks for them.

import { isPersonName } from "../../core/notation/config/approvers.ts";
import type { ControlMessages, Presence } from "../../core/ports/daemon/daemon-control.ts";
import type { MessageClient } from "../../core/ports/daemon/exchange.ts";
import { askOnce, type ControlPorts, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { confirmation, fail, type JsonOption } from "../terminal/problems.ts";

export interface PresenceOptions extends JsonOption {
  /** The person who confirms the change, if confirmation is required. */
  readonly presence?: string;
}

export interface PresenceDeleteOptions extends PresenceOptions {
  readonly yes: boolean;
}

export const passphraseCharactersMin = 8;
const passphraseCharactersMax = 1024;

/** A passphrase is typed at a terminal for this one answer; it is never an option, a variable or a file. */
export async function presenceOf(
  ports: ControlPorts,
  control: MessageClient<ControlMessages>,
  options: JsonOption,
  wanted: string | undefined,
): Promise<Presence | ExitCode> {
  if (!ports.terminal.isInteractive)
    return fail(ports, options, EXIT.usage, "a passphrase is needed, and no terminal to type it at", null);
  const name = wanted ?? (await chosenName(ports, control, options));
  if (typeof name === "number") return name;
  if (!isPersonName(name)) return fail(ports, options, EXIT.usage, NO_NAME, null);
  const passphrase = await ports.terminal.secret(`Passphrase of ${name}`);
  if (passphrase === null || passphrase === "") return fail(ports, options, EXIT.ask, "no passphrase entered", null);
  return { name, passphrase };
}

const NO_NAME = "a name has at most 64 characters: letters, digits and . _ @ -";

async function chosenName(
  ports: ControlPorts,
  control: MessageClient<ControlMessages>,
  options: JsonOption,
): Promise<string | ExitCode> {
  const known = await control.ask("presence.list", {});
  if (!known.ok) return tellRefusal(ports, known, options.json);
  const { names } = known.value;
  const [only] = names;
  if (only === undefined) return fail(ports, options, EXIT.error, "no passphrase is set", "ambit presence set NAME");
  if (names.length === 1) return only;
  const choices = names.map((name) => ({ value: name, label: visibleText(name), hint: "" }));
  return (
    (await ports.terminal.choose("Who are you?", choices)) ?? fail(ports, options, EXIT.ask, "no name chosen", null)
  );
}

export async function presenceList(ports: ControlPorts, options: JsonOption): Promise<ExitCode> {
  const answer = await askOnce(ports, "presence.list", {});
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const { names } = answer.value;
  if (options.json) ports.print(jsonLine({ names }));
  else if (names.length === 0) ports.print("no passphrase is set: calls that require presence cannot be approved");
  else for (const name of names) ports.print(visibleText(name));
  return EXIT.ok;
}

export async function presenceSet(ports: ControlPorts, name: string, options: PresenceOptions): Promise<ExitCode> {
  if (!isPersonName(name)) return fail(ports, options, EXIT.usage, NO_NAME, null);
  const { terminal } = ports;
  if (!terminal.isInteractive)
    return fail(ports, options, EXIT.usage, "a passphrase is needed, and no terminal to type it at", null);
  const passphrase = await terminal.secret(`New passphrase of ${name}`);
  if (passphrase === null) return fail(ports, options, EXIT.ask, "nothing was changed", null);
  const length = [...passphrase].length;
  if (length < passphraseCharactersMin || length > passphraseCharactersMax)
    return fail(
      ports,
      options,
      EXIT.usage,
      `a passphrase needs ${passphraseCharactersMin} to ${passphraseCharactersMax} characters`,
      null,
    );
  if ((await terminal.secret("Repeat it")) !== passphrase)
    return fail(ports, options, EXIT.usage, "the passphrases differ; nothing was changed", null);
  return changed(ports, options, name, "set", (control, presence) =>
    control.ask("presence.set", { name, passphrase, presence }),
  );
}

export async function presenceDelete(
  ports: ControlPorts,
  name: string,
  options: PresenceDeleteOptions,
): Promise<ExitCode> {
  if (!isPersonName(name)) return fail(ports, options, EXIT.usage, NO_NAME, null);
  const again = `ambit presence delete ${name} --yes`;
  const refused = await confirmation(ports, options, `Delete the passphrase of ${name}?`, again, EXIT.ask);
  if (refused !== null) return refused;
  return changed(ports, options, name, "deleted", (control, presence) =>
    control.ask("presence.delete", { name, presence }),
  );
}

/** Tries without presence first; if the daemon requires it, tries again with a passphrase. */
async function changed(
  ports: ControlPorts,
  options: PresenceOptions,
  name: string,
  done: string,
  ask: (
    control: MessageClient<ControlMessages>,
    presence: Presence | null,
  ) => ReturnType<MessageClient<ControlMessages>["ask"]>,
): Promise<ExitCode> {
  const control = await ports.control();
  if (!control.ok) return tellRefusal(ports, control, options.json);
  try {
    const asked =
      options.presence === undefined ? null : await presenceOf(ports, control.value, options, options.presence);
    if (typeof asked === "number") return asked;
    let answer = await ask(control.value, asked);
    if (!answer.ok && answer.code === "presence_required" && asked === null && ports.terminal.isInteractive) {
      const typed = await presenceOf(ports, control.value, options, undefined);
      if (typeof typed === "number") return typed;
      answer = await ask(control.value, typed);
    }
    if (!answer.ok) return tellRefusal(ports, answer, options.json);
    if (options.json) ports.print(jsonLine({ name, done }));
    else ports.print(`${ports.paint.good(done)} ${visibleText(name)}`);
    return EXIT.ok;
  } finally {
    control.value.close();
  }
}
