// The log with a fake daemon: the requests, the output, the exit status.
import { describe, expect, test } from "vitest";
import { chainedEntries, GONE, NOW, run } from "../../../test/audit/log-command.ts";
import { entryOf } from "../../../test/audit/written-log.ts";
import type { ChainedEntry, LogEntry } from "../../core/ports/stores/log.ts";
import { cellsOf } from "../terminal/cells.ts";
import { COLOURS } from "../terminal/paint.ts";
import { parseMoment } from "../terminal/time.ts";

const HOSTILE = "a\u001b[2Jb\u202ec\nQ\r\u009be\u0000f\u2028g\u{e0041}h";
const hostile: LogEntry = entryOf(1, {
  agent: HOSTILE,
  user: HOSTILE,
  workspace: HOSTILE,
  session: "s1",
  trace: HOSTILE,
  tool: HOSTILE,
  outcome: "deny",
  code: HOSTILE,
  chain: [HOSTILE],
  more: {
    requests: [HOSTILE, HOSTILE],
    need: HOSTILE,
    suggest: HOSTILE,
    reason: HOSTILE,
    approval: HOSTILE,
    by: [{ link: HOSTILE, grant: HOSTILE, at: HOSTILE }],
    left: [{ account: HOSTILE, left: 1 }],
  },
});
const hostileEnd: LogEntry = entryOf(2, {
  kind: "outcome",
  of: hostile.id,
  outcome: HOSTILE,
  more: {
    ended: HOSTILE,
    milliseconds: 3,
    denials: [{ code: HOSTILE, request: HOSTILE, times: 2 }],
    enforcement: [{ axis: HOSTILE, strength: HOSTILE }],
  },
});
const hostileOther: LogEntry = entryOf(3, {
  kind: "alarm",
  outcome: HOSTILE,
  of: hostile.id,
  more: { [HOSTILE]: { [HOSTILE]: 1 } },
});

/** Everything that an editor or a terminal would hide, obey or reorder; line ends are ours. */
const DANGEROUS = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/u;

