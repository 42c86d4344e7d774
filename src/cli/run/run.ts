// `ambit run <agent> <client>`: a whole client in the agent's sandbox, with a live root, without a time limit, on a
// terminal where a person sits.
import type { ClientProfile } from "../../clients/profile.ts";
import { PLAIN_PROFILE, PROFILES, profileById, profileOfProgram } from "../../clients/profiles.ts";
import type { ControlPorts } from "../control-ports.ts";
import { exec } from "../exec/exec.ts";
import type { ExecPorts } from "../exec/ports.ts";
import { hasTerminal } from "../exec/terminal-streams.ts";
import type { CliPorts } from "../ports.ts";
import { shown } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { type Asked, fail } from "../terminal/problems.ts";

export interface RunOptions {
  readonly json: boolean;
  readonly in?: string;
  readonly user?: string;
  readonly pledge?: readonly string[];
  readonly wait?: string;
  readonly fresh: boolean;
}

export async function runClient(
  world: ExecPorts & ControlPorts,
  agent: string,
  words: readonly string[],
  options: RunOptions,
): Promise<ExitCode> {
  const [client] = words;
  if (client === undefined) return fail(world, options, EXIT.usage, "no client named", `ambit run ${agent} claude`);
  const profile = profileOfProgram(client);
  const terminal = !options.json && hasTerminal();
  if (!options.json)
    world.printError(
      `ambit: starting ${shown(client)} in the sandbox of ${shown(agent)} (${profile.id}); its changes land while it runs`,
    );
  return exec(world, agent, words, {
    ...options,
    root: "live",
    terminal,
    client: { profile: profile.id, isFresh: options.fresh },
  });
}

/** Clients with a profile that are on this machine. */
export function clientsList(world: ExecPorts, { json }: Asked): ExitCode {
  const found = world
    .programsFound(PROFILES.flatMap(({ programs }) => programs))
    .map(({ name, path }) => ({ program: name, path, profile: profileOfProgram(name).id }));
  if (json) world.print(jsonLine({ clients: found }));
  else if (found.length === 0)
    world.print(`no client found on PATH (${PROFILES.flatMap(({ programs }) => programs).join(", ")})`);
  else {
    for (const { program, path, profile } of found) world.print(`${program}  ${shown(path)}  ${profile}`);
    world.print(`run one: ambit run AGENT ${found[0]?.program ?? "claude"}`);
  }
  return EXIT.ok;
}

export function profilesList(world: CliPorts, { json }: Asked): ExitCode {
  if (json) world.print(jsonLine({ profiles: [...PROFILES, PLAIN_PROFILE] }));
  else
    for (const { id, programs } of [...PROFILES, PLAIN_PROFILE])
      world.print(`${id}  ${programs.join(", ") || "any program"}`);
  return EXIT.ok;
}

export function profilesShow(world: CliPorts, name: string, options: Asked): ExitCode {
  const profile = profileById(name) ?? PROFILES.find(({ programs }) => programs.includes(name)) ?? null;
  if (profile === null) return fail(world, options, EXIT.error, `there is no profile ${name}`, "ambit profiles list");
  world.print(options.json ? jsonLine(profile) : profileLines(profile).join("\n"));
  return EXIT.ok;
}

function profileLines({ id, programs, model, settings, folders, variables, notes }: ClientProfile): readonly string[] {
  return [
    id,
    `  programs: ${programs.join(", ") || "any"}`,
    ...(model === null
      ? []
      : [`  models: ${model.providers.join(", ")}, through the relay where the record grants model.use`]),
    ...settings.map(({ path }) => `  copies ~/${path} without credentials`),
    ...(folders.length === 0 ? [] : [`  keeps in its own home: ${folders.join(", ")}`]),
    ...variables.map(([name, value]) => `  sets ${name}=${value}`),
    ...notes.map((note) => `  note: ${note}`),
  ];
}
