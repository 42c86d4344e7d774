// A daemon that hangs: its clients give up in time, and the requests they gave up are not executed when it continues.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { helloMilliseconds, lateMilliseconds, protocolVersion } from "../../src/daemon/rpc/limits.ts";
import { pause, pauseThread } from "../house/pause.ts";
import { until } from "../house/until.ts";
import { ask, DaemonFixture, type Echo, expectValue, ownerOf, RawClient } from "./fixture.ts";

let fixture: DaemonFixture;
let state: string;
let echo: Echo;
let pid: number;

beforeAll(async () => {
  fixture = await DaemonFixture.make();
  state = fixture.state();
  echo = await fixture.started(state);
  pid = ownerOf(state) ?? 0;
});
afterAll(async () => {
  process.kill(pid, "SIGCONT");
  echo.close();
  await fixture.remove();
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
/** Shorter than the real limits, so that the tests do not wait half a minute. */
const SILENCE = { helloMilliseconds: 2_000, pingMilliseconds: 500, givenUpMilliseconds: 4_000 };
/** Longer than the time a request may take to be read before the daemon checks for its client once more. */
const stoppedMilliseconds = lateMilliseconds + 200;

describe("while the daemon hangs", () => {
  test("a cancelled request is not executed afterwards", async () => {
    const own = expectValue(await fixture.connect(state));
    await ask(own, "echo", {});
    const cancel = new AbortController();
    let answer: Promise<unknown> = Promise.resolve();
    await stopped(async () => {
      answer = own.ask("note", { note: "given up" }, { signal: cancel.signal });
      await pause(stoppedMilliseconds, "the daemon hangs for this long");
      cancel.abort();
      await pause(50, "the bytes are in its socket before it continues");
    });
    expect(await answer).toMatchObject({ ok: false, code: "stopped" });
    expect(await notes()).toEqual([]);
    own.close();
  });

  test("requests of a closed connection are not executed afterwards", async () => {
    const own = expectValue(await fixture.connect(state));
    await ask(own, "echo", {});
    await stopped(async () => {
      for (let at = 0; at < 20; at++) void own.ask("note", { note: `gone ${at}` });
      await pause(stoppedMilliseconds, "the daemon hangs for this long");
      own.close();
      await pause(50, "the bytes are in its socket before it continues");
    });
    await ask(echo, "echo", {});
    await pause(100, "a request that is executed late would be noted by then");
    expect(await notes()).toEqual([]);
  });

  test("a pending request is executed when the daemon continues", async () => {
    let answer: Promise<unknown> = Promise.resolve();
    await stopped(async () => {
      answer = echo.ask("note", { note: "waited for" });
      await pause(stoppedMilliseconds, "the daemon hangs for this long");
    });
    expect(await answer).toMatchObject({ ok: true });
    expect(await notes()).toEqual(["waited for"]);
  });

  test("a client gives up on a daemon that sends nothing, with a reason", async () => {
    const own = expectValue(await fixture.connect(state, "call", SILENCE));
    await ask(own, "echo", {});
    let answer: unknown = null;
    await stopped(async () => {
      void own.ask("note", { note: "hung" }).then((one) => {
        answer = one;
      });
      await until(() => answer !== null, "it gave up");
    });
    expect(answer).toMatchObject({
      ok: false,
      code: "no_answer",
      message: "the daemon has not responded for 4 seconds: the request was cancelled",
    });
    expect(await ask(echo, "echo", { there: 1 })).toEqual({ there: 1 });
    await pause(100, "a request that is executed late would be noted by then");
    expect(await notes()).toEqual([]);
  });

  test("a client whose hello arrived in time is served, although the daemon reads it late", async () => {
    const raw = await RawClient.come(state);
    expect(await raw.message()).toMatchObject({ hello: {} });
    await stopped(async () => {
      raw.say({ hello: { protocol: protocolVersion, version: "raw" } });
      raw.say({ id: 1, ask: "echo", value: { there: 3 } });
      await pause(helloMilliseconds + 500, "the daemon hangs past the time limit of a hello");
    });
    expect(await raw.message()).toMatchObject({ id: 1, ok: true, value: { there: 3 } });
    raw.socket.destroy();
  });

  test("a client that slept as well, as on a machine that is suspended, goes on waiting", async () => {
    const own = expectValue(await fixture.connect(state, "call", SILENCE));
    await ask(own, "echo", {});
    const before = ((await notes()) as readonly unknown[]).length;
    let answer: Promise<unknown> = Promise.resolve();
    await stopped(async () => {
      answer = own.ask("note", { note: "slept" });
      await pause(2 * SILENCE.pingMilliseconds, "it pings");
      pauseThread(2 * SILENCE.givenUpMilliseconds, "this process sleeps");
      await pause(SILENCE.pingMilliseconds, "it is awake before the daemon is");
    });
    expect(await answer).toMatchObject({ ok: true });
    expect((await notes()) as readonly unknown[]).toHaveLength(before + 1);
    own.close();
  });

  test("a new client gives up, with a reason, and the daemon serves the next one", async () => {
    let refused: unknown = null;
    await stopped(async () => {
      refused = await fixture.connect(state, "call", SILENCE);
    });
    expect(refused).toMatchObject({ ok: false, code: "no_answer", fix: "ambit daemon stop" });
    const own = expectValue(await fixture.connect(state));
    expect(await ask(own, "echo", { there: 2 })).toEqual({ there: 2 });
    own.close();
  });
});

test("a request that takes longer than the silence limit keeps its client, as long as the daemon answers pings", async () => {
  const own = expectValue(await fixture.connect(state, "call", SILENCE));
  let answer: unknown = null;
  const cancel = new AbortController();
  void own.ask("wait", {}, { signal: cancel.signal }).then((one) => {
    answer = one;
  });
  await pause(SILENCE.givenUpMilliseconds + 2 * SILENCE.pingMilliseconds, "longer than the silence limit");
  expect(answer).toBeNull();
  cancel.abort();
  await until(() => answer !== null, "it was stopped");
  expect(answer).toMatchObject({ ok: true });
  own.close();
});
