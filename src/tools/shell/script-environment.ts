// The environment of a script: its folder, whether it is writable, and the values of its variables in a sandbox there.

import { pathText } from "../../core/authority/axes/path.ts";
import type { JsonObject } from "../../core/base/json.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import { type Reading, workingPathSettings } from "../../core/notation/reading.ts";
import { environmentOf } from "../../sandbox/plan/start/environment.ts";
import { folderOf, type ScriptEnvironment } from "./admission.ts";

/** Facts about the caller that sandboxes receive. */
export interface CallerFacts {
  readonly user: string;
  readonly environment: Readonly<Record<string, string>>;
}

export function scriptEnvironment(
  input: JsonObject,
  reading: Reading,
  { user, environment }: CallerFacts,
): Result<ScriptEnvironment> {
  const { in: folder = ".", root: mode = "ro" } = input;
  if (typeof folder !== "string" || (mode !== "ro" && mode !== "rw"))
    return refuse("bad_value", "`in` is a folder and `root` is ro or rw");
  const pathSettings = workingPathSettings(reading);
  const place = folderOf(folder, pathSettings);
  if (!place.ok) return place;
  const text = pathText(place.value);
  const told = environmentOf(
    { root: { path: place.value, mode: mode === "rw" ? "draft" : "ro" }, runtime: [], network: null },
    {
      user,
      terminal: environment["TERM"] ?? null,
      language: environment["LC_ALL"] ?? environment["LANG"] ?? null,
      timeZone: null,
      allowed: [],
    },
  );
  return done({ place: { in: text, root: mode }, pathSettings, values: new Map([...told, ["PWD", text]]) });
}
