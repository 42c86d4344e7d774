// A project whose git folder lies outside of it: a linked worktree of a repository beside it, or a submodule.
import { mkdirSync, renameSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DraftProject } from "./project.ts";

/** What a program of the person prints; throws where it fails. */
export function personSays(fixture: DraftProject, ...words: readonly string[]): string {
  const { status, out, err } = fixture.person(...words);
  if (status !== 0) throw new Error(`${words.join(" ")}: ${err}`);
  return out.trimEnd();
}

/** Replaces the project by what `make` creates at its path; its records stay. */
function replaceProject(fixture: DraftProject, make: () => void): void {
  const aside = join(fixture.base, "aside");
  renameSync(join(fixture.project, ".ambit"), aside);
  rmdirSync(fixture.project);
  // Commands of the person start in the project.
  mkdirSync(fixture.project);
  fixture.own();
  make();
  renameSync(aside, join(fixture.project, ".ambit"));
  fixture.own();
}

export function mainFolder({ base }: DraftProject): string {
  return join(base, "main");
}

/** A repository beside the project, with one commit on `main`. */
export function mainRepository(fixture: DraftProject): void {
  const main = mainFolder(fixture);
  mkdirSync(main);
  fixture.own();
  personSays(fixture, "git", "init", "-q", "-b", "main", main);
  writeFileSync(join(main, "a.txt"), "one\n");
  fixture.own();
  personSays(fixture, "git", "-C", main, "add", "a.txt");
  personSays(fixture, "git", "-C", main, "commit", "-q", "-m", "first");
}

/** The project is a worktree of that repository, on the branch `feature`. */
export function linkedWorktree(fixture: DraftProject): void {
  replaceProject(fixture, () => {
    mainRepository(fixture);
    // Git accepts an empty folder.
    personSays(
      fixture,
      ...["git", "-C", mainFolder(fixture), "worktree", "add", "-q", "-b", "feature", fixture.project],
    );
  });
  writeFileSync(join(mainFolder(fixture), ".git", "info", "exclude"), ".ambit\n");
  fixture.own();
}

/** The project is a submodule of a repository around it, with the repository `main` as its origin. */
export function submoduleProject(fixture: DraftProject): void {
  replaceProject(fixture, () => {
    mainRepository(fixture);
    const add = `git -c protocol.file.allow=always submodule add -q ${mainFolder(fixture)} project`;
    personSays(fixture, "sh", "-ec", `cd ${fixture.base}; rmdir project; git init -q -b top; ${add}`);
  });
}
