// The wire protocol of the daemon's sockets, and how violations are answered.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  connectionsPerDoorMax,
  helloMilliseconds,
  outputWindowBytes,
  protocolVersion,
} from "../../src/daemon/rpc/limits.ts";
import { isLong } from "../house/long.ts";
import { until } from "../house/until.ts";
import { variants } from "../native/program.ts";
import { ask, DaemonFixture, type Echo, expectValue, logOf, RawClient } from "./fixture.ts";

describe.each(variants.map(([variant]) => variant))("the sockets, served by the %s listener", (variant) => {
  let fixture: DaemonFixture;
  let state: string;
  let echo: Echo;

  beforeAll(async () => {
    fixture = await DaemonFixture.make(variant);
    state = fixture.state();
    echo = await fixture.started(state);
  });
  afterAll(async () => {
    echo.close();
    await fixture.remove();
  });

  test("answers a thousand concurrent requests, each with its own response", async () => {
    const numbers = Array.from({ length: 1_000 }, (_, number) => number);
    const waits = numbers.slice(0, 500).map(() => echo.ask("ignore", {}));
    const answers = await Promise.all(numbers.slice(500).map((number) => ask(echo, "echo", { number })));
    expect(answers.map(({ number }) => number)).toEqual(numbers.slice(500));
    for (const answer of await Promise.all(waits)) expect(answer.ok).toBe(true);
  });

  test("refuses more than 1,024 concurrent requests on one connection, and answers the others", async () => {
    const own = expectValue(await fixture.connect(state));
    const cancel = new AbortController();
    const begun: Promise<void>[] = [];
    const waiting = Array.from({ length: 1_024 }, () => {
      let onEvent = (): void => undefined;
      begun.push(new Promise((resolve) => (onEvent = resolve)));
      return own.ask("wait", {}, { signal: cancel.signal, onEvent: () => onEvent() });
    });
    // A request that is cancelled before it begins is refused: another test covers that.
    await Promise.all(begun);
    expect(await own.ask("echo", {})).toMatchObject({ ok: false, code: "not_available" });
    cancel.abort();
    for (const answer of await Promise.all(waiting)) expect(answer.ok).toBe(true);
    expect(await ask(own, "echo", { again: true })).toEqual({ again: true });
    own.close();
  });

  test("passes denials on, and reveals nothing of an exception of its own", async () => {
    expect(await echo.ask("refuse", {})).toEqual({
      ok: false,
      code: "approval_required",
      message: "a person has to say",
      fix: "ask one",
    });
    const mistake = await echo.ask("throw", {});
    expect(mistake).toMatchObject({ ok: false, code: "not_available" });
    expect(JSON.stringify(mistake)).not.toContain("secret");
    expect(await echo.ask("no.such", {})).toMatchObject({ ok: false, code: "invalid_input" });
    expect(await echo.ask("constructor", {})).toMatchObject({ ok: false, code: "invalid_input" });
  });

  test("sends events of a request, and events that belong to no request", async () => {
    const events: unknown[] = [];
    const cancel = new AbortController();
    const waiting = echo.ask("wait", {}, { onEvent: (event) => events.push(event), signal: cancel.signal });
    await until(() => events.length > 0, "the event came");
    cancel.abort();
    expect((await waiting).ok).toBe(true);
    expect(events).toEqual([{ waiting: true }]);
    const raw = await RawClient.greeted(state);
    raw.say({ id: 1, ask: "tell", value: {} });
    expect(await raw.message()).toEqual({ event: { news: 1 } });
    expect(await raw.message()).toEqual({ id: 1, ok: true, value: { isTold: true } });
    raw.socket.destroy();
  });

  test("carries byte streams of any length both ways", async () => {
    async function* input(): AsyncGenerator<Uint8Array> {
      for (let part = 0; part < 30; part++) yield new Uint8Array(100_001).fill(part);
    }
    const bytes = 30 * 100_001;
    const sum = (29 * 15 * 100_001) % 65_536;
    expect(await ask(echo, "count", {}, { input: input() })).toEqual({ bytes, sum });
    expect(await ask(echo, "count", {})).toEqual({ bytes: 0, sum: 0 });
    let arrived = 0;
    const onBytes = (channel: number, part: Uint8Array): void => {
      arrived += channel * part.length;
    };
    await ask(echo, "send", { bytes: 5_000_000 }, { onBytes });
    expect(arrived).toBe(5_000_000);
  });

  test("is not blocked by unread input, nor by input that never comes", async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) yield new Uint8Array(65_536);
    }
    async function* silent(): AsyncGenerator<Uint8Array> {
      await new Promise(() => undefined);
    }
    const answers = [echo.ask("ignore", {}, { input: endless() }), echo.ask("ignore", {}, { input: silent() })];
    expect(await ask(echo, "echo", { beside: 1 })).toEqual({ beside: 1 });
    for (const answer of await Promise.all(answers)) expect(answer.ok).toBe(true);
    const cancel = new AbortController();
    const waiting = echo.ask("wait", {}, { input: endless(), signal: cancel.signal });
    await ask(echo, "echo");
    cancel.abort();
    expect((await waiting).ok).toBe(true);
  });

  test("cancels a request whose signal was aborted before it was sent", async () => {
    const answer = await echo.ask("wait", {}, { signal: AbortSignal.abort() });
    expect(answer.ok || answer.code === "stopped").toBe(true);
  });

  test("cancels a request when its client disconnects", async () => {
    const before = Number((await ask(echo, "stopped"))["stopped"]);
    const strangers = await Promise.all(Array.from({ length: 20 }, () => RawClient.greeted(state)));
    for (const raw of strangers) {
      raw.say({ id: 7, ask: "wait", value: {} });
      await raw.message();
      raw.socket.destroy();
    }
    await until(async () => Number((await ask(echo, "stopped"))["stopped"]) === before + 20, "all have rung");
  });

  test("limits the size of a response by its socket", async () => {
    const control = expectValue(await fixture.connect(state, "control"));
    const large = await ask(control, "large", { bytes: 7_000_000 });
    expect(String(large["text"]).length).toBe(7_000_000);
    expect(await control.ask("large", { bytes: 9_000_000 })).toMatchObject({ ok: false, code: "too_large" });
    expect(await echo.ask("large", { bytes: 1_100_000 })).toMatchObject({ ok: false, code: "too_large" });
    expect(await echo.ask("echo", { text: "x".repeat(1_100_000) })).toMatchObject({ ok: false, code: "too_large" });
    expect(await ask(control, "echo", { still: "here" })).toEqual({ still: "here" });
    control.close();
  });

  const header = (length: number, kind: number): Buffer => {
    const bytes = Buffer.alloc(5);
    bytes.writeUInt32BE(length, 0);
    bytes[4] = kind;
    return bytes;
  };
  const frame = (text: string | Buffer): Buffer =>
    Buffer.concat([header(Buffer.byteLength(text), 0), Buffer.from(text)]);

  test.each<readonly [string, Buffer, string]>([
    ["a frame of 100 MB", header(100_000_000, 0), "too_large"],
    ["a frame one byte too long", header(1_048_577, 0), "too_large"],
    ["the largest possible length", header(0xffff_ffff, 1), "too_large"],
    ["a byte frame one byte too long", header(65_542, 1), "too_large"],
    ["an unknown frame kind", header(4, 3), "invalid_input"],
    ["bytes without a request number", Buffer.concat([header(4, 1), Buffer.alloc(4)]), "invalid_input"],
    ["an end frame with a payload", Buffer.concat([header(6, 2), Buffer.alloc(6)]), "invalid_input"],
    ["an HTTP request", Buffer.from("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "invalid_input"],
    ["no JSON", frame("hello"), "invalid_input"],
    ["an empty frame", frame(""), "invalid_input"],
    ["a list", frame("[]"), "invalid_input"],
    ["no UTF-8", frame(Buffer.from([0x22, 0xff, 0x22])), "invalid_input"],
    ["a key twice", frame('{"id":1,"id":2,"ask":"echo","value":{}}'), "invalid_input"],
    ["an inexact number", frame('{"id":9007199254740993,"ask":"echo","value":{}}'), "invalid_input"],
    [
      "JSON nested too deep",
      frame(`{"id":1,"ask":"echo","value":${"[".repeat(1_000)}${"]".repeat(1_000)}}`),
      "invalid_input",
    ],
    ["a request before hello", frame('{"id":1,"ask":"echo","value":{}}'), "invalid_input"],
    ["a notification before hello", frame('{"tell":"echo","value":{}}'), "invalid_input"],
    ["request number zero", frame('{"id":0,"ask":"echo","value":{}}'), "invalid_input"],
    ["bytes before hello", Buffer.concat([header(6, 1), Buffer.alloc(6)]), "invalid_input"],
  ])("refuses %s, and closes", async (_, bytes, code) => {
    const raw = await RawClient.come(state);
    expect(await raw.message()).toMatchObject({ hello: { protocol: protocolVersion } });
    raw.socket.write(bytes);
    expect(await raw.message()).toMatchObject({ ok: false, code });
    await raw.closed;
    expect(await ask(echo, "echo", { alive: 1 })).toEqual({ alive: 1 });
  });

  test.each<readonly [string, object]>([
    ["a value that is not an object", { id: 1, ask: "echo", value: 1 }],
    ["no name", { id: 1, value: {} }],
    ["something more", { id: 1, ask: "echo", value: {}, more: 1 }],
    ["an input flag that is false", { id: 1, ask: "echo", value: {}, input: false }],
    ["both a request and a notification", { id: 1, ask: "echo", tell: "echo", value: {} }],
    ["an invalid cancel", { id: 1, stop: 1 }],
  ])("answers a request with %s with an error, and keeps the connection", async (_, question) => {
    const raw = await RawClient.greeted(state);
    raw.say(question);
    expect(await raw.message()).toMatchObject({ id: 1, ok: false, code: "invalid_input" });
    raw.say({ id: 1, ask: "echo", value: { a: 1 } });
    expect(await raw.message()).toEqual({ id: 1, ok: true, value: { a: 1 } });
    raw.socket.destroy();
  });

  test("closes on a repeated request number, a second hello, and bytes beyond the window", async () => {
    const twice = await RawClient.greeted(state);
    twice.say({ id: 1, ask: "wait", value: {} });
    twice.say({ id: 1, ask: "wait", value: {} });
    await twice.closed;
    expect(twice.messages.at(-1)).toMatchObject({ ok: false, code: "invalid_input" });
    const again = await RawClient.greeted(state);
    again.say({ hello: { protocol: protocolVersion } });
    await again.closed;
    expect(again.messages.at(-1)).toMatchObject({ ok: false, code: "invalid_input" });
    const part = Buffer.concat([header(65_541, 1), Buffer.from([0, 0, 0, 1, 0]), Buffer.alloc(65_536)]);
    const pushing = await RawClient.greeted(state);
    pushing.say({ id: 1, ask: "wait", value: {}, input: true });
    for (let count = 0; count < 4; count++) pushing.socket.write(part);
    pushing.say({ id: 2, ask: "echo", value: {} });
    expect([await pushing.message(), await pushing.message()]).toMatchObject([{ id: 1 }, { id: 2, ok: true }]);
    pushing.socket.write(part);
    await pushing.closed;
    expect(pushing.messages.at(-1)).toMatchObject({ ok: false, code: "invalid_input" });
    const unannounced = await RawClient.greeted(state);
    unannounced.say({ id: 1, ask: "wait", value: {} });
    unannounced.socket.write(part);
    await unannounced.closed;
    expect(unannounced.messages.at(-1)).toMatchObject({ ok: false, code: "invalid_input" });
  });

  test.each([
    [protocolVersion - 1, "this program is older"],
    [protocolVersion + 1, "the daemon is older"],
  ])("tells a client of protocol %i both versions and what to do, and closes", async (protocol, older) => {
    const raw = await RawClient.come(state);
    await raw.message();
    raw.say({ hello: { protocol, version: "9.0.0", more: true } });
    const refused = await raw.message();
    expect(refused).toMatchObject({ ok: false, code: "wrong_protocol" });
    expect(String(refused?.["message"])).toContain(`uses protocol ${protocolVersion} `);
    expect(String(refused?.["message"])).toContain(`protocol ${protocol}: ${older}`);
    expect(String(refused?.["fix"])).toContain("ambit daemon stop");
    await raw.closed;
  });

  test.each([
    ["an invalid character", '{"id":7,"ask":"echo","value":{"text":"a\\u0000b"}}'],
    ["an unpaired surrogate", '{"id":7,"ask":"echo","value":{"text":"\\ud800"}}'],
    ["a key twice", '{"id":7,"ask":"echo","value":{"a":1,"a":2}}'],
    ["JSON nested too deep", `{"id":7,"ask":"echo","value":{"a":${"[".repeat(1_000)}${"]".repeat(1_000)}}}`],
    ["truncated JSON", '{"id":7,"ask":"echo","value":{'],
  ])("answers a request with %s in it with an error, and the connection goes on", async (_, text) => {
    const raw = await RawClient.greeted(state);
    raw.say({ id: 3, ask: "wait", value: {} });
    expect(await raw.message()).toEqual({ id: 3, event: { waiting: true } });
    raw.socket.write(frame(text));
    expect(await raw.message()).toMatchObject({ id: 7, ok: false, code: "invalid_input" });
    raw.say({ id: 8, ask: "echo", value: { a: 1 } });
    expect(await raw.message()).toEqual({ id: 8, ok: true, value: { a: 1 } });
    raw.socket.destroy();
  });

  test("a notification is handled before the next request, and is never answered", async () => {
    const wanted = Array.from({ length: 700 }, (_, at) => `${at} ${"ä".repeat(at % 3)}`);
    for (const note of wanted) expect(echo.tell("note", { note })).toBe(true);
    expect(await ask(echo, "notes")).toEqual({ notes: wanted });
    expect(echo.tell("note", { note: "x".repeat(4_096) })).toBe(false);
    const raw = await RawClient.greeted(state);
    for (const tell of ["echo", "refuse", "throw", "no.such", "large", "send", "flood", "wait", "count"])
      raw.say({ tell, value: { bytes: 200_000, events: 10 } });
    raw.say({ id: 1, ask: "echo", value: { after: true } });
    expect(await raw.message()).toEqual({ id: 1, ok: true, value: { after: true } });
    const before = Number((await ask(echo, "stopped"))["stopped"]);
    raw.socket.destroy();
    await until(async () => Number((await ask(echo, "stopped"))["stopped"]) === before + 1, "it has rung");
    expect(raw.messages).toEqual([]);
  });

  test("with thousands of concurrent requests and notifications on one connection no notification is lost", async () => {
    const own = expectValue(await fixture.connect(state));
    const told = async (note: number): Promise<boolean> => {
      const answer = await own.ask("echo", { note });
      return answer.ok && own.tell("note", { note });
    };
    for (let round = 0; round < 3; round++) {
      const isTold = await Promise.all(Array.from({ length: 2_000 }, (_, note) => told(note)));
      const count = isTold.filter((is) => is).length;
      expect(count).toBeGreaterThanOrEqual(1_024);
      let heard = 0;
      await until(async () => {
        const answer = await own.ask("notes", {});
        if (answer.ok) heard += (answer.value["notes"] as readonly string[]).length;
        return heard >= count;
      }, "all is heard");
      expect(heard).toBe(count);
    }
    own.close();
    expect(own.tell("note", { note: 1 })).toBe(false);
  });

  test("counts unfinished notifications as requests, and closes past 8,192 of them", async () => {
    const flooding = await RawClient.greeted(state);
    const wait = frame('{"tell":"wait","value":{}}');
    flooding.socket.write(Buffer.concat(Array.from({ length: 1_024 }, () => wait)));
    flooding.say({ id: 1, ask: "echo", value: {} });
    expect(await flooding.message()).toMatchObject({ id: 1, ok: false, code: "not_available" });
    flooding.socket.write(Buffer.concat(Array.from({ length: 8_192 - 1_024 }, () => wait)));
    flooding.say({ id: 2, ask: "echo", value: {} });
    expect(await flooding.message()).toMatchObject({ id: 2, ok: false });
    flooding.socket.write(wait);
    expect(await flooding.message()).toMatchObject({ ok: false, code: "not_available" });
    await flooding.closed;
    expect(await ask(echo, "echo", { alive: 1 })).toEqual({ alive: 1 });
  });

  test("logs failed notifications, at a decreasing rate", async () => {
    const lines = (): readonly string[] =>
      logOf(state)
        .split("\n")
        .filter((line) => line.includes("no.such\\n"));
    const raw = await RawClient.greeted(state);
    const nonsense = frame(JSON.stringify({ tell: "no.such\n".repeat(100), value: {} }));
    raw.socket.write(Buffer.concat(Array.from({ length: 1_000 }, () => nonsense)));
    raw.say({ id: 1, ask: "echo", value: {} });
    expect(await raw.message()).toMatchObject({ id: 1, ok: true });
    expect(lines()).toHaveLength(10);
    for (const line of lines()) expect(line.length).toBeLessThan(400);
    raw.socket.destroy();
  });

  test.each([
    { tell: 1, value: {} },
    { tell: "echo" },
    { tell: "echo", value: [] },
    { tell: "echo", value: {}, more: 1 },
    { tell: "echo", value: { text: "x".repeat(4_096) } },
  ])("closes on an invalid notification: %#", async (told) => {
    const raw = await RawClient.greeted(state);
    raw.say(told as object);
    expect(await raw.message()).toMatchObject({ ok: false, code: "invalid_input" });
    await raw.closed;
  });

  test("answers requests in order, whatever their length and encoding", async () => {
    const texts = ["a", "ä", "€".repeat(70_000), "b".repeat(200_000), "😀", '"\\\n\u001b', "\ufffd"];
    const order: number[] = [];
    const asked = texts
      .flatMap((text) => [text, "plain"])
      .map(async (text, at) => {
        const answer = await echo.ask("echo", { text });
        order.push(at);
        return answer.ok ? answer.value["text"] === text : answer.code;
      });
    expect(await Promise.all(asked)).toEqual(asked.map(() => true));
    expect(order).toEqual(asked.map((_, at) => at));
  });

  test("reads requests that arrive byte by byte, and many in one chunk", async () => {
    const raw = await RawClient.greeted(state);
    for (const byte of frame('{"id":1,"ask":"echo","value":{"a":"ä"}}')) raw.socket.write(Buffer.from([byte]));
    expect(await raw.message()).toEqual({ id: 1, ok: true, value: { a: "ä" } });
    const many = Array.from({ length: 500 }, (_, at) => frame(`{"id":${at + 1},"ask":"echo","value":{}}`));
    raw.socket.write(Buffer.concat(many));
    for (let at = 0; at < 500; at++) expect(await raw.message()).toEqual({ id: at + 1, ok: true, value: {} });
    raw.socket.destroy();
  });

  test("disconnects a client that does not read events", async () => {
    const slow = await RawClient.greeted(state);
    slow.socket.pause();
    slow.say({ id: 1, ask: "flood", value: { events: 100_000 } });
    // Only what the kernel has buffered arrives; the response never does.
    await until(async () => {
      slow.socket.resume();
      return slow.isClosed;
    }, "it was cut");
    expect(slow.messages.some((message) => message["ok"] !== undefined)).toBe(false);
    expect(slow.bytes).toBeLessThan(40_000_000);
  });

  test("sends no more bytes than the client acknowledges, and all of them in the end", async () => {
    const own = expectValue(await fixture.connect(state));
    let arrived = 0;
    let take = (): void => undefined;
    const ready = new Promise<void>((give) => {
      take = give;
    });
    const onBytes = (_channel: number, part: Uint8Array): Promise<void> => {
      arrived += part.length;
      return ready;
    };
    const sending = own.ask("send", { bytes: 20_000_000 }, { onBytes });
    await until(() => arrived >= outputWindowBytes, "the window is full");
    // Other requests on the same connection are still answered.
    expect(await ask(own, "echo", { there: true })).toEqual({ there: true });
    expect(arrived).toBeLessThan(2 * outputWindowBytes);
    take();
    expect(await sending).toEqual({ ok: true, value: {} });
    expect(arrived).toBe(20_000_000);
    own.close();
  });

  test("a client that acknowledges more bytes than it was sent is disconnected", async () => {
    const raw = await RawClient.greeted(state);
    raw.say({ id: 1, ask: "wait", value: {} });
    expect(await raw.message()).toEqual({ id: 1, event: { waiting: true } });
    raw.say({ id: 1, took: 1 });
    expect(await raw.message()).toMatchObject({ ok: false, code: "invalid_input" });
    await raw.closed;
  });

  test("answers a ping at once, also while a request is pending", async () => {
    const raw = await RawClient.greeted(state);
    raw.say({ id: 1, ask: "wait", value: {} });
    expect(await raw.message()).toEqual({ id: 1, event: { waiting: true } });
    raw.say({ ping: true });
    expect(await raw.message()).toEqual({ pong: true });
    raw.socket.destroy();
  });

  // Tests of the daemon, not of the native listener, and slow: one variant is enough.
  if (variant === "program") {
    test("of very many silent connections those past the limit are refused at once, and existing clients are served", async () => {
      // Each takes one descriptor here and one in the daemon.
      const descriptors = Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? 0);
      const wave = Math.min(1_250, descriptors - 500);
      let looked = 0;
      // One wave that is quick enough, or ten thousand connections.
      for (let come = 0; come < 10_000 && (isLong || looked === 0); come += wave) {
        const began = performance.now();
        const strangers = await Promise.all(Array.from({ length: wave }, () => RawClient.come(state)));
        const firsts = await Promise.all(strangers.map((raw) => raw.message()));
        const refused = firsts.filter((message) => message?.["code"] === "not_available").length;
        // If a wave takes longer, its first connections are closed meanwhile: they did not say hello in time.
        if (performance.now() - began < helloMilliseconds) {
          looked++;
          expect(refused).toBeGreaterThanOrEqual(wave - connectionsPerDoorMax);
        }
        expect(await ask(echo, "echo", { come })).toEqual({ come });
        for (const { socket } of strangers) socket.destroy();
        await Promise.all(strangers.map(({ closed }) => closed));
        await until(
          async () =>
            (
              await RawClient.come(state).then(async (one) => {
                const first = await one.message();
                one.socket.destroy();
                return first;
              })
            )?.["hello"] !== undefined,
          "they are gone",
        );
      }
      expect(looked).toBeGreaterThan(0);
    });

    test("closes a connection that sends no hello in time, with the reason", async () => {
      const strangers = await Promise.all(Array.from({ length: 10 }, () => RawClient.come(state)));
      for (const raw of strangers) {
        await raw.closed;
        expect(raw.messages.at(-1)).toMatchObject({ ok: false, code: "not_available" });
      }
      expect(await ask(echo, "echo", { alive: 1 })).toEqual({ alive: 1 });
    });
  }
});
