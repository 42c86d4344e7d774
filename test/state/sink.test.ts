// A second copy of the log: no call runs before its entry is in the copy, no call hangs on it, and it stays complete.
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { SinkStatus } from "../../src/core/ports/stores/sink.ts";
import { until } from "../house/until.ts";
import type { Session } from "./calling.ts";
import { Collectors } from "./collecting.ts";
import { expectValue, Fixture } from "./fixture.ts";

let collectors: Collectors;
beforeAll(async () => {
  collectors = await Collectors.make();
});
afterAll(() => collectors?.remove());

let fixture: Fixture;
let session: Session;
/** A machine without a copy yet. */
async function begin(): Promise<void> {
  fixture = await Fixture.make();
  fixture.agent("worker", ["memory.write"]);
  await fixture.begin();
  session = await opened();
}

/** A machine with a file as its copy from the beginning, with one call in it. */
async function beginCopied(): Promise<string> {
  fixture = await Fixture.make();
  fixture.agent("worker", ["memory.write"]);
  const file = here("copy.jsonl");
  configure(file);
  await fixture.begin();
  session = await opened();
  expect(await set("a")).toBe("done");
  return file;
}

async function opened(agent = "worker"): Promise<Session> {
  return expectValue(await fixture.caller().open(fixture.project, agent));
}

function configure(sink: string, timeout = "2s"): void {
  fixture.write("config/ambit/config.yml", `audit: { sink: ${JSON.stringify(sink)}, timeout: ${timeout} }\n`);
}

const end = (): Promise<void> => fixture?.remove();

const here = (name: string): string => join(fixture.base, name);
const set = async (key: string): Promise<string> => (await session.do("memory_set", { key, value: key })).said;
const read = async (): Promise<string> => (await session.do("memory_get", { key: "a" })).said;
const sink = async (): Promise<SinkStatus> => (await fixture.status()).sink as SinkStatus;
const settled = (): Promise<void> => until(async () => (await sink()).behind === 0, "the copy has everything");

interface CopyLine {
  readonly kind: string;
  readonly place: number;
  readonly body: string;
}

function linesOf(file: string): readonly CopyLine[] {
  const text = readFileSync(file, "utf8");
  expect(text.endsWith("\n")).toBe(true);
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as CopyLine);
}

/** Every position once, in order, from the first on. */
function expectWhole(file: string): void {
  const places = linesOf(file).flatMap(({ kind, place }) => (kind === "entry" ? [place] : []));
  expect(places).toEqual(Array.from(places, (_, at) => at + 1));
}

async function expectVerified(file: string): Promise<void> {
  expectWhole(file);
  const key = join(fixture.base, "key");
  writeFileSync(key, expectValue(await fixture.control("audit.key", {})).keys[0] ?? "");
  const alone = await fixture.ambit("audit", "verify", "--file", file, "--key", key, "--json");
  expect(JSON.parse(alone.out)).toMatchObject({ isIntact: true, problems: [] });
  const both = await fixture.ambit("audit", "verify", "--sink", file, "--json");
  expect(JSON.parse(both.out)).toMatchObject({ isIntact: true, problems: [], copy: { isIntact: true } });
}

