// A second copy of the log detects: a log that was rolled back, a slow sink, a truncated copy, a file that belongs to something
// else, and a configuration that is missing for a moment.
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { SinkStatus } from "../../src/core/ports/stores/sink.ts";
import { pause } from "../house/pause.ts";
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
afterEach(() => fixture?.remove());

async function opened(): Promise<Session> {
  return expectValue(await fixture.caller().open(fixture.project, "worker"));
}

function configure(sink: string, timeout = "2s"): void {
  fixture.write("config/ambit/config.yml", `audit: { sink: ${JSON.stringify(sink)}, timeout: ${timeout} }\n`);
}

/** A machine with its copy in a file, or none yet. */
async function begin(name: string | null): Promise<string> {
  fixture = await Fixture.make();
  fixture.agent("worker", ["memory.write"]);
  const file = here(name ?? "copy.jsonl");
  if (name !== null) configure(file);
  await fixture.begin();
  session = await opened();
  return file;
}

const here = (name: string): string => join(fixture.base, name);
const set = async (key: string): Promise<string> => (await session.do("memory_set", { key, value: key })).said;
const sink = async (): Promise<SinkStatus> => (await fixture.status()).sink as SinkStatus;
const settled = (): Promise<void> => until(async () => (await sink()).behind === 0, "the copy has everything");
const linesOf = (file: string): readonly string[] => readFileSync(file, "utf8").split("\n").slice(0, -1);
const kindsOf = (file: string): readonly string[] =>
  linesOf(file).map((text) => (JSON.parse(text) as { readonly kind: string }).kind);

test("a log that was rolled back and grew past its collector is not continued", async () => {
  fixture = await Fixture.make();
  const [socket, file] = [here("collector.sock"), here("copy.jsonl")];
  fixture.agent("worker", ["memory.write"]);
  configure(`unix:${socket}`, "500ms");
  await collectors.start(socket, file);
  await fixture.begin();
  session = await opened();
  expect(await set("a")).toBe("done");
  fixture.stopDaemon();
  const database = join(fixture.state, "state.db");
  copyFileSync(database, here("old.db"));
  await fixture.startDaemon();
  session = await opened();
  for (let call = 0; call < 5; call++) expect(await set(`b${call}`)).toBe("done");
  await settled();
  fixture.stopDaemon();
  const kept = linesOf(file);
  for (const end of ["-wal", "-shm"]) rmSync(`${database}${end}`, { force: true });
  copyFileSync(here("old.db"), database);
  // Also remove the head remembered beside the keys, which alone would detect it.
  rmSync(join(fixture.state, "keys", "head"));
  await fixture.startDaemon();
  // Sessions are logged without waiting: the log is soon longer than the copy again.
  for (let more = 0; more < 20; more++) session = await opened();
  expect((await fixture.log({})).length).toBeGreaterThan(kept.filter((line) => line.includes('"kind":"entry"')).length);
  await until(async () => /differs from the log/.test((await sink()).problem ?? ""), "the other entry is found");
  expect(await set("c")).toBe("audit_unavailable");
  expect(linesOf(file)).toEqual(kept);
});

test("a collector that omits the hash is refused, with a message what to answer", async () => {
  fixture = await Fixture.make();
  const [socket, file] = [here("collector.sock"), here("copy.jsonl")];
  fixture.agent("worker", ["memory.write"]);
  configure(`unix:${socket}`, "300ms");
  await collectors.start(socket, file, "bare");
  await fixture.begin();
  session = await opened();
  expect(await set("a")).toBe("audit_unavailable");
  await until(async () => /PLACE HASH/.test((await sink()).problem ?? ""), "it is told");
});

test("a collector slower than the timeout does not fill the log by itself", async () => {
  fixture = await Fixture.make();
  const [socket, file] = [here("collector.sock"), here("copy.jsonl")];
  fixture.agent("worker", ["memory.write"]);
  configure(`unix:${socket}`, "200ms");
  await collectors.start(socket, file, "slow");
  await fixture.begin();
  const told = async (): Promise<number> =>
    (await fixture.log({ kind: "daemon" })).filter(({ outcome }) => /^sink_(behind|caught_up)$/.test(outcome)).length;
  await until(async () => (await told()) >= 2, "it was behind and caught up");
  await pause(1500, "what the daemon has to say of the sink is written by then");
  const before = (await fixture.log({})).length;
  await pause(3000, "nothing more is written while nothing happens");
  expect((await fixture.log({})).length).toBe(before);
});

test("each line is written once: notes and rotations, however often a collector or the daemon restarts", async () => {
  fixture = await Fixture.make();
  const [socket, file] = [here("collector.sock"), here("copy.jsonl")];
  fixture.agent("worker", ["memory.write"]);
  await fixture.begin();
  expect((await fixture.ambit("audit", "rotate", "--yes")).status).toBe(0);
  configure(`unix:${socket}`);
  let collector = await collectors.start(socket, file);
  await until(async () => (await sink())?.behind === 0, "the copy has everything");
  for (let round = 0; round < 3; round++) {
    await collectors.end(collector);
    collector = await collectors.start(socket, file);
    session = await opened();
    await until(async () => (await set(`a${round}`)) === "done", "calls go on");
    fixture.stopDaemon();
    await fixture.startDaemon();
    await settled();
  }
  const lines = linesOf(file);
  expect(new Set(lines).size).toBe(lines.length);
  expect(kindsOf(file)).toContain("checkpoint");
  expect(kindsOf(file).filter((kind) => kind === "rotation")).toHaveLength(1);
  expect((await fixture.ambit("audit", "verify", "--sink", file)).status).toBe(0);
});

