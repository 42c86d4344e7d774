// Long uses of contexts: reading, accounting, and release.
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../core/base/json.ts";
import { InputQueue } from "../rpc/input-queue.ts";
import type { Exchange } from "../rpc/serving.ts";
import type { Session } from "../session.ts";
import { answerUse } from "./context-answer.ts";
import type { CallContext } from "./contexts.ts";
import { LongUses } from "./long-uses.ts";

const mebibyte = 1_048_576;
const sessionOf = (agent: string): Session => ({ facts: { name: { workspace: null, agent } } }) as unknown as Session;

class Asker {
  readonly input: InputQueue = new InputQueue(() => undefined);
  readonly #cancel = new AbortController();
  readonly #room: Promise<void>;

  /** `room`: resolves when the sent data is read. */
  constructor(room: Promise<void> = Promise.resolve()) {
    this.#room = room;
  }

  get exchange(): Exchange {
    return {
      value: { hasInput: true, use: {} },
      input: this.input,
      signal: this.#cancel.signal,
      send: () => this.#room,
    } as unknown as Exchange;
  }

  hangUp(): void {
    this.#cancel.abort();
    this.input.drop();
  }
}

function served(answer: Json = { ok: true }): { readonly context: CallContext; readonly heard: JsonObject[] } {
  const heard: JsonObject[] = [];
  const serve = async (use: JsonObject): Promise<Json> => {
    heard.push(use);
    return answer;
  };
  return {
    context: {
      context: null,
      reading: null,
      serve,
      denials: () => [],
      enforcement: () => [],
      ended: () => null,
      ran: () => undefined,
      refuse: () => {
        throw new Error("nothing is refused here");
      },
      end: () => undefined,
    },
    heard,
  };
}

/** Until all pushed data is taken, or reading stops. */
async function taken({ input }: Asker): Promise<void> {
  for (let turn = 0; turn < 10_000 && input.bytes > 0; turn++) await Promise.resolve();
}

describe("a long use", () => {
  test("of no context is answered, and nothing of it is read", async () => {
    const asker = new Asker();
    asker.input.push(new Uint8Array(mebibyte));
    const uses = new LongUses();
    const answer = await answerUse(asker.exchange, null, uses.begin(sessionOf("a")));
    expect(answer).toMatchObject({ ok: true, value: { answer: { ok: false, code: "revoked" } } });
    expect([asker.input.bytes, uses.bytes]).toEqual([mebibyte, 0]);
  });

  test("arrives in chunks of any size", async () => {
    const [asker, uses, { context, heard }] = [new Asker(), new LongUses(), served()];
    const answer = answerUse(asker.exchange, context, uses.begin(sessionOf("a")));
    const use = { text: "é".repeat(400_000), more: [1, null] };
    const bytes = Buffer.from(JSON.stringify(use));
    for (let at = 0; at < bytes.length; at += 77_777) asker.input.push(bytes.subarray(at, at + 77_777));
    asker.input.end();
    expect(await answer).toEqual({ ok: true, value: { answer: { ok: true } } });
    expect(heard).toEqual([use]);
    expect(uses.bytes).toBe(0);
  });

  test.each(["[]", "7", "{", ""])("of %j is invalid", async (text) => {
    const [asker, { context, heard }] = [new Asker(), served()];
    asker.input.push(Buffer.from(text));
    asker.input.end();
    const answer = await answerUse(asker.exchange, context, new LongUses().begin(sessionOf("a")));
    expect(answer).toMatchObject({ ok: false, code: "invalid_input" });
    expect(heard).toEqual([]);
  });

  test("of too many values is refused without parsing", async () => {
    const [asker, { context, heard }] = [new Asker(), served()];
    asker.input.push(Buffer.from(`{"many":[${"{},".repeat(300_000)}0]}`));
    asker.input.end();
    const answer = await answerUse(asker.exchange, context, new LongUses().begin(sessionOf("a")));
    expect(answer).toMatchObject({ ok: false, code: "invalid_input" });
    expect(heard).toEqual([]);
  });

  test("is refused past the limit of its session, and others go on", async () => {
    const uses = new LongUses();
    const askers: Asker[] = [];
    const begun = (
      session: Session,
      mebibytes: number,
    ): { readonly answer: Promise<unknown>; readonly asker: Asker } => {
      const asker = new Asker();
      askers.push(asker);
      for (let at = 0; at < mebibytes; at++) asker.input.push(new Uint8Array(mebibyte));
      return { asker, answer: answerUse(asker.exchange, served().context, uses.begin(session)) };
    };
    const session = sessionOf("a");
    const first = begun(session, 50);
    await taken(first.asker);
    const second = begun(session, 30);
    await taken(second.asker);
    expect(uses.bytes).toBe(80 * mebibyte);
    const refused = { ok: true, value: { answer: { ok: false, code: "not_available" } } };
    expect(await begun(session, 1).answer).toMatchObject(refused);
    const other = begun(sessionOf("a"), 1);
    await taken(other.asker);
    expect(uses.bytes).toBe(81 * mebibyte);
    for (const asker of askers) asker.hangUp();
    await Promise.all([first.answer, second.answer, other.answer]);
    expect(uses.bytes).toBe(0);
  });

  test("of a disconnected client is not carried out, though it could be read", async () => {
    const [asker, uses, { context, heard }] = [new Asker(), new LongUses(), served()];
    const answer = answerUse(asker.exchange, context, uses.begin(sessionOf("a")));
    asker.input.push(Buffer.from("{}"));
    await taken(asker);
    expect(uses.bytes).toBeGreaterThan(0);
    asker.hangUp();
    await answer;
    expect([heard, uses.bytes]).toEqual([[], 0]);
  });
});

