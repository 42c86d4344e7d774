// Running a registered tool for a warrant: its arguments, its return value, and the end of its context.
import { describe, expect, test } from "vitest";
import { chain, grant, link } from "../../../test/forge/authority.ts";
import {
  instrumentsOf,
  judgeOf,
  READING,
  registeredOf,
  type Seen,
  toolOf,
  warrantFor,
} from "../../../test/laws/context-fixture.ts";
import type { Authority } from "../../core/authority/chain.ts";
import { runTool } from "./run.ts";

describe("running", () => {
  const ALL: Authority = [
    chain(
      link(
        "r",
        ["net.get", "fs.read", "tool.invoke"].map((verb) => grant(verb)),
      ),
    ),
  ];
  const needs = { network: { allowedHosts: ["a.example"] } };

  async function run(execute: Parameters<typeof toolOf>[1] & object, more: { readonly stop?: never } | object = {}) {
    const tool = registeredOf(toolOf(needs, execute));
    const seen: Seen = { done: [], fetches: [], denials: [] };
    return runTool(tool, await warrantFor(tool, ALL, { city: "Oslo" }), {
      ...{ availability: { ok: true }, signal: null, instruments: instrumentsOf(seen), judge: judgeOf(ALL, tool) },
      ...{ pathSettings: READING.pathSettings, toAscii: READING.toAscii, denied: () => undefined },
      ...more,
    });
  }

  test("passes the arguments that were decided", async () => {
    expect(await run({ execute: (input: unknown) => input })).toEqual({ ok: true, value: { city: "Oslo" } });
  });

  test("a response may be returned as it is, and so may a refusal", async () => {
    const page = await run({ execute: (_: unknown, context) => context.net.fetch("https://a.example/") });
    expect(page).toMatchObject({ ok: true, value: { status: 200, text: "", url: "https://a.example/" } });
    const refused = await run({ execute: (_: unknown, context) => context.net.fetch("https://b.example/") });
    expect(refused).toMatchObject({ ok: false, code: "scope_violation" });
  });

  test("a tool that throws, or returns no plain data, has failed", async () => {
    const throwing = (): never => {
      throw new Error("boom");
    };
    expect(await run({ execute: throwing })).toEqual({ ok: false, code: "execution_failed", message: "boom" });
    expect(await run({ execute: () => () => 1 })).toMatchObject({ ok: false, code: "execution_failed" });
    expect(await run({ execute: () => undefined })).toEqual({ ok: true, value: null });
  });

  test("the context ends with the call, however that ends", async () => {
    const kept: { fetch(url: string): Promise<unknown> }[] = [];
    await run({
      execute: (_: unknown, context) => {
        kept.push(context.net);
        throw new Error("boom");
      },
    });
    expect(await kept[0]?.fetch("https://a.example/")).toMatchObject({ ok: false, code: "revoked" });
  });

  test("a cancelled call is over at once, whatever the tool does", async () => {
    const cancel = new AbortController();
    const outcome = run({ execute: () => new Promise(() => undefined) }, { signal: cancel.signal });
    await new Promise((resolve) => setImmediate(resolve));
    cancel.abort();
    expect(await outcome).toMatchObject({ ok: false, code: "revoked" });
  });

  test("a call that was cancelled before it began does not begin", async () => {
    let ran = 0;
    expect(await run({ execute: () => ++ran }, { signal: AbortSignal.abort() })).toMatchObject({
      ok: false,
      code: "revoked",
    });
    expect(ran).toBe(0);
  });

  test("a warrant for another tool is refused", async () => {
    const one = registeredOf(toolOf(needs));
    const other = registeredOf(toolOf(needs, { name: "other" }));
    const parts = {
      ...{ availability: { ok: true as const }, signal: null, judge: judgeOf(ALL, one), denied: () => undefined },
      instruments: instrumentsOf({ done: [], fetches: [], denials: [] }),
      ...{ pathSettings: READING.pathSettings, toAscii: READING.toAscii },
    };
    expect(await runTool(one, await warrantFor(other), parts)).toMatchObject({ ok: false, code: "invalid_input" });
  });
});
