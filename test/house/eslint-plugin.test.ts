// The lint rules' own tests, by the runner they come with: under a real ESLint and a real Biome, none left out.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL("../../eslint-plugin", import.meta.url));

test("the rules find what they must under the real linters", () => {
  const { status, stdout } = spawnSync(process.execPath, ["--test", "--test-reporter=tap"], {
    cwd: folder,
    encoding: "utf8",
    timeout: 170_000,
  });
  const count = (what: string): number => Number(new RegExp(`^# ${what} (\\d+)$`, "m").exec(stdout)?.[1] ?? "-1");
  expect({ status, failed: count("fail"), skipped: count("skipped") }, stdout.slice(-2000)).toEqual({
    status: 0,
    failed: 0,
    skipped: 0,
  });
  expect(count("pass")).toBeGreaterThan(50);
});
