// Settings files of agent clients on this machine: read, edited in place, restored.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ClientSettings } from "../cli/connect/connect.ts";
import { CONNECTIONS, type ConnectScope } from "../clients/connect/connections.ts";
import { choiceIn, commandIn, type HookLineChoice, hookCommand } from "../clients/connect/hook-command.ts";
import { hookGaps } from "../clients/connect/hook-gaps.ts";
import { userPath } from "../clients/connect/user-path.ts";
import { makeFolders, removeMadeFolders } from "../clients/disk/made-folders.ts";
import { errorCode } from "../core/base/error-code.ts";
import { isJsonObject, type Json, member } from "../core/base/json.ts";
import { done, type Result, refuse } from "../core/base/result.ts";
import { plainValue } from "../core/notation/tree.ts";
import { daemonFolder } from "../platform/daemon/daemon-start.ts";
import { editFile } from "../platform/edit-file.ts";
import { readTextFile } from "../platform/files.ts";
import { nativeProgram } from "../platform/native-program.ts";
import { valueAt } from "../text/json-edit.ts";
import { readToml } from "../text/toml.ts";
import { tryInClient } from "./client-trial.ts";
import { clientVersion } from "./client-version.ts";
import { changeSettings, isByEdit, isMarked, without } from "./settings-change.ts";

