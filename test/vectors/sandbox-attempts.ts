// Attempts by a real program in a real sandbox: the answer is what really happened on the host.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/base/json.ts";
import { LandWorker } from "../../src/sandbox/drafts/lander/land-worker.ts";
import { detectSandbox } from "../../src/sandbox/linux/detect-sandbox.ts";
import { stepOf } from "../../src/sandbox/plan/drafts/land-request.ts";
import { environmentOf } from "../../src/sandbox/plan/start/environment.ts";
import { nativeMissing, nativeProgram } from "../files/native.ts";
import { type CommandOutput, draftsIn, planFor, sandboxesIn, shell } from "../sandbox/fixture.ts";
import { notRun, type Outcome, pendingOutcome } from "./outcome.ts";
import { type Row, textAt, textOr } from "./row.ts";

const MARK = "a-value-of-the-host";
/** Not below /tmp, which is private in a sandbox. */
const PLACE = "/var/tmp";

export async function attemptOutcome(row: Row): Promise<Outcome> {
  const missing = detectSandbox({ native: nativeProgram, install: () => "" });
  if (nativeMissing() !== null || !missing.ok) return pendingOutcome("confinement");
  const got = await answerTo(textAt(row, "attempt"));
  if (got === null) return notRun("an attempt without a program");
  const expected = wanted(row);
  return { kind: "compared", expected, got: { expect: got }, wider: got === "allow" && expected["expect"] !== "allow" };
}

/** The note takes precedence: our expected answer, or that we must deny. */
function wanted(row: Row): JsonObject {
  const note = textOr(row, "ambit_note", null);
  if (note !== null && /\bmust deny\b/.test(note)) return { expect: "deny" };
  return { expect: /^ambit: (.+)$/.exec(note ?? "")?.[1] ?? textAt(row, "expect") };
}

async function answerTo(attempt: string): Promise<string | null> {
  const [, absolute] = /^write (\/\S*)$/.exec(attempt) ?? [];
  const [, file] = /^read (\/\S*)$/.exec(attempt) ?? [];
  if (attempt === "bwrap missing") {
    const detected = detectSandbox({ native: nativeProgram, folders: [], install: () => "" });
    return !detected.ok && detected.refused.code === "sandbox_unavailable" ? "refuse" : "run";
  }
  if (attempt === "write inside root") return said((await inSandbox("echo x > made")).has("root/made"));
  if (attempt === "write outside root") return said((await inSandbox("echo x > ../beside/made")).has("beside/made"));
  if (absolute !== undefined) return writing(absolute);
  if (file !== undefined) return reading(file);
  if (attempt === "TMPDIR") {
    const { output, has } = await inSandbox('echo x > "$TMPDIR/made" && cat "$TMPDIR/made" && printf %s "$TMPDIR"');
    const [first, folder = ""] = output.split("\n");
    return first === "x" && !has("root/made") && !existsSync(join(folder, "made")) ? "private" : "shared";
  }
  if (/host processes/.test(attempt)) {
    const { output } = await inSandbox("ls /proc | grep -c '^[0-9]*$'");
    return Number(output) > 0 && Number(output) <= 6 ? "unshare pid" : "seen";
  }
  if (/host env/.test(attempt)) {
    const { output } = await inSandbox("env");
    return output.includes("PATH=") && !output.includes(MARK) ? "clear env" : "inherited";
  }
  return null;
}

function said(allowed: boolean): string {
  return allowed ? "allow" : "deny";
}

async function writing(folder: string): Promise<string> {
  const name = `ambit-attempt-${process.pid}`;
  const path = join(folder, name);
  await inSandbox(`echo x > ${path}`);
  const isThere = existsSync(path);
  rmSync(path, { force: true });
  return isThere ? `host ${folder} changed` : `host ${folder} unchanged`;
}

/** The criterion is whether the host's own file could be read. */
async function reading(file: string): Promise<string> {
  const { output } = await inSandbox(`cat ${file}`);
  return said(existsSync(file) && output === readFileSync(file, "utf8"));
}

async function inSandbox(script: string): Promise<{ readonly output: string; has(path: string): boolean }> {
  const folder = realpathSync(mkdtempSync(join(PLACE, "ambit-vectors-")));
  const root = join(folder, "root");
  mkdirSync(root);
  mkdirSync(join(folder, "beside"));
  const sandboxes = sandboxesIn(folder);
  const walls = { root: { path: root.split("/").slice(1), mode: "draft" }, runtime: [], network: null } as const;
  const host = { user: "u", terminal: null, language: null, timeZone: null, allowed: [] };
  process.env["AMBIT_OF_THE_HOST"] = MARK;
  try {
    const plan = planFor(root, { environment: environmentOf(walls, host, []) });
    const told = await shell(sandboxes, plan, script);
    const { output } = told;
    await landed(told, folder, root);
    const there = new Set(["root/made", "beside/made"].filter((path) => existsSync(join(folder, path))));
    return { output, has: (path) => there.has(path) };
  } finally {
    delete process.env["AMBIT_OF_THE_HOST"];
    await sandboxes.end(null);
    for (const one of [folder, `${folder}-state`]) rmSync(one, { recursive: true, force: true });
  }
}

/** What the program wrote lands as in the product: all of it, by the lander. */
async function landed(told: CommandOutput, folder: string, root: string): Promise<void> {
  const draft = told.result.ok ? told.result.ran.draft : null;
  if (draft === null) return;
  const worker = new LandWorker({
    ...{ program: nativeProgram, root, drafts: draftsIn(folder).folder, silenceMillisecondsMax: 60_000 },
    restrictions: { landlock: 0, architecture: null },
  });
  try {
    const scanned = await worker.scan(draft.id);
    if (scanned.status !== "scanned") throw new Error(scanned.reason);
    const result = await worker.land(draft.id, scanned.scan.changes.map(stepOf), draft.startNanoseconds);
    if (result.status !== "landed") throw new Error(`not landed: ${result.status}`);
  } finally {
    worker.close();
  }
}
