import { describe, expect, it } from "vitest";
import { READING, treeOf } from "../testing/notation.ts";
import { sinkText } from "./audit-setting.ts";
import { readConfig } from "./config.ts";

const read = (audit: unknown, level: "user" | "project" = "user") =>
  readConfig(treeOf({ audit } as never), level, READING);
const home = `/${(READING.pathSettings.home ?? []).join("/")}`;

describe("the second copy of the log", () => {
  it.each<readonly [object, string, number]>([
    [{ sink: "/mnt/log/ambit.jsonl" }, "/mnt/log/ambit.jsonl", 2000],
    [{ sink: "/mnt/log/ambit.jsonl", timeout: "500ms" }, "/mnt/log/ambit.jsonl", 500],
    [{ sink: "~/log.jsonl", timeout: "60s" }, `${home}/log.jsonl`, 60_000],
    [{ sink: "unix:/run/collector.sock" }, "unix:/run/collector.sock", 2000],
    [{ sink: "unix:~/collector.sock" }, `unix:${home}/collector.sock`, 2000],
    [{ sink: "/mnt/../log" }, "/log", 2000],
  ])("%j", (written, target, timeoutMilliseconds) => {
    const { broken, audit } = read(written);
    expect(broken).toBe(false);
    expect(audit === null ? null : sinkText(audit.sink)).toBe(target);
    expect(audit?.timeoutMilliseconds).toBe(timeoutMilliseconds);
  });

  it.each<readonly [unknown, string]>([
    [null, "`audit` is a map"],
    ["/log", "`audit` is a map"],
    [{}, "`sink`"],
    [{ timeout: "2s" }, "`sink`"],
    [{ sink: 7 }, "must be text"],
    [{ sink: "log.jsonl" }, "the absolute path of a file"],
    [{ sink: "./log.jsonl" }, "the absolute path of a file"],
    [{ sink: "/log/" }, "the absolute path of a file"],
    [{ sink: "unix:collector.sock" }, "the absolute path of a file"],
    [{ sink: "tcp:127.0.0.1:1" }, "the absolute path of a file"],
    [{ sink: "/log\u0000" }, "the absolute path of a file"],
    [{ sink: `unix:/${"x".repeat(100)}` }, "at most 100 bytes"],
    [{ sink: `unix:/${"ü".repeat(50)}` }, "at most 100 bytes"],
    [{ sink: "/log", timeout: 2 }, "from 100ms to 60s"],
    [{ sink: "/log", timeout: "99ms" }, "from 100ms to 60s"],
    [{ sink: "/log", timeout: "61s" }, "from 100ms to 60s"],
    [{ sink: "/log", timeout: "2m" }, "from 100ms to 60s"],
    [{ sink: "/log", timeuot: "2s" }, "has no"],
  ])("%j is an error, and with an error nothing counts", (written, message) => {
    const config = read(written);
    expect(config.broken).toBe(true);
    expect(config.diagnostics.map((one) => one.message).join("\n")).toContain(message);
  });

  it("cannot be configured by a project", () => {
    const config = read({ sink: "/log" }, "project");
    expect([config.broken, config.audit, config.diagnostics[0]?.message]).toEqual([
      true,
      null,
      "`audit` is a setting of the user, not of a project",
    ]);
  });
});
