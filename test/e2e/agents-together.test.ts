// Concurrent edits of one record, and edits that are killed: no grant is lost, and the record is always whole.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compactText } from "../../src/core/notation/printer.ts";
import { readRecord } from "../../src/core/notation/record/record.ts";
import { pathSettingsOf } from "../../src/platform/path-settings.ts";
import { readFrontmatter } from "../../src/text/frontmatter.ts";
import { sizeFor } from "../house/long.ts";
import { pause } from "../house/pause.ts";
import { root } from "./ambit.ts";
import { bundleProgram } from "./bundle.ts";

const RECORD = "---\nid: a # me\ncapabilities:\n  # first\n  - records.read\n---\n\nBody.\n";

const grantsAtOnce = sizeFor(64, 200);
/** Kills of each of two processes. */
const kills = sizeFor(12, 100);

const grants = join(root, "bin", "ambit");
let loop: string;
let folder = "";
let state = "";
beforeAll(async () => {
  loop = await bundleProgram("test/e2e/agents-loop.ts");
  folder = mkdtempSync(join(tmpdir(), "ambit-together-"));
  state = mkdtempSync(join(tmpdir(), "ambit-state-"));
});
afterAll(() => {
  for (const one of [folder, state]) rmSync(one, { recursive: true, force: true });
});

function fresh(name: string): { readonly cwd: string; readonly record: string } {
  const cwd = join(folder, name);
  mkdirSync(join(cwd, ".ambit", "agents"), { recursive: true });
  const record = join(cwd, ".ambit", "agents", "a.md");
  writeFileSync(record, RECORD);
  return { cwd, record };
}

/** Throws unless the text is one whole, valid record with its body. */
function held(record: string): readonly string[] {
  const source = { name: "a.md", text: readFileSync(record, "utf8") };
  const { read } = readFrontmatter(source);
  if (read.tree === null) throw new Error(`no record: ${source.text}`);
  if (!source.text.startsWith("---\nid: a # me\n") || !source.text.endsWith("---\n\nBody.\n"))
    throw new Error(`not whole: ${source.text}`);
  const pathSettings = pathSettingsOf({ home: "/home/u", cwd: "/" });
  return readRecord(read.tree, { pathSettings, toAscii: () => null, ceiling: null }).grants.map(compactText);
}

test(`${grantsAtOnce} concurrent grants on one record lose none`, { timeout: 600_000 }, async () => {
  const { cwd, record } = fresh("parallel");
  const specs = Array.from({ length: grantsAtOnce }, (_, at) => `net.get{hosts=[h${at}.example]}`);
  const waiting = [...specs];
  const run = async (): Promise<void> => {
    for (let spec = waiting.pop(); spec !== undefined; spec = waiting.pop()) {
      const child = spawn(process.execPath, [grants, "agents", "grant", "a", spec, "--yes", "--json"], {
        cwd,
        env: { ...process.env, XDG_STATE_HOME: state },
        stdio: ["ignore", "ignore", "inherit"],
      });
      const [status] = (await once(child, "exit")) as [number | null];
      expect(status, spec).toBe(0);
    }
  };
  await Promise.all(Array.from({ length: 16 }, run));
  expect(
    held(record)
      .filter((text) => text.startsWith("net.get"))
      .sort(),
  ).toEqual([...specs].sort());
  expect(readdirSync(join(cwd, ".ambit", "agents"))).toEqual(["a.md"]);
});

test(`killed ${2 * kills} times during edits, the record is whole every time`, {
  timeout: 600_000,
}, async () => {
  const { cwd, record } = fresh("killed");
  const specs = ["net.get{hosts=[a.example]}", "memory.write{keys=[k]}"];
  const allowed = new Set(["records.read", "tool.invoke{tools=[builtin:**]}", ...specs]);
  const seen = new Set<string>();
  // If a busy machine completes no edit in that time, the next process gets longer: edits must be both killed and completed.
  let milliseconds = 40;
  const run = async (spec: string): Promise<void> => {
    for (let kill = 0; kill < kills; kill++) {
      const child = spawn(process.execPath, [loop, cwd, join(state, "killed"), spec], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = once(child, "exit");
      await once(child.stdout, "data");
      await pause(Math.random() * milliseconds, "it is killed at a random moment");
      child.kill("SIGKILL");
      const [status, signal] = (await ended) as [number | null, string | null];
      expect([status, signal]).toEqual([null, "SIGKILL"]);
      const now = held(record);
      for (const grant of now) expect(allowed).toContain(grant);
      seen.add(now.join(" "));
      if (seen.size === 1) milliseconds = Math.min(2_000, milliseconds * 1.2);
    }
  };
  // Two at a time on one record: each is killed while the other runs, and must not block it.
  await Promise.all(specs.map(run));
  expect(seen.size).toBeGreaterThan(1);
  const last = spawn(process.execPath, [grants, "agents", "grant", "a", "obs.query", "--yes"], {
    cwd,
    env: { ...process.env, XDG_STATE_HOME: state },
    stdio: "ignore",
  });
  expect(await once(last, "exit")).toEqual([0, null]);
  expect(held(record)).toContain("obs.query");
});
