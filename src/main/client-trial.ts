// Tries a hook in the client itself. First with the hook alone, which asks the daemon. Then with the whole settings file, because a
// client may load none of a file that has a mistake elsewhere.
import { realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { type ConnectScope, connectionOf, type SettingsFile } from "../clients/connect/connections.ts";
import { commandIn, HOOK_MARK } from "../clients/connect/hook-command.ts";
import {
  type ClientTrial,
  type TrialFolders,
  type TrialOutcome,
  trialOf,
  trialOutcome,
  trialSettings,
  whyNoTrial,
  withWholeFile,
} from "../clients/trial/client-trials.ts";
import { isJsonObject, isPlainJson, type Json } from "../core/base/json.ts";
import { programsOnPath } from "../platform/detect.ts";
import { findProgram } from "../sandbox/linux/programs.ts";
import { valueAt, withMember } from "../text/json-edit.ts";
import { type ClientStart, startClient } from "./client-start.ts";
import { clientVersion } from "./client-version.ts";
import { changeSettings } from "./settings-change.ts";

export interface TrialOptions {
  readonly client: string;
  readonly scope: ConnectScope;
  /** Text of a file in the scope; null where there is none. */
  text(path: string): string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder of our own package. */
  readonly program: string;
  /** The workspace, or the folder that the person is in. */
  readonly project: string;
  /** The folder of our state. */
  readonly state: string | null;
  readonly millisecondsMax: number;
}

export async function tryInClient(options: TrialOptions): Promise<TrialOutcome> {
  const { client, environment, program, millisecondsMax } = options;
  const trial = trialOf(client);
  const names = connectionOf(client)?.programs ?? [];
  if (trial === null) return unknown(whyNoTrial(client));
  const [found] = programsOnPath(names, environment["PATH"] ?? "");
  if (found === undefined) return unknown(`\`${names[0]}\` is not on your PATH`);
  const bubblewrap = findProgram("bwrap");
  if (bubblewrap === null) return unknown("bubblewrap is not installed; it isolates the trial from your files");
  const start: Omit<ClientStart, "contents" | "hidden"> = {
    ...{ trial, bubblewrap, client: found.path, program, environment, millisecondsMax },
  };
  const began = Date.now();
  const started = await startClient({
    ...start,
    hidden: [],
    contents: (folders) => hookAlone(trial, options, folders),
  });
  if (typeof started === "string") return unknown(started);
  const version = await clientVersion(client, environment);
  const outcome = trialOutcome(trial, { ...started, version });
  if (outcome.kind !== "held" || !hasMore(trial, options)) return outcome;
  const whole = await startClient({
    ...start,
    millisecondsMax: Math.max(1, millisecondsMax - (Date.now() - began)),
    hidden: hiddenFolders(options),
    contents: (folders) => wholeFiles(trial, options, folders),
  });
  return withWholeFile(
    outcome,
    typeof whole === "string" ? unknown(whole) : trialOutcome(trial, { ...whole, version }),
    {
      file: settingsFiles(options)
        .map(({ path }) => path)
        .join(", "),
      text: typeof whole === "string" ? "" : whole.text,
    },
  );
}

function unknown(why: string): Extract<TrialOutcome, { kind: "unknown" }> {
  return { kind: "unknown", why };
}

/** Settings of the machine are where the client finds them by itself. */
function settingsFiles({ client, scope }: TrialOptions, command = ""): readonly SettingsFile[] {
  return scope === "managed" ? [] : (connectionOf(client)?.files(scope, command) ?? []);
}

/**
 * The settings files of a trial, each with what the client needs to start. `contentOf`: what becomes of a file and its seed; null where it
 * cannot be read. The text says what is wrong with a file.
 */
function trialFiles(
  trial: ClientTrial,
  { scope }: TrialOptions,
  folders: TrialFolders,
  files: readonly SettingsFile[],
  contentOf: (file: SettingsFile, seed: string | undefined) => string | null,
): ReadonlyMap<string, string> | string {
  const seeds = new Map(Object.entries(trial.seeds(folders)));
  const contents = new Map<string, string>();
  for (const file of files) {
    const { path } = file;
    const content = contentOf(file, scope === "user" ? seeds.get(path) : undefined);
    if (content === null) return `${path} cannot be read`;
    if (scope === "user") seeds.delete(path);
    contents.set(join(scope === "project" ? folders.project : folders.home, path), content);
  }
  for (const [path, seed] of seeds) contents.set(join(folders.home, path), seed);
  return contents;
}

/** The hook's files as they were just written, without anything else. */
function hookAlone(trial: ClientTrial, options: TrialOptions, folders: TrialFolders): ReturnType<typeof trialFiles> {
  const files = settingsFiles(options);
  const missing = files.find(({ path }) => options.text(path) === null);
  if (missing !== undefined) return `${missing.path} does not exist`;
  return trialFiles(trial, options, folders, files, ({ path, change }, seed) => {
    const written = options.text(path);
    return written === null || change.kind === "whole" ? written : settingsText(written, trial, seed);
  });
}

function settingsText(written: string, trial: ClientTrial, seed = "{}"): string | null {
  const value = valueAt(written, []);
  const command = commandIn(written);
  // Files without our hook have switches only.
  if (!value.ok || value.value === undefined || !isJsonObject(value.value)) return null;
  return JSON.stringify({ ...(JSON.parse(seed) as object), ...trialSettings(value.value, trial, command ?? "") });
}

/** Whether a file has anything that the trial of the hook alone leaves out: other settings, comments. */
function hasMore(trial: ClientTrial, options: TrialOptions): boolean {
  return settingsFiles(options).some(({ path, change }) => {
    const written = options.text(path);
    if (written === null || change.kind === "whole") return false;
    return !isPlainJson(written) || JSON.stringify(JSON.parse(written)) !== settingsText(written, trial);
  });
}

/** In place of our hook, which cannot ask the daemon from there. Every client of a trial takes it for a denial. */
const STAND_IN = `${HOOK_MARK} trial; echo 'ambit: the call is blocked' >&2; exit 2`;

/** The files as they are, but for the line of the hook and what the client needs to start. */
function wholeFiles(trial: ClientTrial, options: TrialOptions, folders: TrialFolders): ReturnType<typeof trialFiles> {
  return trialFiles(trial, options, folders, settingsFiles(options, STAND_IN), ({ path, change }, seed) => {
    const changed = changeSettings(options.text(path), change);
    const seeded = changed.ok && seed !== undefined ? withSeed(changed.value, JSON.parse(seed) as Json) : changed;
    return seeded.ok ? seeded.value : null;
  });
}

function withSeed(text: string, seed: Json, at: readonly string[] = []): ReturnType<typeof withMember> {
  if (!isJsonObject(seed)) return withMember(text, at, seed);
  let after: ReturnType<typeof withMember> = { ok: true, value: text };
  for (const [key, value] of Object.entries(seed)) if (after.ok) after = withSeed(after.value, value, [...at, key]);
  return after;
}

/**
 * INVARIANT: programs that the settings name (other hooks, servers, helpers) may run in the second start. They see no home folder, no
 * project, no state of ours and no socket in the usual places, and write nothing that stays.
 */
function hiddenFolders({ state, project, environment }: TrialOptions): readonly string[] {
  const own = [homedir(), environment["HOME"] ?? "", state ?? "", project, realpathSync(tmpdir())];
  const usual = ["/home", "/root", "/tmp", "/var", "/mnt", "/media", "/srv"];
  return [...new Set([...usual, ...own.filter((one) => one.startsWith("/"))])];
}
