// Under load: whatever agents, their tools and their clients do, control requests are answered within the time limit, and so are
// another agent's.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isLong, sizeFor } from "../house/long.ts";
import { pause } from "../house/pause.ts";
import { until } from "../house/until.ts";
import type { Called, Caller, Session } from "../state/calling.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

/**
 * On two cores that also run the load itself, and the test. Measured by `npm run test:long` only: elsewhere other tests run at the
 * same time, and the test is that control is answered while the load runs.
 */
const controlMillisecondsMax = 1_000;
const loadMilliseconds = sizeFor(0, 6_000);
/** Rounds of requests to control and to another agent that must be answered during the load. */
const roundsMin = 3;

const FLOOD = `
import fs from "node:fs";
export default { name: "flood", description: "Floods.", capabilities: {}, input: { type: "object" },
  execute: () => {
    const body = Buffer.from(JSON.stringify({ kind: "use", call: 1, use: 1, asked: { verb: "fs.read", path: "x" } }));
    const head = Buffer.alloc(4);
    head.writeUInt32LE(body.length);
    const many = Buffer.concat(Array.from({ length: 2000 }, () => Buffer.concat([head, body])));
    for (;;) { try { fs.writeSync(1, many); } catch {} }
  } };
`;

/** Writes frames of 32 MiB: of many small values, or of one text, as a finished call would use its context. */
const LONG = `
import fs from "node:fs";
const frame = (text) => {
  const body = Buffer.from(text);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(body.length);
  return Buffer.concat([head, body]);
};
const write = (bytes) => {
  for (let at = 0; at < bytes.length; ) { try { at += fs.writeSync(1, bytes, at); } catch {} }
};
const use = (text) => '{"kind":"use","call":0,"use":1,"asked":{"verb":"fs.write","path":"x","text":"' + text + '"}}';
const tool = (name, execute) => ({ name, description: "Long.", capabilities: {}, input: { type: "object" }, execute });
export default [
  tool("long_values", () => { const bytes = frame('{"kind":"done","call":1,"outcome":[' + "{},".repeat(11_000_000) + "0]}"); for (;;) write(bytes); }),
  tool("long_text", () => { const bytes = frame(use("\\\\u0041".repeat(5_000_000))); for (;;) write(bytes); }),
  tool("long_result", () => "a".repeat(33_000_000)),
];
`;

let fixture: Fixture;
let quiet: Session;
let asking: Session;

beforeAll(async () => {
  fixture = await Fixture.make();
  const root = "sandbox: .\n";
  fixture.agent(
    "busy",
    [
      "fs.read",
      "proc.exec",
      "memory.read",
      "records.read",
      "tool.invoke{tools=[flood,long_values,long_text,long_result,fs_glob,fs_grep,records_search,shell]}",
    ],
    root,
  );
  fixture.agent("quiet", ["memory.read", "memory.write"]);
  fixture.agent("asking", ["memory.write{ask}"]);
  fixture.agent("stopped", []);
  fixture.agent("denied", ["memory.write"]);
  fixture.write("project/.ambit/tools/flood.mjs", FLOOD);
  fixture.write("project/.ambit/tools/long.mjs", LONG);
  for (let folder = 0; folder < sizeFor(8, 30); folder++) {
    mkdirSync(join(fixture.project, "many", `f${folder}`), { recursive: true });
    for (let file = 0; file < 1000; file++)
      writeFileSync(join(fixture.project, "many", `f${folder}`, `${file}.txt`), "a line\n");
  }
  for (let record = 0; record < 3_000; record++) {
    const words = Array.from({ length: 60 }, (_, at) => `word${(record * 31 + at * 17) % 5_000}`).join(" ");
    fixture.write(
      `project/.ambit/records/notes/n${record}.md`,
      `---\nclass: notes\ntitle: Note ${record}\n---\n${words}\n`,
    );
  }
  await fixture.begin();
  quiet = expectValue(await fixture.caller().open(fixture.project, "quiet"));
  asking = expectValue(await fixture.caller().open(fixture.project, "asking"));
});
afterAll(() => fixture?.remove());

interface Measured {
  /** The longest wait of any request, in milliseconds. */
  readonly control: number;
  readonly other: number;
  readonly looks: number;
}

