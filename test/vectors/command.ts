// The command behind `npm run vectors`: its arguments, its output, and its exit status.
import { linesOf, totalsOf } from "./report.ts";
import { BadFolder, runFolder } from "./run.ts";

export interface Speech {
  readonly out: (text: string) => void;
  readonly problem: (text: string) => void;
}

/** 1 if a case failed or the folder is invalid, 2 if the arguments are. */
export async function vectors(words: readonly string[], say: Speech): Promise<number> {
  const folders = words.filter((word) => !word.startsWith("-"));
  const [folder] = folders;
  if (folder === undefined || folders.length > 1 || words.some((word) => word.startsWith("-") && word !== "--json")) {
    say.problem("usage: npm run vectors -- <folder> [--json]\n");
    return 2;
  }
  try {
    const report = await runFolder(folder);
    say.out(`${words.includes("--json") ? JSON.stringify(report) : linesOf(report).join("\n")}\n`);
    return totalsOf(report).failed === 0 ? 0 : 1;
  } catch (problem) {
    if (!(problem instanceof BadFolder)) throw problem;
    say.problem(`${problem.message}\n`);
    return 1;
  }
}