describe("in a file", () => {
  afterEach(end);

  test("contains every decision before its answer; the copy verifies with the public key alone", async () => {
    fixture = await Fixture.make();
    const file = here("copy.jsonl");
    fixture.agent("worker", ["memory.write", "memory.read"]);
    configure(file);
    await fixture.begin();
    session = await opened();
    for (let call = 0; call < 5; call++) {
      const done = await session.do("memory_set", { key: `k${call}`, value: "x" });
      expect(done.said).toBe("done");
      expect(readFileSync(file, "utf8")).toContain(String(done.value["receipt"]));
    }
    expect((await session.do("obs_append", { text: "x" })).said).toBe("capability_absent");
    await settled();
    expect(await sink()).toMatchObject({ target: file, isDenying: false, problem: null });
    await expectVerified(file);
    const text = await fixture.ambit("daemon", "status");
    expect(text.out).toContain(`second copy  ${file}: complete up to`);
    expect((await fixture.ambit("doctor")).out).toContain(`second copy of the log: ${file}`);
    expect((await fixture.ambit("audit", "verify", "--sink")).out).toMatch(/copy {2}intact/);
  });

  test("survives repeated kills: nothing is missing and nothing is there twice", async () => {
    fixture = await Fixture.make();
    const file = here("copy.jsonl");
    fixture.agent("worker", ["memory.write", "memory.read{calls=20}"]);
    configure(file);
    await fixture.begin();
    const receipts: string[] = [];
    for (let round = 0; round < 4; round++) {
      session = await opened();
      const calls = Array.from({ length: 20 }, async (_, at) => {
        const done = await session.do("memory_set", { key: `${round}-${at}`, value: "x".repeat(at * 100) });
        if (done.said === "done") receipts.push(String(done.value["receipt"]));
      });
      await Promise.all(calls.slice(0, 1 + round * 3));
      await fixture.killDaemon();
      // As after a power cut: a partial line, and a hole in the file.
      if (round === 1) appendFileSync(file, '{"body":"{}","hash":"00');
      if (round === 2) appendFileSync(file, Buffer.concat([Buffer.from('{"body":'), Buffer.alloc(600)]));
      await fixture.startDaemon();
      await Promise.all(calls);
    }
    session = await opened();
    expect(await set("after")).toBe("done");
    await settled();
    const text = readFileSync(file, "utf8");
    expect(receipts.length).toBeGreaterThan(4);
    expect(receipts.filter((receipt) => !text.includes(receipt))).toEqual([]);
    await expectVerified(file);
  });

  test("a truncated log is detected by its copy, and nothing is decided on it", async () => {
    const file = await beginCopied();
    fixture.stopDaemon();
    const database = join(fixture.state, "state.db");
    copyFileSync(database, here("old.db"));
    await fixture.startDaemon();
    session = await opened();
    expect(await set("b")).toBe("done");
    fixture.stopDaemon();
    // An earlier state is restored in its place: on its own it is intact.
    for (const end of ["-wal", "-shm"]) rmSync(`${database}${end}`, { force: true });
    copyFileSync(here("old.db"), database);
    // Also remove the head remembered beside the keys, which alone would detect it.
    rmSync(join(fixture.state, "keys", "head"));
    await fixture.startDaemon();
    expect((await fixture.ambit("audit", "verify")).status).toBe(0);
    const compared = await fixture.ambit("audit", "verify", "--sink", file, "--json");
    expect(compared.status).toBe(1);
    expect(compared.out).toMatch(/missing at the end|were rewritten/);
    session = await opened();
    expect(await set("c")).toBe("audit_unavailable");
    expect((await sink()).problem).toMatch(/the log was truncated|differs from the log/);
    expect((await fixture.ambit("doctor")).out).toContain("sink_behind");
  });

  test("a file that is truncated or moved away while it is written never counts as acknowledged", async () => {
    const file = await beginCopied();
    await settled();
    truncateSync(file, Math.floor(readFileSync(file).length / 2));
    expect(await set("b")).toBe("done");
    await settled();
    expectWhole(file);
    rmSync(file);
    expect(await set("c")).toBe("done");
    await settled();
    await expectVerified(file);
    expect(await fixture.log({ kind: "daemon", outcome: "sink_went_back" })).toHaveLength(2);
  });
});