describe("an unfinished transfer", () => {
  const late = { ok: true, value: { answer: { ok: false, code: "not_available" } } };
  const patience = { inputMillisecondsMax: 20, answerMillisecondsMax: 20 };

  test("as a use is refused, not carried out, and releases its slot", async () => {
    const [asker, uses, { context, heard }] = [new Asker(), new LongUses(), served()];
    asker.input.push(Buffer.from("{}"));
    const answer = answerUse(asker.exchange, context, uses.begin(sessionOf("a")), patience);
    await taken(asker);
    expect(uses.bytes).toBeGreaterThan(0);
    expect(await answer).toMatchObject(late);
    // Data that still arrives is dropped.
    asker.input.push(new Uint8Array(mebibyte));
    expect([heard, uses.bytes, asker.input.isOver, asker.input.bytes]).toEqual([[], 0, true, 0]);
  }, 60_000);

  test("as an answer that is not read closes its connection, and releases its slot", async () => {
    const uses = new LongUses();
    let closed = 0;
    const asker = new Asker(new Promise(() => undefined));
    const connected = { close: () => closed++ };
    const exchange = { ...asker.exchange, value: { use: {} }, connected } as unknown as Exchange;
    const { context } = served({ ok: true, value: "a".repeat(mebibyte) });
    expect(await answerUse(exchange, context, uses.begin(sessionOf("a")), patience)).toMatchObject(late);
    expect([closed, uses.bytes]).toEqual([1, 0]);
  }, 60_000);
});

test("a long answer is counted until it is read", async () => {
  const uses = new LongUses();
  let read = (): void => undefined;
  const room = new Promise<void>((give) => {
    read = give;
  });
  const session = sessionOf("a");
  const { context } = served({ ok: true, value: "a".repeat(20 * mebibyte) });
  const ask = (): Promise<unknown> => {
    const asker = new Asker(room);
    const exchange = { ...asker.exchange, value: { use: {} } } as unknown as Exchange;
    return answerUse(exchange, context, uses.begin(session));
  };
  const waiting = Array.from({ length: 3 }, ask);
  await Promise.resolve();
  expect(await ask()).toMatchObject({ ok: true, value: { answer: { ok: false, code: "not_available" } } });
  read();
  for (const answer of await Promise.all(waiting)) expect(answer).toMatchObject({ ok: true, value: { answer: null } });
  expect(uses.bytes).toBe(0);
});

/** Reads as much as arrives. */
function greedy(uses: LongUses, session: Session): { readonly mebibytes: number; end(): void } {
  const use = uses.begin(session);
  let mebibytes = 0;
  while (mebibytes < 1024 && use.take(mebibyte)) mebibytes++;
  return { mebibytes, end: () => use.end() };
}

describe("room for long uses", () => {
  test("exists for the longest use, and is not taken from other sessions while one takes all it can", () => {
    const uses = new LongUses();
    expect(greedy(uses, sessionOf("a")).mebibytes).toBe(80);
    expect(greedy(uses, sessionOf("a")).mebibytes).toBe(40);
    expect(greedy(uses, sessionOf("b")).mebibytes).toBe(80);
  });

  test("is left for a fourth and a fifth agent by three agents with many sessions that take all they can", () => {
    const uses = new LongUses();
    for (const agent of ["a", "b", "c"]) for (let many = 0; many < 32; many++) greedy(uses, sessionOf(agent));
    const [fourth, fifth] = ["d", "e"].map((agent) => greedy(uses, sessionOf(agent)).mebibytes);
    expect(fourth).toBeGreaterThanOrEqual(24);
    expect(fifth).toBeGreaterThanOrEqual(12);
    expect(uses.bytes).toBeLessThan(384 * mebibyte);
  });

  test("is released once, however often release is called", () => {
    const uses = new LongUses();
    const held = greedy(uses, sessionOf("a"));
    greedy(uses, sessionOf("b"));
    held.end();
    held.end();
    expect(uses.bytes).toBe(80 * mebibyte);
  });
});
