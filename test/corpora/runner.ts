// Runs the corpora in a folder. A file without a known corpus is an error: it would look like a pass.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Data, data, ShapeError } from "./data.ts";
import { runDvmcp } from "./dvmcp.ts";
import { skipAgentdojo, skipAnchors, skipInjecagent } from "./elsewhere.ts";
import { runGlobs } from "./globs.ts";
import { runHosts } from "./hosts.ts";
import { runPaths } from "./paths.ts";
import { runShell } from "./shell.ts";
import { runSsrf } from "./ssrf.ts";
import type { Group } from "./tally.ts";

type Corpus = (file: Data) => readonly Group[] | Promise<readonly Group[]>;

const corpora: ReadonlyMap<string, Corpus> = new Map<string, Corpus>([
  ["ssrf.json", runSsrf],
  ["paths.json", runPaths],
  ["hosts.json", runHosts],
  ["globs.json", runGlobs],
  ["shell.json", runShell],
  ["agentdojo.json", skipAgentdojo],
  ["dvmcp.json", runDvmcp],
  ["injecagent_dh.json", skipInjecagent],
  ["anchors.json", skipAnchors],
]);

/** Not corpora, but expected in such a folder: text pages, and files of file systems. */
const besides = /\.(md|txt)$|^\.|^LICEN[CS]E/;

export interface Run {
  readonly groups: readonly Group[];
  /** Why the run does not count: unknown names, unreadable files. */
  readonly faults: readonly string[];
}

export async function runCorpora(folder: string): Promise<Run> {
  const names = namesIn(folder);
  if (typeof names === "string") return { groups: [], faults: [names] };
  const groups: Group[] = [];
  const faults: string[] = names
    .filter((name) => !corpora.has(name) && !besides.test(name))
    .map((name) => `${name}: no corpus of that name is known`);
  for (const [name, run] of corpora) {
    if (!names.includes(name)) continue;
    try {
      groups.push(...(await run(data(JSON.parse(readFileSync(join(folder, name), "utf8")), name))));
    } catch (problem) {
      if (!(problem instanceof ShapeError || problem instanceof SyntaxError)) throw problem;
      faults.push(`${name}: ${problem.message}`);
    }
  }
  if (groups.length === 0 && faults.length === 0) faults.push(`${folder}: no corpus in it`);
  return { groups, faults };
}

function namesIn(folder: string): readonly string[] | string {
  try {
    return readdirSync(folder).sort();
  } catch (problem) {
    return problem instanceof Error ? problem.message : String(problem);
  }
}