describe("the table", () => {
  test("has time, agent, tool, verdict, request and id, oldest first", async () => {
    const denied = entryOf(2, {
      outcome: "deny",
      code: "scope_violation",
      more: { requests: ["fs.read /etc/passwd", "b"] },
    });
    const { out, exit, closed } = await run({ entries: chainedEntries(entryOf(1), denied) }, "log");
    expect(out.split("\n").map((line) => line.trimEnd())).toEqual([
      "time                       agent           workspace     tool              verdict                     request                                                   id",
      "2023-11-14 22:13:20Z       scout           w             read_file         allow                       fs.read /w/1                                              c000001",
      "2023-11-14 22:13:20Z       scout           w             read_file         deny scope_violation        fs.read /etc/passwd +1                                    c000002",
      "",
    ]);
    expect(exit).toBe(0);
    expect(closed).toBe(1);
  });

  test.each([80, 100, 140])("has no line that is wider than a terminal of %i columns", async (columns) => {
    const denied = entryOf(2, {
      id: "c_3n9pnwiy23rx277ccipifc2m",
      agent: "a-long-name-of-an-agent",
      outcome: "deny",
      code: "capability_absent",
      more: { requests: ["fs.read /a/long/path/to/some/file/that/does/not/fit/in/the/table/of/a/narrow/terminal"] },
    });
    const { out } = await run({ entries: chainedEntries(entryOf(1), denied), columns }, "log");
    const lines = out.split("\n");
    expect(Math.max(...lines.map((line) => cellsOf(line).columns))).toBeLessThanOrEqual(columns);
    expect(lines[1]).toBe("2023-11-14 (UTC)");
    expect(lines[3]).toContain("c_3n9pnwiy23rx");
    expect(lines[3]).not.toContain("c_3n9pnwiy23rx2");
  });

  test("of a narrow terminal has a heading for each day", async () => {
    const next = entryOf(2, { at: entryOf(1).at + 86_400_000 });
    const { out } = await run({ entries: chainedEntries(entryOf(1), next, next), columns: 80 }, "log");
    expect(out.match(/^2023-11-\d\d .*$/gmu)).toEqual(["2023-11-14 (UTC)", "2023-11-15 (UTC)"]);
  });

  test("is coloured by the outcome", async () => {
    const denied = entryOf(2, { outcome: "deny", code: "revoked" });
    const { out } = await run({ entries: chainedEntries(entryOf(1), denied), paint: COLOURS }, "log");
    expect(out).toContain("\u001b[32mallow ");
    expect(out).toContain("\u001b[31mdeny revoked ");
  });

  test("of an empty log says so, and as JSON is empty", async () => {
    expect(await run({}, "log")).toMatchObject({ exit: 0, out: "no matching entries\n" });
    expect(await run({}, "log", "--json")).toMatchObject({ exit: 0, out: "" });
    expect((await run({}, "log", "--session", "s1")).out).toBe("no entries of that session\n");
  });

  test("of ten thousand entries is requested page by page", async () => {
    const entries = chainedEntries(...Array.from({ length: 10_000 }, (_, at) => entryOf(at + 1)));
    const { out, asked } = await run({ entries }, "log", "--count", "9999");
    const lines = out.trimEnd().split("\n");
    expect(lines.length).toBe(10_000);
    expect(lines[1]).toContain("c000002");
    expect(lines.at(-1)).toContain("c010000");
    expect(asked.every(({ value }) => value.count <= 500)).toBe(true);
    const rows = (await run({ entries }, "log", "--session", "s1")).out.split("\n");
    expect(rows.filter((line) => line.includes("read_file  allow")).length).toBe(10_000);
  });

  test("ends although the daemon repeats the same answer", async () => {
    const entries = chainedEntries(entryOf(1));
    const stuck = [{ ...(entries[0] as ChainedEntry), place: Number.MAX_SAFE_INTEGER }];
    expect((await run({ entries: stuck }, "log", "--count", "100")).exit).toBe(0);
  });
});

describe("hostile text", () => {
  const entries = chainedEntries(hostile, hostileEnd, hostileOther);
  test.each([
    ["log"],
    ["log", "--json"],
    ["log", "--session", "s1"],
    ["log", "--session", "s1", "--json"],
    ["log", "--follow"],
    ["why", hostile.id],
    ["why", hostile.id, "--json"],
    ["why", hostileOther.id],
  ])("is escaped by %s %s %s", async (...argv) => {
    const { out } = await run({ entries, later: entries }, ...argv);
    expect(out).not.toMatch(DANGEROUS);
    expect(out).toContain(argv.includes("--json") ? "\\u202e" : "\\u{202e}");
    // No text starts a new line.
    expect(out).not.toMatch(/^Q/m);
  });

  test("is the same value as JSON", async () => {
    const { out } = await run({ entries }, "log", "--json");
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(entries);
  });

  test("of unexpected shape is shown as far as possible", async () => {
    const odd = entryOf(1, {
      at: 1e300,
      more: {
        requests: 5,
        by: ["x", null, { grant: 7 }],
        left: "no",
        denials: [1],
        enforcement: [[]],
        suggest: {},
      } as never,
    });
    for (const argv of [["log"], ["log", "--session", "s1"], ["why", odd.id]])
      expect((await run({ entries: chainedEntries(odd) }, ...argv)).exit).toBe(0);
  });
});

