// The parsers of the native program against nearly valid frames, with sanitizers enabled.
import { execFileSync, spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { runSeed } from "../house/seed.ts";
import { built } from "./program.ts";

/** Each kind of frame, and the lines of git: all of them must have been accepted at least once. */
const KINDS = "DGHLMNPQSTUVXYacdfjklprsw";

test("no input is read beyond its end", () => {
  const words = ["--rounds", "5000", "--seed", String(runSeed())];
  const { rounds, kinds } = JSON.parse(execFileSync(built("fuzz-path"), words, { encoding: "utf8" }));
  expect({ rounds, kinds }).toEqual({ rounds: 5_000, kinds: KINDS });
});

test("the same seed gives the same run, another a different one", () => {
  const [first, again, other] = ["7", "7", "8"].map((seed) =>
    execFileSync(built("fuzz-path"), ["--rounds", "500", "--seed", seed], { encoding: "utf8" }),
  );
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});

test("the sanitizers are enabled: the target says so", () => {
  const { stdout } = spawnSync("sh", ["-c", `grep -c __asan_report_load ${built("fuzz-path")}`], { encoding: "utf8" });
  expect(Number(stdout)).toBeGreaterThan(0);
});