test("a file truncated to its first lines gets each rotation once", async () => {
  const file = await begin(null);
  expect((await fixture.ambit("audit", "rotate", "--yes")).status).toBe(0);
  configure(file);
  await until(async () => (await sink())?.behind === 0, "the copy has everything");
  fixture.stopDaemon();
  const [header = "", rotation = ""] = linesOf(file);
  expect(kindsOf(file).slice(0, 3)).toEqual(["header", "rotation", "entry"]);
  writeFileSync(file, `${header}\n${rotation}\n`);
  await fixture.startDaemon();
  await settled();
  expect(kindsOf(file).filter((kind) => kind === "rotation")).toHaveLength(1);
  expect((await fixture.ambit("audit", "verify", "--sink")).status).toBe(0);
});

test("a copy truncated at the end of a line is not verified as intact", async () => {
  const file = await begin("copy.jsonl");
  for (let call = 0; call < 5; call++) expect(await set(`a${call}`)).toBe("done");
  await settled();
  const verify = async (
    ...more: readonly string[]
  ): Promise<{ readonly status: number | null; readonly out: string }> =>
    fixture.ambit("audit", "verify", "--sink", ...more);
  expect((await verify()).status).toBe(0);
  const whole = linesOf(file);
  for (const count of [5, 1]) {
    // Before each check: the daemon repairs it with its next write, even a note.
    const cutOff = (): void => truncateSync(file, Buffer.byteLength(`${whole.slice(0, count).join("\n")}\n`));
    cutOff();
    const cut = await verify();
    expect([cut.status, cut.out]).toEqual([1, expect.stringMatching(/the copy ends here, but had entries up to \d+/)]);
    cutOff();
    const told = JSON.parse((await verify(file, "--json")).out) as object;
    expect(told).toMatchObject({ isIntact: false, copy: { isIntact: false } });
  }
  // Another file is not the one being written.
  writeFileSync(here("before.jsonl"), `${whole.slice(0, 5).join("\n")}\n`);
  expect((await verify(here("before.jsonl"))).status).toBe(0);
});

test("a note that does not follow the last entry is not accepted", async () => {
  const file = await begin("copy.jsonl");
  expect(await set("a")).toBe("done");
  await settled();
  appendFileSync(file, '{"kind":"checkpoint","place":9999,"text":"x"}\n');
  await until(async () => (await set("b")) === "audit_unavailable", "nothing is decided on it");
  await until(async () => /the checkpoint of entry 9999/.test((await sink()).problem ?? ""), "it is told");
});

test.each<readonly [string, () => Buffer]>([
  ["an unrelated file", () => Buffer.from('{"at":"2026-01-01","note":"a year of work"}')],
  ["a disk image", () => Buffer.concat([Buffer.alloc(3 * 1024 * 1024), Buffer.from("precious\n")])],
])("%s is refused, and left byte for byte as it was", async (_what, make) => {
  fixture = await Fixture.make();
  fixture.agent("worker", ["memory.write"]);
  const file = here("mine");
  writeFileSync(file, make(), { mode: 0o600 });
  configure(file, "300ms");
  await fixture.begin();
  session = await opened();
  expect(await set("a")).toBe("audit_unavailable");
  await until(async () => /not a copy of a log/.test((await sink()).problem ?? ""), "it is told");
  expect(readFileSync(file).equals(make())).toBe(true);
});

test("a dangling link as configuration turns nothing off, nor does replacing the file", async () => {
  const file = await begin("copy.jsonl");
  await settled();
  const config = join(fixture.config, "config.yml");
  const text = readFileSync(config, "utf8");
  const isKept = async (): Promise<void> => {
    for (let look = 0; look < 5; look++) {
      expect((await sink()).target).toBe(file);
      await pause(300, "the daemon reads its configuration meanwhile");
    }
  };
  rmSync(config);
  symlinkSync(here("not-mounted/config.yml"), config);
  await isKept();
  expect((await sink()).problem).toContain("is not valid");
  // The folder may be the link, too.
  rmSync(config);
  writeFileSync(config, text);
  await until(async () => (await sink()).problem === null, "it is understood again");
  renameSync(fixture.config, `${fixture.config}.away`);
  symlinkSync(here("not-mounted"), fixture.config);
  await isKept();
  rmSync(fixture.config);
  renameSync(`${fixture.config}.away`, fixture.config);
  for (let round = 0; round < 8; round++) {
    rmSync(config);
    await pause(100, "the daemon may read the configuration without the file");
    writeFileSync(config, text);
    await pause(150, "the daemon may read the configuration with the file");
  }
  await isKept();
  expect(await fixture.log({ kind: "daemon", outcome: "sink_removed" })).toEqual([]);
  // And at the start: it does not make the daemon forget the sink.
  fixture.stopDaemon();
  rmSync(config);
  symlinkSync(here("not-mounted/config.yml"), config);
  await fixture.startDaemon();
  expect(await sink()).toMatchObject({ target: file, isDenying: true });
  rmSync(config);
  mkdirSync(here("not-mounted"));
  await until(async () => (await fixture.status()).sink === null, "one that is gone for good is gone");
  expect(await fixture.log({ kind: "daemon", outcome: "sink_removed" })).toHaveLength(1);
});