/** Runs until `isOver`; adds the answers it got to `said`. */
type Load = (isOver: () => boolean, said: Set<string>) => Promise<void>;

let questions = 0;

/** Sends requests to control and another agent while the load runs, until the load itself has got the answer `wanted`. */
async function measured(load: Load, wanted: string): Promise<Measured> {
  let isOver = false;
  const said = new Set<string>();
  const running = load(() => isOver, said);
  const took = async (act: () => Promise<unknown>): Promise<number> => {
    const before = performance.now();
    await act();
    return performance.now() - before;
  };
  let [control, other, looks] = [0, 0, 0];
  const end = performance.now() + loadMilliseconds;
  while (looks < roundsMin || !said.has(wanted) || performance.now() < end) {
    control = Math.max(
      control,
      await took(async () => expectValue(await fixture.control("daemon.status", {}))),
      await took(async () => expectValue(await fixture.control("approvals.list", { states: ["pending"], count: 10 }))),
    );
    other = Math.max(other, await took(() => quiet.do("memory_set", { key: "a", value: "x" })));
    const { value } = await asking.do("memory_set", { key: `k${questions++}`, value: "x" });
    control = Math.max(
      control,
      await took(async () => expectValue(await fixture.approve(String(value["approval"])))),
      await took(async () =>
        expectValue(await fixture.control("agent.stop", { cwd: fixture.project, agent: "stopped" })),
      ),
    );
    looks++;
    await pause(50, "the measurements must not be a load of their own");
  }
  // The request that ends the load is answered as well.
  control = Math.max(control, await took(async () => expectValue(await fixture.control("freeze", {}))));
  isOver = true;
  expectValue(await fixture.control("thaw", { presence: null }));
  await running;
  return { control, other, looks };
}

async function again(isOver: () => boolean, said: Set<string>, act: () => Promise<Called>): Promise<void> {
  while (!isOver()) said.add((await act()).said);
}

async function bounded(load: Load, wanted: string): Promise<void> {
  const { control, other, looks } = await measured(load, wanted);
  expect(looks).toBeGreaterThanOrEqual(roundsMin);
  if (!isLong) return;
  expect(control).toBeLessThan(controlMillisecondsMax);
  expect(other).toBeLessThan(controlMillisecondsMax);
}

