// The vectors of model.use in `spec/`: coverage, counts of tokens, and prices.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compile } from "../../src/core/authority/compiled.ts";
import { judge } from "../../src/core/authority/judge.ts";
import { ALWAYS } from "../../src/core/authority/link.ts";
import { readCompact } from "../../src/core/notation/compact/compact.ts";
import { readConfig } from "../../src/core/notation/config/config.ts";
import { type ModelProvider, modelPrice } from "../../src/core/notation/config/model-setting.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import { readRequestText } from "../../src/core/notation/request/request.ts";
import { READING, treeOf } from "../../src/core/notation/testing/notation.ts";
import { requestCost } from "../../src/daemon/programs/model-cost.ts";
import { UsageCounter } from "../../src/sandbox/network/relay/relay-usage.ts";
import { NO_USAGE } from "../../src/sandbox/plan/sandboxes.ts";
import { MOMENT } from "../trust/project.ts";

interface Vectors {
  readonly decisions: readonly { readonly grant: string; readonly request: string; readonly allow: boolean }[];
  readonly costs: readonly {
    readonly price: Readonly<Record<string, number>>;
    readonly usage: { readonly input: number; readonly output: number } & Readonly<Record<string, number>>;
    readonly tokens: number;
    readonly money: number;
  }[];
  readonly usages: readonly {
    readonly provider: ModelProvider;
    readonly answer: string;
    readonly input: number | null;
    readonly output: number | null;
  }[];
}

const file = join(import.meta.dirname, "../../spec/model-use.json");
const { decisions, costs, usages } = JSON.parse(readFileSync(file, "utf8")) as Vectors;

describe("the vectors of model.use", () => {
  test.each(decisions)("$grant covers $request: $allow", ({ grant, request, allow }) => {
    const span = { source: "vector", start: 0, end: grant.length };
    const read = readCompact(grant, { reading: READING, diagnostics: new Diagnostics(), span, root: null });
    const asked = readRequestText(request, READING);
    if (!asked.ok) throw new Error(asked.message);
    const parts = { id: "own", role: "own", issuer: "person", holder: "agent", validity: ALWAYS, calls: null } as const;
    const link = compile({ ...parts, grants: read === null ? [] : [read] });
    expect(judge([[link]], asked.value, MOMENT).outcome === "allow").toBe(allow);
  });

  test.each(costs)("$usage at $price costs $money", ({ price, usage, tokens, money }) => {
    const { models } = readConfig(treeOf({ models: { openai: { prices: { m: price } } } } as never), "user", READING);
    const call = {
      ...{ provider: "openai", model: "m", digest: "", bytes: 1, isCharged: true, isPremium: false },
      ...{ inputTokens: 1, outputTokens: 1, outputLeast: 1 },
    };
    const { input, output, cache_read: cacheRead = 0, cache_write: cacheWrite = 0 } = usage;
    const answered = { ...NO_USAGE, isSent: true, status: 200, isWhole: true, input, output, cacheRead, cacheWrite };
    const cost = requestCost(call, modelPrice(models, "openai", "m")).actual(answered, { tokens: 2, money: 2 });
    expect(cost).toEqual({ tokens, money });
  });

  test.each(usages)("$provider: $answer", ({ provider, answer, input, output }) => {
    const counter = new UsageCounter(provider, false);
    counter.take(Buffer.from(answer));
    const found = counter.end();
    expect([found?.input ?? null, found?.output ?? null]).toEqual([input, output]);
  });
});
