// `ambit presence`: the names and passphrases people prove with that they are there, and how a command asks for them.

import { isPersonName } from "../../core/notation/config/approvers.ts";
import type { ControlMessages, Presence } from "../../core/ports/daemon/daemon-control.ts";
import type { MessageClient } from "../../core/ports/daemon/exchange.ts";
import { askOnce, type ControlWorld, tellRefusal } from "../control-world.ts";
import { shown } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { type Asked, fail } from "../terminal/problems.ts";

export interface PresenceOptions extends Asked {
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
  world: ControlWorld,
  control: MessageClient<ControlMessages>,
  options: Asked,
  wanted: string | undefined,
): Promise<Presence | ExitCode> {
  if (!world.terminal.isInteractive)
    return fail(world, options, EXIT.usage, "a passphrase is needed, and no terminal to type it at", null);
  const name = wanted ?? (await chosenName(world, control, options));
  if (typeof name === "number") return name;
  if (!isPersonName(name)) return fail(world, options, EXIT.usage, NO_NAME, null);
  const passphrase = await world.terminal.secret(`Passphrase of ${name}`);
  if (passphrase === null || passphrase === "") return fail(world, options, EXIT.ask, "no passphrase entered", null);
  return { name, passphrase };
}

const NO_NAME = "a name has at most 64 characters: letters, digits and . _ @ -";

async function chosenName(
  world: ControlWorld,
  control: MessageClient<ControlMessages>,
  options: Asked,
): Promise<string | ExitCode> {
  const known = await control.ask("presence.list", {});
  if (!known.ok) return tellRefusal(world, known, options.json);
  const { names } = known.value;
  const [only] = names;
  if (only === undefined) return fail(world, options, EXIT.error, "no passphrase is set", "ambit presence set NAME");
  if (names.length === 1) return only;
  const choices = names.map((name) => ({ value: name, label: shown(name), hint: "" }));
  return (
    (await world.terminal.choose("Who are you?", choices)) ?? fail(world, options, EXIT.ask, "no name chosen", null)
  );
}

export async function presenceList(world: ControlWorld, options: Asked): Promise<ExitCode> {
  const answer = await askOnce(world, "presence.list", {});
  if (!answer.ok) return tellRefusal(world, answer, options.json);
  const { names } = answer.value;
  if (options.json) world.print(jsonLine({ names }));
  else if (names.length === 0) world.print("no passphrase is set: calls that require presence cannot be approved");
  else for (const name of names) world.print(shown(name));
  return EXIT.ok;
}

export async function presenceSet(world: ControlWorld, name: string, options: PresenceOptions): Promise<ExitCode> {
  if (!isPersonName(name)) return fail(world, options, EXIT.usage, NO_NAME, null);
  const { terminal } = world;
  if (!terminal.isInteractive)
    return fail(world, options, EXIT.usage, "a passphrase is needed, and no terminal to type it at", null);
  const passphrase = await terminal.secret(`New passphrase of ${name}`);
  if (passphrase === null) return fail(world, options, EXIT.ask, "nothing was changed", null);
  const length = [...passphrase].length;
  if (length < passphraseCharactersMin || length > passphraseCharactersMax)
    return fail(
      world,
      options,
      EXIT.usage,
      `a passphrase needs ${passphraseCharactersMin} to ${passphraseCharactersMax} characters`,
      null,
    );
  if ((await terminal.secret("Repeat it")) !== passphrase)
    return fail(world, options, EXIT.usage, "the passphrases differ; nothing was changed", null);
  return changed(world, options, name, "set", (control, presence) =>
    control.ask("presence.set", { name, passphrase, presence }),
  );
}

export async function presenceDelete(
  world: ControlWorld,
  name: string,
  options: PresenceDeleteOptions,
): Promise<ExitCode> {
  if (!isPersonName(name)) return fail(world, options, EXIT.usage, NO_NAME, null);
  if (!options.yes) {
    if (options.json || !world.terminal.isInteractive)
      return fail(
        world,
        options,
        EXIT.usage,
        "confirmation needed, and no terminal to ask at",
        `ambit presence delete ${name} --yes`,
      );
    if (!(await world.terminal.confirm(`Delete the passphrase of ${name}?`)))
      return fail(world, options, EXIT.ask, "nothing was changed", null);
  }
  return changed(world, options, name, "deleted", (control, presence) =>
    control.ask("presence.delete", { name, presence }),
  );
}

/** Tries without presence first; if the daemon requires it, tries again with a passphrase. */
async function changed(
  world: ControlWorld,
  options: PresenceOptions,
  name: string,
  done: string,
  ask: (
    control: MessageClient<ControlMessages>,
    presence: Presence | null,
  ) => ReturnType<MessageClient<ControlMessages>["ask"]>,
): Promise<ExitCode> {
  const control = await world.control();
  if (!control.ok) return tellRefusal(world, control, options.json);
  try {
    const asked =
      options.presence === undefined ? null : await presenceOf(world, control.value, options, options.presence);
    if (typeof asked === "number") return asked;
    let answer = await ask(control.value, asked);
    if (!answer.ok && answer.code === "presence_required" && asked === null && world.terminal.isInteractive) {
      const typed = await presenceOf(world, control.value, options, undefined);
      if (typeof typed === "number") return typed;
      answer = await ask(control.value, typed);
    }
    if (!answer.ok) return tellRefusal(world, answer, options.json);
    if (options.json) world.print(jsonLine({ name, done }));
    else world.print(`${world.paint.good(done)} ${shown(name)}`);
    return EXIT.ok;
  } finally {
    control.value.close();
  }
}