describe("control answers", () => {
  test("while eight clients call as fast as they can, with most calls denied", async () => {
    const load: Load = async (isOver, said) => {
      const callers: Caller[] = Array.from({ length: 8 }, () => fixture.caller());
      const sessions = await Promise.all(
        callers.map(async (one) => expectValue(await one.open(fixture.project, "quiet"))),
      );
      let number = 0;
      await Promise.all(
        sessions.flatMap((session) =>
          Array.from({ length: 64 }, () =>
            again(isOver, said, () => session.do("fs_read", { path: `no/${number++}` })),
          ),
        ),
      );
      for (const one of callers) await one.end();
    };
    await bounded(load, "capability_absent");
  });

  test("while hosted tools flood", async () => {
    const callers: Caller[] = Array.from({ length: 3 }, () => fixture.caller());
    const load: Load = async (isOver, said) => {
      said.add("flooding");
      const sessions = await Promise.all(
        callers.map(async (one) => expectValue(await one.open(fixture.project, "busy"))),
      );
      // None of them is answered before it is ended.
      for (const session of sessions)
        void session.do("flood", {}).then((called) => {
          if (!isOver()) said.delete("flooding");
          return said.add(called.said);
        });
      await until(isOver, "the load is over");
      for (const one of callers) await one.end();
    };
    await bounded(load, "flooding");
  });

  test.each([
    ["long_values", "execution_failed"],
    ["long_text", "sending"],
    ["long_result", "execution_failed"],
  ])("while hosted tools send messages of 32 MiB: %s", async (tool, wanted) => {
    const callers: Caller[] = Array.from({ length: 3 }, () => fixture.caller());
    const load: Load = async (isOver, said) => {
      said.add("sending");
      const sessions = await Promise.all(
        callers.map(async (one) => expectValue(await one.open(fixture.project, "busy"))),
      );
      for (const session of sessions) void again(isOver, said, () => session.do(tool, {}));
      await until(isOver, "the load is over");
      for (const one of callers) await one.end();
    };
    await bounded(load, wanted);
  });

  test("while clients send requests of a mebibyte that are slow to parse", async () => {
    const callers: Caller[] = Array.from({ length: 8 }, () => fixture.caller());
    const slow = Array.from({ length: 20_000 }, (_, at) => ({ [`k${at}`]: [{}, "\u0001"] }));
    const many = Array.from({ length: 200_000 }, () => ({}));
    const load: Load = async (isOver, said) => {
      const sessions = await Promise.all(
        callers.map(async (one) => expectValue(await one.open(fixture.project, "quiet"))),
      );
      await Promise.all(
        sessions.map((session, at) =>
          again(isOver, said, () => session.do("memory_get", { key: "a", junk: at % 2 === 0 ? slow : many })),
        ),
      );
      for (const one of callers) await one.end();
    };
    await bounded(load, "invalid_input");
  });

  test("while agents search for thousands of files", async () => {
    const callers: Caller[] = Array.from({ length: 3 }, () => fixture.caller());
    const load: Load = async (isOver, said) => {
      const sessions = await Promise.all(
        callers.map(async (one) => expectValue(await one.open(fixture.project, "busy"))),
      );
      await Promise.all(
        sessions.map((session) => again(isOver, said, () => session.do("fs_glob", { pattern: "**/*.txt" }))),
      );
      for (const one of callers) await one.end();
    };
    await bounded(load, "done");
  });

  test.each([
    ["search thousands of files", "fs_grep", { text: "line", glob: "**/*.txt" }],
    ["search 3,000 records", "records_search", { query: "word1 word2" }],
  ])("while agents %s", async (_, tool, input) => {
    const callers: Caller[] = Array.from({ length: 3 }, () => fixture.caller());
    const load: Load = async (isOver, said) => {
      const sessions = await Promise.all(
        callers.map(async (one) => expectValue(await one.open(fixture.project, "busy"))),
      );
      await Promise.all(sessions.map((session) => again(isOver, said, () => session.do(tool, input))));
      for (const one of callers) await one.end();
    };
    await bounded(load, "done");
  });

  test("while clients open and close sessions as fast as they can", async () => {
    const callers: Caller[] = Array.from({ length: 4 }, () => fixture.caller());
    const load: Load = async (isOver, said) => {
      const open = async (caller: Caller, connection: string): Promise<void> => {
        while (!isOver()) {
          said.add((await caller.open(fixture.project, "busy", { connection })).ok ? "opened" : "refused");
          await caller.hangUp(connection);
        }
      };
      await Promise.all(callers.flatMap((one) => Array.from({ length: 8 }, (__, at) => open(one, `c${at}`))));
      for (const one of callers) await one.end();
    };
    await bounded(load, "opened");
  });

  test("while agents run scripts of 60 commands", async () => {
    const callers: Caller[] = Array.from({ length: 2 }, () => fixture.caller());
    const script = Array.from({ length: 60 }, (_, at) => `echo ${at}`).join("\n");
    const load: Load = async (isOver, said) => {
      const sessions = await Promise.all(
        callers.map(async (one) => expectValue(await one.open(fixture.project, "busy"))),
      );
      await Promise.all(sessions.map((session) => again(isOver, said, () => session.do("shell", { script }))));
      for (const one of callers) await one.end();
    };
    await bounded(load, "done");
  });
});

test("different denials of one agent are limited in the log, and none of them is lost", async () => {
  const caller = fixture.caller();
  const session = expectValue(await caller.open(fixture.project, "denied"));
  const before = (await fixture.log({ agent: "denied", kind: "decision", outcome: "deny" })).length;
  const calls = Array.from({ length: 1_000 }, (_, at) => session.do("memory_get", { key: `no/${at}` }));
  for (const { said } of await Promise.all(calls)) expect(said).not.toBe("done");
  const written = (await fixture.log({ agent: "denied", kind: "decision", outcome: "deny" })).length - before;
  expect(written).toBeGreaterThan(100);
  expect(written).toBeLessThan(400);
});