describe("with a collector", () => {
  afterEach(end);

  test("stopped: calls are denied within the timeout, then at once; nothing runs, and later nothing is missing or doubled", async () => {
    fixture = await Fixture.make();
    const [socket, file] = [here("collector.sock"), here("copy.jsonl")];
    fixture.agent("worker", ["memory.write", "memory.read{calls=20}"]);
    configure(`unix:${socket}`, "500ms");
    const collector = await collectors.start(socket, file);
    await fixture.begin();
    session = await opened();
    expect(await set("a")).toBe("done");
    expect(await read()).toBe("done");
    collector.kill("SIGSTOP");
    // Calls in flight are logged here and charged; later ones are not even logged.
    const first = await Promise.all([read(), read(), read()]);
    expect(first).toEqual(["audit_unavailable", "audit_unavailable", "audit_unavailable"]);
    const late = await Promise.all(Array.from({ length: 10 }, () => set("never")));
    expect(new Set(late)).toEqual(new Set(["audit_unavailable"]));
    expect(await sink()).toMatchObject({ isDenying: true, target: `unix:${socket}` });
    const undone = await fixture.log({ kind: "outcome", outcome: "failed audit_unavailable" });
    const allowed = await fixture.log({ session: session.id, kind: "decision", outcome: "allow" });
    expect(undone.length).toBeLessThanOrEqual(3);
    const reads = allowed.filter(({ tool }) => tool === "memory_get");
    expect(undone.map(({ of }) => of).toSorted()).toEqual(
      reads
        .slice(1)
        .map(({ id }) => id)
        .toSorted(),
    );
    for (const { of } of undone)
      expect((await fixture.ambit("why", of ?? "")).out).toContain("failed audit_unavailable");
    collector.kill("SIGCONT");
    await until(async () => (await set("b")) === "done", "calls go on");
    // Charged is what was logged, and never more than the budget.
    let more = 0;
    while ((await read()) === "done") more++;
    const all = await fixture.log({ kind: "decision", outcome: "allow" });
    expect(all.filter(({ tool }) => tool === "memory_get")).toHaveLength(20);
    expect(more).toBe(20 - reads.length);
    await settled();
    await expectVerified(file);
    const copied = linesOf(file).flatMap(({ kind, body }) => (kind === "entry" ? [body] : []));
    for (const { id } of undone) expect(copied.filter((body) => body.includes(`"id":"${id}"`))).toHaveLength(1);
  });

  test("after a kill of the daemon or the collector each continues where the other stands", async () => {
    fixture = await Fixture.make();
    const [socket, file] = [here("collector.sock"), here("copy.jsonl")];
    fixture.agent("worker", ["memory.write"]);
    configure(`unix:${socket}`);
    let collector = await collectors.start(socket, file);
    await fixture.begin();
    for (let round = 0; round < 3; round++) {
      session = await opened();
      const calls = Array.from({ length: 10 }, (_, at) => set(`${round}-${at}`));
      await calls[0];
      if (round === 1) {
        await collectors.end(collector);
        collector = await collectors.start(socket, file);
      } else {
        await fixture.killDaemon();
        await fixture.startDaemon();
      }
      await Promise.all(calls);
    }
    session = await opened();
    await until(async () => (await set("after")) === "done", "calls go on");
    await settled();
    await expectVerified(file);
  });

  test("an approval used for a call that did not run is spent, and shown as failed", async () => {
    fixture = await Fixture.make();
    const [socket, file] = [here("collector.sock"), here("copy.jsonl")];
    fixture.agent("worker", ["memory.write{ask=true}"]);
    configure(`unix:${socket}`, "300ms");
    const collector = await collectors.start(socket, file);
    await fixture.begin();
    session = await opened();
    expect(await set("a")).toBe("approval_required");
    const [asked] = await fixture.approvals("pending");
    expectValue(await fixture.approve(asked?.id ?? ""));
    await settled();
    collector.kill("SIGSTOP");
    expect(await set("a")).toBe("audit_unavailable");
    collector.kill("SIGCONT");
    const states = async (): Promise<readonly string[]> =>
      (await fixture.approvals("approved", "executing", "failed", "done")).map(({ state }) => state);
    await until(async () => (await states()).join() !== "executing", "it is settled");
    // Either it was used and failed, or the copy was known to be late before.
    expect(["failed", "approved"]).toContain((await states()).join());
    await until(async () => !(await sink()).isDenying, "it has caught up");
    expect((await session.do("memory_get", { key: "a" })).said).not.toBe("done");
  });
});

