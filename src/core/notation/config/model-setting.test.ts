import { expect, test } from "vitest";
import { READING, treeOf } from "../testing/notation.ts";
import { readConfig } from "./config.ts";

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
  [{ anthropic: {} }, "has a `url`"],
  [{ anthropic: { url: "https://a.example.com", key: "x" } }, "has no"],
  [{ anthropic: { url: "http://a.example.com" } }, "goes over TLS"],
  [{ anthropic: { url: "http://127.0.0.1.example.com" } }, "goes over TLS"],
  [{ anthropic: { url: "https://me:key@a.example.com" } }, "a name or a password"],
  [{ anthropic: { url: "https://a.example.com?key=1" } }, "no `?`"],
])("%j is a mistake, and with a mistake nothing counts", (written, message) => {
  const config = read(written);
  expect(config.broken).toBe(true);
  expect(config.diagnostics.map((one) => one.message).join("\n")).toContain(message);
});

test("a project cannot say where models are", () => {
  expect(read({ anthropic: { url: "https://a.example.com" } }, "project").broken).toBe(true);
});