describe("filters", () => {
  test("are passed on unchanged", async () => {
    const { asked } = await run(
      {},
      ...["log", "--user", "ann", "--agent", "scout", "--verb", "net.get", "--code", "revoked", "--kind", "decision"],
      ...["--since", "2h", "--until", "2026-11-15", "--text", "two words", "--outcome", "deny", "--count", "7"],
    );
    expect(asked[0]?.value).toEqual({
      user: "ann",
      agent: "scout",
      verb: "net.get",
      code: "revoked",
      kind: "decision",
      outcome: "deny",
      since: NOW - 7_200_000,
      until: Date.parse("2026-11-15T00:00:00Z"),
      text: "two words",
      before: Number.MAX_SAFE_INTEGER,
      count: 7,
    });
  });

  test.each([
    ["--since", "yesterday", /--since "yesterday" is not a time/],
    ["--until", "2026-02-30", /is not a time/],
    ["--kind", "gossip", /no kind "gossip"/],
    ["--verb", "net.gte", /did you mean net.get/],
    ["--count", "0", /--count must be a number/],
    ["--count", "1e3", /--count must be a number/],
    ["--count", "99999999", /--count must be a number/],
  ])("that are invalid are refused: %s %s", async (option, value, what) => {
    const { exit, err, asked } = await run({}, "log", option, value);
    expect(exit).toBe(2);
    expect(err).toMatch(what);
    expect(asked).toEqual([]);
  });

  test.each([
    ["30m", NOW - 1_800_000],
    ["2026-11-15", Date.parse("2026-11-15T00:00:00Z")],
    ["2026-11-15T10:00", Date.parse("2026-11-15T10:00:00Z")],
    ["2026-11-15T10:00:05.25+02:00", Date.parse("2026-11-15T08:00:05.250Z")],
    ["2024-02-29", Date.parse("2024-02-29T00:00:00Z")],
    ["2026-02-29", null],
    ["2026-13-01", null],
    ["2026-11-15T25:00", null],
    ["", null],
    ["2026-11-15 10:00; rm", null],
  ])("a moment: %s", (text, at) => {
    expect(parseMoment(text, NOW)).toBe(at);
  });
});

describe("following", () => {
  test("continues after the shown entries, and ends with the daemon", async () => {
    const later = [{ place: 3, entry: entryOf(3) }];
    const { out, exit, asked, err } = await run(
      { entries: chainedEntries(entryOf(1), entryOf(2)), later },
      "log",
      "--follow",
      "--agent",
      "scout",
    );
    expect(out.trimEnd().split("\n").length).toBe(4);
    expect(asked.at(-1)).toMatchObject({ name: "log.follow", value: { agent: "scout", after: 2 } });
    expect(err).toContain("not_available");
    expect(exit).toBe(4);
  });
});

describe("a transcript", () => {
  test("shows calls, verdicts, outcomes and enforcement in order", async () => {
    const call = entryOf(1, {
      more: { requests: ["fs.read /w/1"], by: [{ link: "own", grant: "fs.read{in=/w}", at: "scout.md:4" }] },
    });
    const ended = entryOf(2, {
      kind: "outcome",
      of: call.id,
      outcome: "exited",
      more: {
        ended: "exited 0",
        milliseconds: 12,
        denials: [{ code: "scope_violation", request: "net.get x", times: 2 }],
        enforcement: [{ axis: "paths", strength: "kernel" }],
      },
    });
    const denied = entryOf(3, { outcome: "deny", code: "revoked", tool: "exec" });
    const lost = entryOf(4, { tool: "exec" });
    const { out } = await run({ entries: chainedEntries(call, ended, denied, lost) }, "log", "--session", "s1");
    expect(out).toBe(`session s1  agent scout  user ann  workspace /w

2023-11-14 (UTC)
22:13:20  call        read_file  allow  c000001
          fs.read /w/1
          by fs.read{in=/w}  scout.md:4
22:13:20  outcome     read_file  exited 0 in 12 ms  of c000001
          denied while running: scope_violation  net.get x  2 times
          enforced by: paths kernel
22:13:20  call        exec  deny revoked  c000003
          fs.read /w/3
22:13:20  call        exec  allow  c000004
          fs.read /w/4
3 calls, 1 denied
no outcome logged for exec c000004
`);
  });
});

