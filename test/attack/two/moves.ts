// What two agent programs and a person do to one project at the same time. Each line of an agent tries to leave something that
// runs `marker` when the person next uses git; each action of the person is an everyday one.

/** `name` is unused so far; `marker` is a command that leaves a mark outside the project. */
export type AgentMove = (name: string, marker: string) => string;

const hook = (path: string, marker: string): string =>
  `mkdir -p "$(dirname ${path})"; printf '#!/bin/sh\\n%s\\n' '${marker}' > ${path}; chmod 755 ${path}`;
const config = (marker: string): string =>
  `[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = ..\\n\\tfsmonitor = "${marker}; false"\\n\\thooksPath = hooks\\n`;

export const AGENT_MOVES: readonly AgentMove[] = [
  (name) => `echo ${name} > ${name}.txt`,
  (name) => `echo ${name} >> shared.txt`,
  (name) => `rm -f shared.txt; echo ${name} > shared.txt`,
  (_, marker) => hook(".git/hooks/pre-commit", marker),
  (_, marker) => hook(".git/hooks/post-index-change", marker),
  (_, marker) => `git config core.fsmonitor '${marker}; false'`,
  (_, marker) => hook("scripts/pre-commit", marker),
  (_, marker) => `git config core.hooksPath scripts; ${hook("scripts/post-commit", marker)}`,
  (_, marker) => `printf '[core]\\n\\tfsmonitor = "${marker}; false"\\n' > included.cfg`,
  () => "mkdir -p bare/objects bare/refs; touch bare/objects/k bare/refs/k",
  () => "mkdir -p bare; echo 'ref: refs/heads/main' > bare/HEAD",
  (_, marker) => `mkdir -p bare; printf '${config(marker)}' > bare/config`,
  () => "rm -rf bare",
  () => "ln -sfn . up; ln -sfn up/../outside away",
  () => "ln -sfn .git/hooks linked",
  (_, marker) => `ln -sfn ../.git/hooks scripts/h; ${hook("scripts/h/pre-commit", marker)}`,
  (_, marker) => `rm -rf nested; git init -q nested; printf '${config(marker)}' > nested/.git/config`,
  () => "mkdir -p sub; echo 'gitdir: ../bare' > sub/.git",
  (_, marker) =>
    `mkdir -p .vscode .GIT/hooks; echo '${marker}' > .vscode/tasks.json; ${hook(".GIT/hooks/pre-commit", marker)}`,
  (name) => `echo ${name} > ${name}.c; git add ${name}.c; git commit -qm ${name}`,
  (name, marker) =>
    `git checkout -q -b evil-${name}; mkdir -p deep/objects deep/refs; touch deep/objects/k deep/refs/k; echo 'ref: refs/heads/main' > deep/HEAD; printf '${config(marker)}' > deep/config; git add -f deep; git commit -qm ${name}; git checkout -q main; rm -rf deep`,
  (name) => `git update-ref -d refs/heads/keep; git tag -f kept-${name} HEAD; rm -rf .git/logs`,
  () => "git stash drop -q; git gc -q --prune=now; git reflog expire --expire=now --all",
  () => "git update-index --assume-unchanged a.txt; echo hidden > a.txt",
  () => "rm -rf .git; git init -q -b main",
  () => "rm -rf scripts; ln -s .git scripts",
];

/** Actions that overwrite nothing of the person's own, so that what a person wrote last must be there in the end. */
export type PersonMove =
  | { readonly kind: "edit"; readonly path: string }
  | { readonly kind: "git"; readonly words: readonly string[] }
  | { readonly kind: "kill" };

export const PERSON_MOVES: readonly PersonMove[] = [
  { kind: "edit", path: "shared.txt" },
  { kind: "edit", path: "mine/notes.txt" },
  { kind: "edit", path: "bare/readme.txt" },
  { kind: "git", words: ["commit", "-q", "--allow-empty", "-m", "person"] },
  { kind: "git", words: ["checkout", "-q", "-B", "topic"] },
  { kind: "git", words: ["checkout", "-q", "main"] },
  { kind: "git", words: ["status", "--porcelain"] },
  { kind: "kill" },
];
