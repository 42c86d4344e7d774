// Attacks written without looking at the mechanism: what an agent would try that knows git, shells and editors, and what the person
// does next. None of them runs a program of the agent's as the person.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CALLERS } from "../house/callers.ts";
import { DraftMachine, DraftProject } from "./project.ts";

const machine = new DraftMachine();

interface Attack {
  /** The person's own project: a repository with one commit, and this. */
  readonly before?: string;
  /** `$EVIL` is a command that leaves a mark. */
  readonly line: string;
  /** What the person does afterwards. */
  readonly after: string;
  /** Git itself does not run it either. */
  readonly isRefusedByGit?: true;
}

const HOOK = (path: string): string => `printf '#!/bin/sh\\n%s\\n' "$EVIL" > ${path}; chmod +x ${path}`;
const SETTINGS = 'printf \'[core]\\nrepositoryformatversion = 0\\nfsmonitor = "%s; false"\\n\' "$EVIL"';

const ATTACKS: readonly (readonly [string, Attack])[] = [
  [
    "a script that a hook of a repository inside links to",
    {
      before:
        "git init -q sub; mkdir scripts; echo true > scripts/x; ln -s ../../../scripts/x sub/.git/hooks/pre-commit",
      line: HOOK("scripts/x"),
      after: "git -C sub commit -q --allow-empty -m x",
    },
  ],
  [
    "a settings file that a repository inside includes",
    {
      before: "git init -q sub; git -C sub config include.path ../../team.cfg",
      line: `${SETTINGS} > team.cfg`,
      after: "git -C sub status",
    },
  ],
  [
    "a name in a hooks path that is made a link",
    {
      before: "git config core.hooksPath tools/../hooks",
      line: `mkdir -p a/b a/hooks; ln -s a/b tools; ${HOOK("a/hooks/pre-commit")}`,
      after: "git commit -q --allow-empty -m x",
    },
  ],
  [
    "a hook that is staged and not written",
    {
      before: "git config core.hooksPath ci",
      line: "id=$(printf '#!/bin/sh\\n%s\\n' \"$EVIL\" | git hash-object -w --stdin); git update-index --add --cacheinfo 100755,$id,ci/pre-commit",
      after: "git checkout -q .; git commit -q --allow-empty -m x",
    },
  ],
  [
    "a hook in a stash",
    {
      before: "git config core.hooksPath ci",
      line: `mkdir ci; ${HOOK("ci/pre-commit")}; git add ci; git stash -q`,
      after: "git stash pop -q; git commit -q --allow-empty -m x",
    },
  ],
  [
    "a hook in a commit on a branch of a remote",
    {
      before: "git config core.hooksPath ci",
      line: `mkdir ci; ${HOOK("ci/pre-commit")}; git add ci; git commit -qnm x; git update-ref refs/remotes/origin/main HEAD; git reset -q --hard HEAD~`,
      after: "git merge -q origin/main; git commit -q --allow-empty -m x",
    },
  ],
  [
    "a copy of the repository with other settings",
    {
      line: `rm -rf copy; cp -r .git copy; ${SETTINGS} > copy/config; printf 'bare = false\\nworktree = ..\\n' >> copy/config; printf 'gitdir: copy\\n' > .git-file; mkdir -p in; printf 'gitdir: ../copy\\n' > in/.git`,
      after: "git -C copy status; git -C in status",
    },
  ],
  [
    "a repository that is removed and made anew",
    {
      line: `rm -rf .git; git init -q; ${SETTINGS} >> .git/config; ${HOOK(".git/hooks/pre-commit")}`,
      after: "git status; git commit -q --allow-empty -m x",
    },
  ],
  [
    "a rebase that is left in the middle",
    {
      line: 'git commit -q --allow-empty -m two; mkdir .git/rebase-merge; echo "exec $EVIL" > .git/rebase-merge/git-rebase-todo; git rev-parse HEAD | tee .git/rebase-merge/onto > .git/rebase-merge/orig-head; echo refs/heads/main > .git/rebase-merge/head-name; : > .git/rebase-merge/interactive',
      after: "git rebase --continue",
    },
  ],
  [
    "a submodule whose update is a command",
    {
      line: 'git init -q s; git -C s commit -q --allow-empty -m s; printf \'[submodule "s"]\\n\\tpath = s\\n\\turl = ./s\\n\\tupdate = !%s\\n\' "$EVIL" > .gitmodules; git add .gitmodules s; git commit -qm sub',
      after: "git submodule update --init; git submodule update",
      isRefusedByGit: true,
    },
  ],
  [
    "the settings of a linked worktree",
    {
      before: "git worktree add -q tree; git config extensions.worktreeConfig true",
      line: `${SETTINGS} > .git/worktrees/tree/config.worktree; mkdir -p e/objects e/refs; ${SETTINGS} > e/config; echo ../../../e > .git/worktrees/tree/commondir`,
      after: "git -C tree status",
    },
  ],
  [
    "a script that `.envrc` names, which the person allowed",
    {
      before: "printf '. ci/env.sh\\n' > .envrc; mkdir ci; : > ci/env.sh; ! command -v direnv || direnv allow .",
      line: 'echo "$EVIL" > ci/env.sh',
      after: "! command -v direnv || direnv exec . true",
    },
  ],
];

for (const user of CALLERS)
  describe(user === 0 ? "as root" : "as an ordinary user", () => {
    let fixture: DraftProject;
    beforeEach(() => {
      fixture = new DraftProject(user, undefined, machine);
      fixture.repository();
    });
    afterEach(() => fixture.end());

    test.each(ATTACKS)("%s", (_, { before = "true", line, after, isRefusedByGit = false }) => {
      const marker = join(fixture.base, "marker");
      const evil = `EVIL='touch ${marker}'`;
      expect(fixture.person("sh", "-c", before)).toMatchObject({ status: 0 });
      const result = fixture.shell(`${evil}; ${line}; echo mine > own.txt`);
      expect(result.outcome).toBe("ran");
      // What did not land is told, and nothing else is missing.
      const isTold = (result.changes?.kept ?? []).some(({ path }) => path === "own.txt");
      expect([fixture.read("own.txt"), isTold]).toEqual(isTold ? [null, true] : ["mine\n", false]);
      expect(result.changes?.kept.map(({ reason }) => reason).join("\n")).not.toContain("still in the project");
      fixture.person("sh", "-c", `${after}; git status; git commit -q --allow-empty -m used`);
      expect(existsSync(marker)).toBe(false);
      // The attack is real: with all of it in place the person's command runs it.
      fixture.person("sh", "-c", `${evil}; ${line}; ${after}`);
      expect(existsSync(marker)).toBe(!isRefusedByGit);
    });
  });