test.each([
  ["log", "--session", "s1"],
  ["why", "c000001"],
])("%s shows when an approval expires and its level", async (...argv) => {
  const more = { asking: ["fs.read /w/1", "fs.read /w/2"], expires: 1_700_000_060_000, level: 2, agreed: 0 };
  const asked = entryOf(1, { kind: "approval", outcome: "asked", more });
  const { out } = await run({ entries: chainedEntries(asked) }, ...argv);
  expect(out).toContain("expires: 2023-11-14 22:14:20Z\n");
  expect(out).toContain("asking: fs.read /w/1, fs.read /w/2\n");
  if (argv[0] === "log") expect(out).toContain("level: presence\n");
});

describe("a connection that breaks", () => {
  const entries = chainedEntries(...Array.from({ length: 1200 }, (_, at) => entryOf(at + 1)));
  test.each([
    [["log"], 0],
    [["log", "--count", "1000"], 1],
    [["log", "--session", "s1"], 2],
    [["log", "--follow"], 1],
    [["why", "c000001"], 0],
    [["why", "c000001", "--json"], 0],
  ])("ends %s with the daemon's status, after %i answers", async (argv, answers) => {
    const { exit, err, out, closed } = await run({ entries, answers }, ...argv);
    expect(exit).toBe(4);
    expect(err + out).toContain("the daemon went away");
    expect(closed).toBe(1);
  });

  test("that never existed is reported the same way", async () => {
    expect(await run({ control: GONE }, "log")).toMatchObject({ exit: 4, asked: [], out: "" });
    expect(JSON.parse((await run({ control: GONE }, "why", "c1", "--json")).out)).toMatchObject({
      code: "not_available",
    });
  });
});

describe("--refused", () => {
  const denied = (at: number, need: string, suggest: string | null): LogEntry =>
    entryOf(at, {
      ...{ agent: "scout", outcome: "deny", code: "capability_absent" },
      more: { requests: ["tool.invoke proc_exec {}", need], need, suggest, times: 2 },
    });
  const grant = 'fs.write{in=/p,paths=["it\'s"]}';
  const entries = chainedEntries(
    denied(1, "net.connect a.test:443", "net.connect{hosts=[a.test],ports=[443]}"),
    denied(2, "fs.write /p/it's", grant),
    denied(3, "net.connect a.test:443", "net.connect{hosts=[a.test],ports=[443]}"),
  );

  test("has each request once, with how often and the smallest grant as a command that a shell reads as it is", async () => {
    const { out, exit, asked } = await run({ entries }, "log", "--refused", "--agent", "scout");
    expect(exit).toBe(0);
    expect(asked[0]?.value).toMatchObject({ kind: "decision", outcome: "deny", agent: "scout" });
    expect(out).toBe(
      [
        "scout  capability_absent  net.connect a.test:443 (4 times)",
        "  grant it: ambit agents grant scout 'net.connect{hosts=[a.test],ports=[443]}'",
        "scout  capability_absent  fs.write /p/it's (2 times)",
        "  grant it: ambit agents grant scout 'fs.write{in=/p,paths=[\"it'\\''s\"]}'",
        "",
      ].join("\n"),
    );
    const { out: data } = await run({ entries }, "log", "--refused", "--json");
    expect(JSON.parse(data.split("\n")[1] ?? "")).toEqual({
      ...{ agent: "scout", code: "capability_absent", request: "fs.write /p/it's", times: 2, suggest: grant },
    });
  });

  test("says so where nothing was refused, and shows nothing that a terminal obeys", async () => {
    expect((await run({}, "log", "--refused")).out).toBe("nothing was refused\n");
    expect((await run({ entries: chainedEntries(hostile) }, "log", "--refused")).out).not.toMatch(DANGEROUS);
  });

  test.each([["--outcome", "allow"], ["--kind", "alarm"], ["--would-deny"], ["--follow"]])(
    "is not combined with %s",
    async (...words) => {
      expect((await run({ entries }, "log", "--refused", ...words)).exit).toBe(2);
    },
  );
});
