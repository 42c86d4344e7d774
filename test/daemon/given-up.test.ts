// A daemon that hangs: its askers give up in time, and what they gave up is not carried out when it wakes up.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silenceMillisecondsMax } from "../../src/daemon/rpc/limits.ts";
import { answered, ask, DaemonWorld, type Echo, ownerOf, until } from "./world.ts";

let world: DaemonWorld;
let state: string;
let echo: Echo;
let pid: number;

beforeAll(async () => {
  world = await DaemonWorld.make();
  state = world.state();
  echo = await world.started(state);
  pid = ownerOf(state) ?? 0;
});
afterAll(async () => {
  process.kill(pid, "SIGCONT");
  echo.close();
  await world.remove();
});

async function stopped(act: () => Promise<void>): Promise<void> {
  process.kill(pid, "SIGSTOP");
  try {
    await act();
  } finally {
    process.kill(pid, "SIGCONT");
  }
}

const notes = async (): Promise<unknown> => (await ask(echo, "notes"))["notes"];
const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

describe("while the daemon hangs", () => {
  test("what is asked and given up is not carried out afterwards", async () => {
    const own = answered(await world.connect(state));
    await ask(own, "echo", {});
    let stop = (): void => undefined;
    let answer: Promise<unknown> = Promise.resolve();
    await stopped(async () => {
      answer = own.ask("note", { note: "given up" }, { onStop: (ring) => (stop = ring) });
      await pause(700);
      stop();
      await pause(50);
    });
    expect(await answer).toMatchObject({ ok: false, code: "stopped" });
    expect(await notes()).toEqual([]);
    own.close();
  });

  test("what somebody asked who is gone is not carried out afterwards", async () => {
    const own = answered(await world.connect(state));
    await ask(own, "echo", {});
    await stopped(async () => {
      for (let at = 0; at < 20; at++) void own.ask("note", { note: `gone ${at}` });
      await pause(700);
      own.close();
      await pause(50);
    });
    await ask(echo, "echo", {});
    await pause(100);
    expect(await notes()).toEqual([]);
  });

  test("what is waited for is carried out when it wakes up", async () => {
    let answer: Promise<unknown> = Promise.resolve();
    await stopped(async () => {
      answer = echo.ask("note", { note: "waited for" });
      await pause(700);
    });
    expect(await answer).toMatchObject({ ok: true });
    expect(await notes()).toEqual(["waited for"]);
  });

  test(`an asker gives up within its bound of ${silenceMillisecondsMax / 1000} seconds and some, with a reason`, async () => {
    const own = answered(await world.connect(state));
    await ask(own, "echo", {});
    let answer: unknown = null;
    await stopped(async () => {
      void own.ask("note", { note: "hung" }).then((one) => {
        answer = one;
      });
      await until("it gave up", () => answer !== null);
    });
    expect(answer).toMatchObject({ ok: false, code: "no_answer" });
    expect(await ask(echo, "echo", { there: 1 })).toEqual({ there: 1 });
    await pause(100);
    expect(await notes()).toEqual([]);
  });
});

test("a question that takes long keeps its asker, as long as the daemon is there", async () => {
  const own = answered(await world.connect(state));
  let answer: unknown = null;
  let stop = (): void => undefined;
  void own.ask("wait", {}, { onStop: (ring) => (stop = ring) }).then((one) => {
    answer = one;
  });
  await pause(silenceMillisecondsMax + 6_000);
  expect(answer).toBeNull();
  stop();
  await until("it was stopped", () => answer !== null);
  expect(answer).toMatchObject({ ok: true });
  own.close();
}, 120_000);