export interface ClientSettingsOptions {
  readonly workspace: string | null;
  readonly cwd: string;
  /** Of the password database. Clients look below `HOME` first. */
  readonly home: string | null;
  readonly state: string | null;
  /** The folder of our own package. */
  readonly program: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const settingsCharactersMax = 4_194_304;
const namesMax = 256;
const canaryMillisecondsMax = 120_000;

export function clientSettingsPort(options: ClientSettingsOptions): ClientSettings {
  const { workspace, cwd, home, state, program, environment } = options;
  const project = workspace ?? cwd;
  const ownWords = [process.execPath, join(program, "bin", "ambit")];
  const ownCommand = (choice: HookLineChoice): string | null =>
    state === null
      ? null
      : hookCommand({ ...choice, native: nativeProgram(program), daemon: daemonFolder(state), ambit: ownWords });
  const pathIn = (scope: ConnectScope, path: string): string | null => {
    if (path.startsWith("/")) return path;
    return scope === "project" ? join(project, path) : userPath(path, home, environment);
  };
  const homes = [home, environment["HOME"] ?? null].filter((one) => one?.startsWith("/") === true);
  const insideOf = (path: string): string =>
    [project, ...homes].find((folder) => path.startsWith(`${folder}/`)) ?? dirname(path);
  const textAt = (path: string): Result<string | null> => {
    const read = readTextFile(path, settingsCharactersMax);
    if (read.ok) return done(read.text);
    return read.code === "not_found" ? done(null) : refuse("bad_value", read.message);
  };
  return {
    pathOf: pathIn,
    preview: (path, { change }) => {
      const text = textAt(path);
      if (!text.ok) return text;
      const after = changeSettings(text.value, change);
      return after.ok ? done({ before: text.value, after: after.value }) : after;
    },
    write: (path, { change }) => {
      if (state === null) return refuse("bad_value", "cannot be changed without a state folder");
      try {
        makeFolders(state, dirname(path));
      } catch (error) {
        removeMadeFolders(state, dirname(path));
        return refuse("bad_value", `cannot be created (${errorCode(error)})`);
      }
      const place = { state, inside: insideOf(path), charactersMax: settingsCharactersMax };
      const edited = editFile<string>(path, place, (text) => {
        const after = changeSettings(text, change);
        return after.ok ? { kind: "write", text: after.value } : { kind: "refuse", refusal: after.message };
      });
      if (edited.kind === "done") return done(null);
      removeMadeFolders(state, dirname(path));
      return refuse("bad_value", edited.kind === "refused" ? edited.refusal : edited.message);
    },
    restore: (path, { change }) => {
      const text = textAt(path);
      if (!text.ok) return text;
      if (state === null) return done("absent");
      if (text.value === null) {
        removeMadeFolders(state, dirname(path));
        return done("absent");
      }
      let result = "absent" as "absent" | "restored" | "merged";
      const place = { state, inside: insideOf(path), charactersMax: settingsCharactersMax };
      // Each edit of ours is taken back; one of a hook that was replaced by another leaves that one.
      for (let edits = 0; edits < editsMax; edits++) {
        const edited = editFile<string>(path, place, (current, past) => {
          const isOurs = current !== null && isMarked(current, change);
          if (current === null || !(isOurs || (isByEdit(change) && past !== null)))
            return { kind: "refuse", refusal: OVER };
          result = past !== null ? "restored" : "merged";
          if (past !== null) return { kind: "undo", past };
          const after = without(current, change);
          if (!after.ok) return { kind: "refuse", refusal: after.message };
          return after.value === null ? { kind: "remove" } : { kind: "write", text: after.value };
        });
        if (edited.kind === "refused" && edited.refusal === OVER) break;
        if (edited.kind !== "done")
          return refuse("bad_value", edited.kind === "refused" ? edited.refusal : edited.message);
        // Nothing of ours is left, and taking this edit back would bring it again.
        if (result === "merged") break;
      }
      removeMadeFolders(state, dirname(path));
      return done(result);
    },
    text: (path) => {
      const text = textAt(path);
      if (!text.ok) return text;
      return text.value === null ? null : done(text.value);
    },
    names: (folder) => {
      try {
        return readdirSync(folder).sort().slice(0, namesMax);
      } catch {
        return [];
      }
    },
    value: (path, at) => {
      const text = textAt(path);
      if (!text.ok || text.value === null) return undefined;
      const value = path.endsWith(".toml") ? tomlValueAt(path, text.value, at) : valueAt(text.value, at);
      return value.ok ? value.value : undefined;
    },
    command: ownCommand,
    server: ({ agent, user, folder }) => {
      // Some clients start servers without the variables that say where our folders are.
      const folders = ["XDG_CONFIG_HOME", "XDG_STATE_HOME"].flatMap((name) => {
        const value = environment[name];
        return value?.startsWith("/") === true ? [`${name}=${value}`] : [];
      });
      return [
        ...(folders.length === 0 ? [] : ["/usr/bin/env", ...folders]),
        ...[...ownWords, "mcp", "serve", "--agent", agent],
        ...(user === null ? [] : ["--user", user]),
        ...(folder === null ? [] : ["--in", folder]),
      ];
    },
    hooks: () =>
      CONNECTIONS.flatMap(({ client, scopes, files }) =>
        scopes.flatMap((scope) =>
          files(scope, "").flatMap((file) => {
            const path = pathIn(scope, file.path);
            const text = path === null ? null : textAt(path);
            const command = text?.ok === true && text.value !== null ? commandIn(text.value) : null;
            if (path === null || command === null || text?.ok !== true) return [];
            const choice = choiceIn(command);
            // A file that is ours alone is code besides its line, or has more hooks.
            const whole = files(scope, command).find((one) => one.path === file.path)?.change;
            const isWhole = whole?.kind !== "whole" || whole.text === text.value;
            const isOwn = isWhole && choice !== null && ownCommand(choice) === command;
            return [{ client, scope, path, command, isOwn }];
          }),
        ),
      ),
    gaps: async (hook) => {
      const textIn = (scope: ConnectScope, path: string): string | null => {
        const at = pathIn(scope, path);
        const text = at === null ? null : textAt(at);
        return text?.ok === true ? text.value : null;
      };
      return hookGaps({
        ...hook,
        version: await clientVersion(hook.client, environment),
        text: textIn,
        value: (scope, path) => {
          const text = textIn(scope, path);
          const value = text === null ? null : valueAt(text, []);
          return value?.ok === true ? value.value : undefined;
        },
      });
    },
    trial: ({ client, scope }, millisecondsMax) =>
      tryInClient({
        ...{ client, scope, program, state, project, millisecondsMax, environment },
        text: (path) => {
          const at = pathIn(scope, path);
          const text = at === null ? null : textAt(at);
          return text?.ok === true ? text.value : null;
        },
      }),
    run: async (command, input) => {
      const child = spawn("/bin/sh", ["-c", command], { cwd, env: environment, timeout: canaryMillisecondsMax });
      let err = "";
      child.stdout.resume();
      child.stderr.on("data", (part: Buffer) => {
        err += part;
      });
      child.stdin.on("error", () => undefined);
      child.stdin.end(input);
      const [status] = (await once(child, "close")) as [number | null];
      return { status, err };
    },
  };
}

function tomlValueAt(name: string, text: string, at: readonly string[]): Result<Json | undefined> {
  const { tree } = readToml({ name, text });
  if (tree === null) return refuse("bad_value", "it is not valid TOML");
  let value: Json | undefined = plainValue(tree);
  for (const key of at) value = value !== undefined && isJsonObject(value) ? member(value, key) : undefined;
  return done(value);
}

const OVER = "over";
const editsMax = 20;
