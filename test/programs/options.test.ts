// The table of risky options against the real programs: each spelling here makes the installed program run a file of the agent's,
// and none of them is matched by a star.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { guardArgv } from "../../src/core/authority/axes/argv.ts";
import { isHarmlessSedScript } from "../../src/core/authority/programs/sed-script.ts";
import { gitLines } from "../../src/sandbox/plan/start/git-settings.ts";
import { removeState } from "../house/remove-state.ts";
import { runProgram } from "./real-program.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-options-"));
  write("evil", `#!/bin/sh\ntouch ${folder}/marker\nexit 0\n`);
  chmodSync(join(folder, "evil"), 0o755);
});

afterEach(() => removeState(folder));

function write(path: string, text: string): void {
  writeFileSync(join(folder, path), text);
}

function run(argv: readonly string[], cwd = folder, variables: Readonly<Record<string, string>> = {}): string {
  return runProgram(argv, { folder, cwd, variables });
}

/** Two commits and a change on top. */
function repository(): void {
  mkdirSync(join(folder, "hooks"));
  write("hooks/post-checkout", `#!/bin/sh\nexec ${folder}/evil\n`);
  chmodSync(join(folder, "hooks/post-checkout"), 0o755);
  run(["git", "init", "-q", "repo"]);
  for (const text of ["one\n", "two\n"]) {
    write("repo/f", text);
    run(["git", "add", "f"], join(folder, "repo"));
    run(["git", "commit", "-qm", text.trim()], join(folder, "repo"));
  }
}

const files: Readonly<Record<string, () => void>> = {
  sed: () => write("f", "line\n"),
  git: repository,
  node: () => {
    write(
      "loader.mjs",
      `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(`${folder}/marker`)}, "");`,
    );
    write("main.mjs", "");
  },
  make: () => write("Makefile", "all:\n\techo made\n"),
  tar: () => {
    write("f", "line\n");
    run(["tar", "-cf", "a.tar", "f"]);
  },
  gcc: () => {
    write("a.c", "int main(void) { return 0; }\n");
    write("words", `-wrapper ${folder}/evil\n`);
  },
};

/** `EVIL` is the program, `HERE` the folder; `in` is the working directory. */
const SPELLINGS: readonly (readonly [command: string, inside: string])[] = [
  ["sed -n +eEVIL f", ""],
  ["sed -n ~eEVIL f", ""],
  ["sed -n /[^/]/eEVIL f", ""],
  ["sed -n 1,+2eEVIL f", ""],
  ["git clone -u EVIL file://HERE/repo out", ""],
  ["git clone -quEVIL file://HERE/repo out", ""],
  ["git clone -ccore.hooksPath=HERE/hooks repo out", ""],
  ["git clone -qccore.hooksPath=HERE/hooks repo out", ""],
  ["git difftool -yxEVIL HEAD~1", "repo"],
  ["git rebase -fxEVIL HEAD~1", "repo"],
  ["git grep -nOEVIL two", "repo"],
  ["node --experimental_loader ./loader.mjs main.mjs", ""],
  ["node --experimental_loader=./loader.mjs main.mjs", ""],
  ["make SHELL=EVIL", ""],
  ["make MAKEFLAGS= SHELL:=EVIL", ""],
  ["tar xIf EVIL a.tar", ""],
  ["tar -xfa.tar -IEVIL", ""],
  ["gcc @words -c a.c", ""],
];

describe("a spelling that runs a program is guarded", () => {
  test.each(SPELLINGS)("%s", (command, inside) => {
    const argv = command.split(" ").map((word) => word.replace("EVIL", `${folder}/evil`).replace("HERE", folder));
    const program = argv[0] ?? "";
    expect(guardArgv(argv).guarded).toContain(true);
    files[program]?.();
    const said = run(argv, join(folder, inside));
    expect(existsSync(join(folder, "marker")), said).toBe(true);
  });
});

/** A fixed sequence of numbers, so that a failure can be repeated. */
function* numbers(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    yield state >>> 8;
  }
}

describe("sed scripts classified as harmless", () => {
  // `r` and `R` are left out: `--sandbox` refuses them too, and they only read.
  const pieces = [..."sewWypdbqa:v/[]^,;!+~$0123IgM#x=", "/[^/]/", "s/a/b/", "/a/", "s/[/]/x/", "1,+2", "y/a/b/"];

  test("contain nothing that GNU sed would run or write", () => {
    expect(run(["sed", "--version"])).toContain("GNU sed");
    const random = numbers(18);
    const [seen, wrong]: [number[], string[]] = [[0, 0], []];
    for (let round = 0; round < 1_500; round++) {
      const length = 1 + (random.next().value % 6);
      const script = Array.from({ length }, () => pieces[random.next().value % pieces.length]).join("");
      const isRefused = run(["sed", "--sandbox", "-n", script, "/dev/null"]).includes("disabled in sandbox mode");
      if (isRefused) seen[0] = (seen[0] ?? 0) + 1;
      if (isHarmlessSedScript(script)) seen[1] = (seen[1] ?? 0) + 1;
      if (isRefused && isHarmlessSedScript(script)) wrong.push(script);
    }
    expect(wrong).toEqual([]);
    // Both kinds occurred.
    expect(Math.min(...seen)).toBeGreaterThan(100);
  });
});

test("git inside does not treat a folder without `.git` as a repository", () => {
  run(["git", "init", "-q", "--bare", "sub"]);
  write(
    "sub/config",
    `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${folder}/sub\n\tfsmonitor = ${folder}/evil\n`,
  );
  run(["git", "status"], join(folder, "sub"));
  expect(existsSync(join(folder, "marker"))).toBe(true);
  rmSync(join(folder, "marker"));
  write("settings", `${gitLines("a", []).join("\n")}\n`);
  const said = run(["git", "status"], join(folder, "sub"), { GIT_CONFIG_SYSTEM: join(folder, "settings") });
  expect(existsSync(join(folder, "marker"))).toBe(false);
  expect(said).toContain("bare repository");
});
