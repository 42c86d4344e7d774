// One table decides which commands run project files: the presets require approval for them, doctor warns of them.
import { expect, test } from "vitest";
import { parseArgvPattern, parseProgram } from "../../authority/axes/argv.ts";
import { PRESETS } from "./presets.ts";
import { runsProjectFiles } from "./project-programs.ts";

const ROWS: readonly (readonly [runs: string, not: string])[] = [
  ["npm test", "npm ls"],
  ["npm run build", "npm view x"],
  ["npm **", "npm --version"],
  ["npm", "npm help"],
  ["yarn", "yarn why x"],
  ["make", "make --version"],
  ["make -C sub all", "mkdir sub"],
  ["cargo test **", "cargo tree **"],
  ["go test ./...", "go list ./..."],
  ["node script.js", "node --version"],
  ["node -e 1", "node --help"],
  ["python3.11 x.py **", "python3.11 --version"],
  ["python -m pytest", "python --version"],
  ["sh run.sh", "sha256sum run.sh"],
  ["./run.sh", "/usr/bin/wc run.sh"],
  ["scripts/check **", "/bin/cat scripts/check"],
  ["/srv/project/run", "/usr/local/bin/rg x"],
  ["timeout 60 npm test", "timeout 60 ls **"],
  ["env A=1 make", "env A=1 cat x"],
  ["nice -n 5 timeout 3m pytest", "nice -n 5 timeout 3m wc"],
  ["npx vitest", "grep vitest package.json"],
  ["eslint .", "rg ."],
  ["** -v", "wc -v"],
];

function runs(text: string): boolean {
  const pattern = parseArgvPattern(text);
  if (!pattern.ok) throw new Error(pattern.message);
  return runsProjectFiles(pattern.value);
}

test.each(ROWS)("%s runs files of the project, %s does not", (command, other) => {
  expect([runs(command), runs(other)]).toEqual([true, false]);
});

test("a program granted as a whole runs them if one of its commands does", () => {
  const whole = (name: string): boolean => {
    const pattern = parseProgram(name);
    return pattern.ok && runsProjectFiles(pattern.value);
  };
  expect(["npm", "make", "python3", "git", "cat"].map(whole)).toEqual([true, true, true, false, false]);
});

test("no newest preset with a writable root runs them without approval", () => {
  const coder = PRESETS.get("ambit:coder@2") ?? [];
  const unasked = coder.filter((spec) => spec.startsWith("proc.exec") && !spec.startsWith("proc.exec{ask"));
  expect(unasked).toHaveLength(1);
  const patterns = JSON.parse(/\[.*\]/.exec(unasked[0] ?? "")?.[0] ?? "null") as readonly string[];
  expect(patterns).toContain("git add **");
  expect(patterns.filter(runs)).toEqual([]);
});

test("a preset never changes: the first coder runs `npm test`, the second one does not", () => {
  const has = (name: string): boolean => PRESETS.get(name)?.some((spec) => spec.includes("npm test **")) === true;
  expect([has("ambit:coder@1"), has("ambit:coder@2")]).toEqual([true, false]);
});
