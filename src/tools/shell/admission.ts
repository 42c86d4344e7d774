// All requests of a script. Patterns have to be expanded first: the folders they list are requested before the commands
// are.
import { type PathSettings, parsePath } from "../../core/authority/axes/path.ts";
import type { Request } from "../../core/authority/request.ts";
import { done, type Result, refuse } from "../../core/base/result.ts";
import type { FilePath } from "../../core/ports/files.ts";
import { chosenNamesMax, expandedCharactersMax, lookedFoldersMax } from "./language/limits.ts";
import { isPattern, type Script, type Word } from "./language/script.ts";
import { type Values, withValues } from "./language/variables.ts";
import { expandPattern, type ListFolder, startOf } from "./names/expand-pattern.ts";
import type { PatternSearch } from "./names/pattern-search.ts";
import { requestsOf } from "./needs.ts";
import { request, requestsFor, type ScriptRoot, targetPath } from "./tool-requests.ts";

/** The environment a script is parsed in: its folder, and the values of its variables there. */
export interface ScriptEnvironment {
  readonly place: ScriptRoot;
  readonly pathSettings: PathSettings;
  readonly values: Values;
}

/** Arguments that are patterns, in order: each lists one folder first. */
export function patternsIn(script: Script): readonly Word[] {
  return script.flatMap(({ stages }) => stages.flatMap(({ words }) => words.slice(1).filter(isPattern)));
}

/** `fs.read` of one folder for each pattern. */
export function lookingRequests(script: Script, setting: ScriptEnvironment): Result<readonly Request[]> {
  const inside = insideOf(setting);
  if (!inside.ok) return inside;
  const requests: Request[] = [];
  for (const word of patternsIn(withValues(script, setting.values))) {
    const one = request("fs.read", { path: targetPath(startOf(word), inside.value) });
    if (!one.ok) return one;
    requests.push(one.value);
  }
  return done(requests);
}

/** All requests of its commands; for a script without patterns. */
export function commandRequests(script: Script, setting: ScriptEnvironment): Result<readonly Request[]> {
  const needs = requestsOf(withValues(script, setting.values));
  if (!needs.ok) return refuse("bad_value", "a variable of the script is not set");
  const characters = needs.commands.reduce(
    (sum, { argv, reads, writes }) => sum + [...argv, ...reads, ...writes].reduce((all, { length }) => all + length, 0),
    0,
  );
  if (characters > expandedCharactersMax)
    return refuse("too_long", `the expanded script is longer than ${expandedCharactersMax} characters`);
  return requestsFor(needs.commands, setting.place, setting.pathSettings);
}

/** The script with its patterns replaced by the matching names, as quoted words. */
export async function withNames(
  script: Script,
  setting: ScriptEnvironment,
  look: ListFolder,
  search: PatternSearch,
): Promise<Result<Script>> {
  const inside = insideOf(setting);
  if (!inside.ok) return inside;
  let [folders, names] = [0, 0];
  const bounded: ListFolder = async (folder, entriesMax) =>
    ++folders > lookedFoldersMax
      ? { ok: false, code: "scope_violation", reason: "too many folders" }
      : search.listed(folder, () => look(folder, entriesMax));
  const steps: Script[number][] = [];
  for (const { after, stages } of withValues(script, setting.values)) {
    const chosen: Script[number]["stages"][number][] = [];
    for (const stage of stages) {
      const words: Word[] = [];
      for (const [at, word] of stage.words.entries()) {
        if (at === 0 || !isPattern(word)) {
          words.push(word);
          continue;
        }
        const put = await namesFor(word, inside.value, bounded, search);
        if (folders > lookedFoldersMax)
          return refuse("too_long", `the patterns search more than ${lookedFoldersMax} folders`);
        if (!put.ok) return put;
        names += put.value.length;
        if (names > chosenNamesMax) return refuse("too_long", `the patterns match more than ${chosenNamesMax} names`);
        words.push(...put.value);
      }
      chosen.push({ ...stage, words });
    }
    steps.push({ after, stages: chosen });
  }
  return done(steps);
}

async function namesFor(
  word: Word,
  inside: PathSettings,
  look: ListFolder,
  search: PatternSearch,
): Promise<Result<readonly Word[]>> {
  const start = targetPath(startOf(word), inside);
  if (!start.ok) return start;
  const chosen = await expandPattern(word, start.value.segments, look, search);
  if (!chosen.ok) return refuse(chosen.code, chosen.message);
  return done(chosen.words.map((text): Word => ({ parts: [{ kind: "quoted", text }], range: word.range })));
}

/** Paths inside a script are relative to its folder. */
function insideOf({ place, pathSettings }: ScriptEnvironment): Result<PathSettings> {
  const root = parsePath(place.in, pathSettings);
  return root.ok ? done({ ...pathSettings, base: root.value.segments }) : root;
}

/** The folder of a call: the one it names, or the working folder. */
export function folderOf(text: string, pathSettings: PathSettings): Result<FilePath> {
  const path = parsePath(text, pathSettings);
  return path.ok ? done(path.value.segments) : path;
}
