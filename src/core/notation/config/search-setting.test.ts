import { describe, expect, it } from "vitest";
import { READING, treeOf } from "../testing/notation.ts";
import { readConfig } from "./config.ts";

const read = (search: unknown, level: "user" | "project" = "user") =>
  readConfig(treeOf({ search } as never), level, READING);

describe("the search provider", () => {
  it.each<readonly [object, object]>([
    [
      { provider: "searxng", url: "https://s.example.org/search" },
      { provider: "searxng", url: "https://s.example.org/search", secret: null },
    ],
    [
      { provider: "searxng", url: "http://127.0.0.1:8888", secret: "key" },
      { provider: "searxng", url: "http://127.0.0.1:8888", secret: "key" },
    ],
    [{ provider: "brave" }, { provider: "brave", url: "https://api.search.brave.com/res/v1/web/search", secret: null }],
    [{ provider: "tavily" }, { provider: "tavily", url: "https://api.tavily.com/search", secret: null }],
  ])("%j", (written, expected) => {
    const config = read(written);
    expect([config.broken, config.search]).toEqual([false, expected]);
  });

  it.each<readonly [unknown, string]>([
    ["brave", "is a map"],
    [{}, "`provider` is"],
    [{ provider: "serxng", url: "https://s.example.org/" }, "`provider` is"],
    [{ provider: "searxng" }, "add `url`"],
    [{ provider: "brave", url: "ftp://s.example.org/" }, "not an http or https URL"],
    [{ provider: "brave", url: "https://me@s.example.org/" }, "a username or password"],
    [{ provider: "brave", url: "https://s.example.org/?key=1" }, "must not contain"],
    [{ provider: "brave", secret: "{{secret:x}}" }, "not the name of a secret"],
    [{ provider: "brave", key: "x" }, "has no"],
  ])("%j is an error, and with an error nothing counts", (written, message) => {
    const config = read(written);
    expect(config.broken).toBe(true);
    expect(config.diagnostics.map((one) => one.message).join("\n")).toContain(message);
  });

  it("cannot be configured by a project", () => {
    const config = read({ provider: "brave" }, "project");
    expect([config.broken, config.diagnostics[0]?.message]).toEqual([
      true,
      "`search` is a setting of the user, not of a project",
    ]);
  });
});
