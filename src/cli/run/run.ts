// `ambit run <agent> <client>`: a whole client in the agent's sandbox, with a live root, without a time limit, on a
// terminal where a person sits.
import type { ClientProfile } from "../../clients/profile.ts";
import { type BrokenProfile, chooseProfile, profileById, type UserProfiles } from "../../clients/profile-choice.ts";
import { PLAIN_PROFILE, PROFILES } from "../../clients/profiles.ts";
import type { ControlPorts } from "../control-ports.ts";
import { exec, refusedData } from "../exec/exec.ts";
import type { ExecPorts } from "../exec/ports.ts";
import { hasTerminal } from "../exec/terminal-streams.ts";
import { log } from "../log/log.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption, printProblems, showProblem } from "../terminal/problems.ts";

export interface RunOptions {
  readonly json: boolean;
  readonly in?: string;
  readonly user?: string;
  readonly pledge?: readonly string[];
  readonly wait?: string;
  readonly fresh: boolean;
  readonly learn: boolean;
}

export async function runClient(
  ports: ExecPorts & ControlPorts,
  agent: string,
  words: readonly string[],
  options: RunOptions,
): Promise<ExitCode> {
  const [client] = words;
  if (client === undefined) return fail(ports, options, EXIT.usage, "no client named", `ambit run ${agent} claude`);
  if (options.learn && options.json)
    return fail(ports, options, EXIT.usage, "--learn prints a list: leave out --json", "ambit log --refused --json");
  const began = ports.now();
  const choice = chooseProfile(client, ports.userProfiles());
  if (!choice.ok) return brokenProfile(ports, choice.broken, client, options);
  const { profile } = choice;
  const terminal = !options.json && hasTerminal();
  const starting = `ambit: starting ${visibleText(client)} in the sandbox of ${visibleText(agent)} (${profile.id})`;
  const exit = await exec(ports, agent, words, {
    ...options,
    root: "live",
    terminal,
    client: { profile: profile.id, isFresh: options.fresh },
    onStart: () => {
      if (!options.json) ports.printError(`${starting}; its changes land while it runs`);
    },
  });
  if (options.learn) await tellLearned(ports, agent, began);
  return exit;
}

/** Lists denials logged since the start; other runs of the same agent at the same time are included. */
async function tellLearned(ports: ExecPorts & ControlPorts, agent: string, began: number): Promise<void> {
  const since = new Date(began).toISOString();
  const print = (text: string): void => ports.printError(text);
  ports.printError(`ambit: refused to ${visibleText(agent)} since its start, as in \`ambit log --refused\`:`);
  await log({ ...ports, print }, { agent, since, refused: true, follow: false, json: false });
}

/** No client runs with another profile than the one that is written for it. */
function brokenProfile(
  ports: ExecPorts,
  { file, problems }: BrokenProfile,
  client: string,
  { json }: JsonOption,
): ExitCode {
  const message = `the profile for ${client} has errors, so nothing is started`;
  const fix = `fix ${file}, then: ambit profiles list`;
  if (json)
    ports.print(
      jsonLine({ ...refusedData({ code: "invalid_input", message, fix }, null), problems: problems.map(showProblem) }),
    );
  else {
    printProblems(ports, problems);
    ports.printError(`${ports.paint.bad("error")}[invalid_input]: ${visibleText(message)}\n  fix: ${visibleText(fix)}`);
  }
  return EXIT.refused;
}

/** Clients with a profile that are on this machine. */
export function clientsList(ports: ExecPorts, { json }: JsonOption): ExitCode {
  const users = ports.userProfiles();
  const programs = allProfiles(users).flatMap(({ profile }) => profile.programs);
  const found = ports.programsFound(programs).flatMap(({ name, path }) => {
    const choice = chooseProfile(name, users);
    return choice.ok ? [{ program: name, path, profile: choice.profile.id }] : [];
  });
  if (json) ports.print(jsonLine({ clients: found }));
  else if (found.length === 0) ports.print(`no client found on PATH (${programs.join(", ")})`);
  else {
    for (const { program, path, profile } of found) ports.print(`${program}  ${visibleText(path)}  ${profile}`);
    ports.print(`run one: ambit run AGENT ${found[0]?.program ?? "claude"}`);
  }
  return EXIT.ok;
}

interface SourcedProfile {
  readonly profile: ClientProfile;
  /** Its file; null: built in. */
  readonly source: string | null;
}

function allProfiles({ profiles }: UserProfiles): readonly SourcedProfile[] {
  const builtIn = [...PROFILES, PLAIN_PROFILE].map((profile) => ({ profile, source: null }));
  return [...builtIn, ...profiles.map(({ profile, file }) => ({ profile, source: file }))];
}

/** Profiles with mistakes are not in the list, and their mistakes are printed. */
export function profilesList(ports: ExecPorts, { json }: JsonOption): ExitCode {
  const users = ports.userProfiles();
  const problems = users.broken.flatMap((one) => one.problems);
  const all = allProfiles(users);
  if (json)
    ports.print(
      jsonLine({
        profiles: all.map(({ profile, source }) => ({ ...profile, source: source ?? "built in" })),
        problems: problems.map(showProblem),
      }),
    );
  else {
    for (const { profile, source } of all) {
      const programs = profile.programs.join(", ") || "any program";
      ports.print(`${profile.id}  ${programs}  ${source === null ? "built in" : visibleText(source)}`);
    }
    printProblems(ports, problems);
  }
  return users.broken.length === 0 ? EXIT.ok : EXIT.error;
}

export function profilesShow(ports: ExecPorts, name: string, options: JsonOption): ExitCode {
  const users = ports.userProfiles();
  const all = allProfiles(users);
  const found =
    all.find(({ profile }) => profile === profileById(name, users)) ??
    all.find(({ profile }) => profile.programs.includes(name) || profile.id.replace(/^user:|@.*$/g, "") === name);
  if (found === undefined) {
    const broken = users.broken.find(
      ({ file, programs }) => file.endsWith(`/${name}.yml`) || programs?.includes(name) === true,
    );
    if (broken !== undefined) return brokenProfile(ports, broken, name, options);
    return fail(ports, options, EXIT.error, `there is no profile ${name}`, "ambit profiles list");
  }
  const { profile, source } = found;
  const shownSource = source ?? "built in";
  if (options.json) ports.print(jsonLine({ ...profile, source: shownSource }));
  else ports.print(profileLines(profile, shownSource).join("\n"));
  return EXIT.ok;
}

function profileLines(profile: ClientProfile, source: string): readonly string[] {
  const { id, programs, least, model, settings, folders, variables, notes } = profile;
  return [
    id,
    `  source: ${visibleText(source)}`,
    `  programs: ${programs.join(", ") || "any"}`,
    ...(least === undefined ? [] : [`  needs version ${least.version} or later`]),
    ...(model === null
      ? []
      : [`  models: ${model.providers.join(", ")}, through the relay where the record grants model.use`]),
    ...settings.map(({ path }) => `  copies ~/${visibleText(path)} without credentials`),
    ...(folders.length === 0 ? [] : [`  keeps in its own home: ${visibleText(folders.join(", "))}`]),
    ...variables.map(([name, value]) => `  sets ${name}=${visibleText(value)}`),
    ...notes.map((note) => `  note: ${visibleText(note)}`),
  ];
}