/** One machine for all rows: each sink is configured while the daemon runs, for an agent of its own. */
describe("when the copy cannot be written", () => {
  let count = 0;
  beforeAll(async () => {
    fixture = await Fixture.make();
    for (let agent = 0; agent < 12; agent++) fixture.agent(`worker-${agent}`, ["memory.read{calls=3}"]);
    await fixture.begin();
  });
  afterAll(end);

  /** Denied, reported, not charged; then the obstacle is removed. */
  async function expectDenied(target: string, file: string, problem: RegExp, mend: () => Promise<void>): Promise<void> {
    session = await opened(`worker-${count++}`);
    configure(target, "300ms");
    await until(async () => (await fixture.status()).sink?.target === target, "it is looked at");
    expect([await read(), await read()]).toEqual(["audit_unavailable", "audit_unavailable"]);
    await until(async () => problem.test((await sink()).problem ?? ""), "the problem is told");
    expect((await sink()).isDenying).toBe(true);
    expect((await fixture.ambit("daemon", "status")).out).toMatch(problem);
    await mend();
    await until(async () => !(await sink()).isDenying, "it has caught up");
    expect([await read(), await read(), await read(), await read()]).toEqual([
      ...["done", "done", "done"],
      "budget_exhausted",
    ]);
    await settled();
    await expectVerified(file);
  }

  const OTHERS = "notes of mine\n";
  test.each<readonly [string, (path: string) => void, RegExp]>([
    ["a pipe without a reader", (path) => void spawnSync("mkfifo", [path]), /not a regular file/],
    ["a folder", (path) => void mkdirSync(path), /not a regular file/],
    ["a link", (path) => void symlinkSync("/dev/null", path), /is a symbolic link/],
    ["a file with other content", (path) => writeFileSync(path, OTHERS, { mode: 0o600 }), /not a copy of a log/],
    ["a file without a line", (path) => writeFileSync(path, OTHERS.trim(), { mode: 0o600 }), /not a copy of a log/],
    ["a file writable by others", (path) => void spawnSync("install", ["-m", "666", "/dev/null", path]), /chmod go-w/],
  ])("%s: denied with a code, within the timeout, and the daemon lives", async (_what, make, problem) => {
    const file = here(`copy-${count}.jsonl`);
    make(file);
    await expectDenied(file, file, problem, async () => {
      // Foreign files are left untouched.
      if (problem.source.startsWith("not a copy")) expect(readFileSync(file, "utf8").trim()).toBe(OTHERS.trim());
      rmSync(file, { recursive: true });
    });
  });

  test.each([
    ["boasting", /was sent entries only/],
    ["nonsense", /not the number of an entry/],
    ["closing", /closed the connection|cannot be reached/],
    ["mute", /in time/],
  ] as const)("a collector that is %s is not trusted", async (manner, problem) => {
    const [socket, file] = [here(`collector-${count}.sock`), here(`copy-${count}.jsonl`)];
    const liar = await collectors.start(socket, file, manner);
    await expectDenied(`unix:${socket}`, file, problem, async () => {
      await collectors.end(liar);
      await collectors.start(socket, file);
    });
  });

  test("no collector listens", async () => {
    const [socket, file] = [here(`collector-${count}.sock`), here(`copy-${count}.jsonl`)];
    await expectDenied(`unix:${socket}`, file, /no collector listens/, async () => {
      await collectors.start(socket, file);
    });
  });
});

describe("the configuration while the daemon runs", () => {
  beforeEach(begin);
  afterEach(end);

  test("a sink configured later is used within a second, and gets everything logged before", async () => {
    expect(await set("a")).toBe("done");
    expect((await fixture.status()).sink).toBeNull();
    const file = here("copy.jsonl");
    configure(file);
    await until(async () => (await fixture.status()).sink?.target === file, "the copy is kept");
    expect(await set("b")).toBe("done");
    await settled();
    await expectVerified(file);
    expect((await fixture.log({ kind: "daemon", outcome: "sink_set" })).map(({ more }) => more["target"])).toEqual([
      file,
    ]);
  });

  test("an error in it never turns the copy off; removing the setting does, and the log says so", async () => {
    const file = here("copy.jsonl");
    configure(file);
    await until(async () => (await fixture.status()).sink?.target === file, "the copy is kept");
    await settled();
    fixture.write("config/ambit/config.yml", "audit: { sink: copy.jsonl, timeuot: 2s }\n");
    await until(async () => /is not valid/.test((await sink()).problem ?? ""), "the mistake is told");
    expect((await sink()).target).toBe(file);
    // With an error in it nothing is granted; log entries still go to the copy.
    expect(await set("a")).not.toBe("done");
    await settled();
    fixture.write("config/ambit/config.yml", "mode: enforce\n");
    await until(async () => (await fixture.status()).sink === null, "no copy is kept");
    expect(await set("b")).toBe("done");
    expect(await fixture.log({ kind: "daemon", outcome: "sink_removed" })).toHaveLength(1);
  });

  test("a daemon that starts with an error in it decides nothing, and continues when it is fixed", async () => {
    fixture.write("config/ambit/config.yml", "audit: 7\n");
    fixture.stopDaemon();
    await fixture.startDaemon();
    session = await opened();
    expect(await sink()).toMatchObject({ isDenying: true, problem: expect.stringMatching(/is not valid/) });
    expect(await set("a")).not.toBe("done");
    const shown = await fixture.ambit("doctor");
    expect(shown.out).toContain("`audit` is a map");
    const file = here("copy.jsonl");
    configure(file);
    await until(async () => (await set("b")) === "done", "calls go on");
    await settled();
    await expectVerified(file);
  });

  test("a project cannot configure one", async () => {
    fixture.write("project/.ambit/config.yml", `audit: { sink: ${JSON.stringify(here("theirs.jsonl"))} }\n`);
    expect((await fixture.ambit("doctor")).out).toContain("`audit` is a setting of the user, not of a project");
    expect((await fixture.status()).sink).toBeNull();
  });
});
