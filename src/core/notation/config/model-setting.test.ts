import { expect, test } from "vitest";
import { READING, treeOf } from "../testing/notation.ts";
import { readConfig } from "./config.ts";
import { modelPrice } from "./model-setting.ts";

const read = (models: unknown, level: "user" | "project" = "user") =>
  readConfig(treeOf({ models } as never), level, READING);

test.each<readonly [object, string]>([
  [{ anthropic: { url: "https://gateway.example.com/a/" } }, "https://gateway.example.com/a"],
  [{ openai: { url: "http://127.0.0.1:8080" } }, "http://127.0.0.1:8080"],
  [{ gemini: { url: "http://[::1]:8080" } }, "http://[::1]:8080"],
])("%j", (written, url) => {
  const config = read(written);
  expect([config.broken, config.models.map((one) => one.url)]).toEqual([false, [url]]);
});

test.each<readonly [unknown, string]>([
  ["anthropic", "is a map"],
  [{ antropic: { url: "https://a.example.com" } }, "no provider called"],
  [{ anthropic: "https://a.example.com" }, "is a map"],
  [{ anthropic: {} }, "has a `url` or `prices`"],
  [{ anthropic: { url: "https://a.example.com", key: "x" } }, "has no"],
  [{ anthropic: { prices: ["x"] } }, "is a map"],
  [{ anthropic: { prices: { x: 3 } } }, "is a map"],
  [{ anthropic: { prices: { x: { input: 3 } } } }, "a price has `output`"],
  [{ anthropic: { prices: { x: { input: 3, output: "15" } } } }, "price of a million tokens"],
  [{ anthropic: { prices: { x: { input: -3, output: 15 } } } }, "price of a million tokens"],
  [{ anthropic: { prices: { x: { input: 3, output: 15, cash_read: 1 } } } }, "a price has no"],
  [{ anthropic: { prices: { "a//b": { input: 3, output: 15 } } } }, "a//b"],
  [{ anthropic: { url: "http://a.example.com" } }, "goes over TLS"],
  [{ anthropic: { url: "http://127.0.0.1.example.com" } }, "goes over TLS"],
  [{ anthropic: { url: "https://me:key@a.example.com" } }, "a username or password"],
  [{ anthropic: { url: "https://a.example.com?key=1" } }, "no `?`"],
])("%j is a mistake, and with a mistake nothing counts", (written, message) => {
  const config = read(written);
  expect(config.broken).toBe(true);
  expect(config.diagnostics.map((one) => one.message).join("\n")).toContain(message);
});

test("a project cannot say where models are", () => {
  expect(read({ anthropic: { url: "https://a.example.com" } }, "project").broken).toBe(true);
});

const PRICED = {
  anthropic: {
    prices: {
      "claude-*": { input: 3, output: 15 },
      "claude-big": { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25 },
      "org/**": { input: 0, output: 0 },
    },
  },
};

test.each([
  ["anthropic", "claude-x", { input: 3_000_000, output: 15_000_000, cacheRead: 3_000_000, cacheWrite: 6_000_000 }],
  ["anthropic", "claude-big", { input: 5_000_000, output: 25_000_000, cacheRead: 500_000, cacheWrite: 6_250_000 }],
  ["anthropic", "org/a/b", { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }],
  ["anthropic", "claude", null],
  ["anthropic", "claude-x/y", null],
  ["openai", "claude-x", null],
] as const)("the price of %s %s", (provider, model, price) => {
  const config = read(PRICED);
  expect([config.broken, modelPrice(config.models, provider, model)]).toEqual([false, price]);
});

test("a project cannot say what models cost", () => {
  expect(read(PRICED, "project").broken).toBe(true);
});
