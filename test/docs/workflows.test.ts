// The workflows and the action as text: what they run exists, and every action of others is pinned by its commit.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../e2e/ambit.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly uses?: string;
  readonly steps?: readonly Step[];
}

const folder = join(root, ".github", "workflows");
const files = readdirSync(folder);
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: Record<string, string> };

function jobsOf(file: string): readonly Job[] {
  return Object.values((parse(readFileSync(join(folder, file), "utf8")) as { jobs: Record<string, Job> }).jobs);
}

function stepsOf(job: Job): readonly Step[] {
  return [...(job.steps ?? []), ...(job.uses === undefined ? [] : [{ uses: job.uses }])];
}

/** GitHub's scanner of code: the queries are to be the newest ones. */
const BY_VERSION = /^github\/codeql-action\/\w+@v\d+$/;

/** What is wrong with a step; null for nothing. */
function faultOf({ uses, run = "" }: Step): string | null {
  if (uses?.startsWith("./") === true) return existsSync(join(root, uses)) ? null : `${uses} does not exist`;
  if (uses !== undefined && BY_VERSION.test(uses)) return null;
  if (uses !== undefined && !/^[\w-]+\/[\w./-]+@[\da-f]{40}$/.test(uses)) return `${uses} is not pinned by a commit`;
  const named = [...run.matchAll(/\bnpm run (?:--\S+ )*([\w:]+)/g)].map(([, name = ""]) => name);
  const absent = named.find((name) => scripts[name] === undefined);
  return absent === undefined ? null : `package.json has no script ${absent}`;
}

test.each(files)("%s runs scripts that exist and actions that are pinned", (file) => {
  const steps = jobsOf(file).flatMap(stepsOf);
  expect(steps.length).toBeGreaterThan(1);
  expect(steps.map(faultOf).filter((fault) => fault !== null)).toEqual([]);
});

test.each([
  [{ uses: "actions/checkout@v4" }, "actions/checkout@v4 is not pinned by a commit"],
  [{ uses: "./nowhere" }, "./nowhere does not exist"],
  [{ run: "npm ci && npm run tests" }, "package.json has no script tests"],
])("the step %j is found", (step, fault) => {
  expect(faultOf(step)).toBe(fault);
});

test("every supported line of Node is tested, on both processors", () => {
  const { jobs } = parse(readFileSync(join(folder, "test.yml"), "utf8")) as {
    jobs: { linux: { strategy: { matrix: { node: string[]; processor: string[] } } } };
  };
  expect(jobs.linux.strategy.matrix).toMatchObject({ node: ["20", "22", "24"], processor: ["x64", "arm64"] });
});
