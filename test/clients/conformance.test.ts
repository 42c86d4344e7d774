// The protocol's official suite, in both of its eras. It speaks HTTP, so a bridge is placed in between; its findings about HTTP
// are not about the server. Whatever a scenario is about, every message of the server must match the schema.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Fixture } from "../state/fixture.ts";
import { HttpBridge } from "./http-bridge.ts";
import { conformance, newerNode } from "./place.ts";
import { run } from "./run.ts";
import { ABSENT, ABSENT_CHECKS, PASSED, type Revision } from "./scenarios.ts";
import { serverWords } from "./server-words.ts";

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "INFO" | "FAILURE" | "WARNING" | "SKIPPED";
  readonly errorMessage?: string;
}

let fixture: Fixture;
let bridge: HttpBridge;
let address: string;
let output: string;

beforeAll(async () => {
  output = mkdtempSync(join(tmpdir(), "ambit-conformance-"));
  fixture = await Fixture.make();
  fixture.agent("scout", ["fs.read{in=.}", "memory.read{keys=[notes/**]}", "memory.write"], "sandbox: .\n");
  await fixture.begin();
  bridge = new HttpBridge(fixture, serverWords("scout"));
  address = await bridge.listen();
});
afterAll(async () => {
  await bridge?.close();
  await fixture?.remove();
  rmSync(output, { recursive: true, force: true });
});

describe.each<Revision>(["2025-11-25", "2026-07-28"])("at %s", (revision) => {
  let found: ReadonlyMap<string, readonly Check[]>;

  beforeAll(async () => {
    const folder = join(output, revision);
    const words = [newerNode, conformance, "server", "--url", address, "--requirements", revision, "-o", folder];
    await run(words, { cwd: output, env: fixture.environment });
    found = checksIn(folder);
  });

  test("every scenario of the suite is classified", () => {
    expect([...found.keys()].sort()).toEqual([...PASSED[revision], ...Object.keys(ABSENT[revision])].sort());
  });

  test.each(PASSED[revision])("%s passes", (scenario) => {
    const checks = found.get(scenario) ?? [];
    expect(checks.some(({ status }) => status === "SUCCESS")).toBe(true);
    expect(checks.filter((check) => !isFine(check) && !(check.id in ABSENT_CHECKS))).toEqual([]);
  });

  test.each(explained(revision))("%s does not apply", (scenario, says) => {
    const failed = (found.get(scenario) ?? []).filter(({ status }) => status === "FAILURE");
    for (const { errorMessage } of failed) expect(errorMessage).toMatch(says);
  });

  test("every message of the server matches the schema", () => {
    const checks = [...found].flatMap(([scenario, all]) => all.map((check) => ({ scenario, ...check })));
    const schema = checks.filter(({ id }) => id === "wire-schema-valid");
    expect(schema.length).toBeGreaterThan(20);
    expect(schema.filter(({ status }) => status !== "SUCCESS")).toEqual([]);
  });
});

/** The scenarios whose failures show why they do not apply. */
function explained(revision: Revision): readonly (readonly [string, RegExp])[] {
  return Object.entries(ABSENT[revision]).flatMap(([scenario, { says }]) =>
    says === undefined ? [] : [[scenario, says] as const],
  );
}

function isFine({ status }: Check): boolean {
  return status === "SUCCESS" || status === "INFO";
}

/** Of every scenario that was run: one folder each, whose name ends with the time. */
function checksIn(folder: string): ReadonlyMap<string, readonly Check[]> {
  const read = (name: string): readonly Check[] =>
    JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as Check[];
  return new Map(
    readdirSync(folder).map((name) => [name.replace(/^server-(.+)-\d{4}-\d\d-\d\dT.*$/, "$1"), read(name)]),
  );
}
