// Triggers of an org file: what is refused in them, which are in effect, and what a change does to a stored schedule.
import { describe, expect, test } from "vitest";
import type { Schedule } from "../../core/ports/stores/schedule-store.ts";
import { readJson } from "../../text/json.ts";
import { type Org, orgErrors, readOrg } from "../org.ts";
import { readOrgMarkdown } from "../org-markdown.ts";
import { changedSchedule, pausedSchedule, removedSchedules, writtenTriggers } from "./file-schedule.ts";

const AGENTS = "# Org\n\n## Agents\n\n### CEO\n\n### Dev\n\n- reports to: CEO\n\n## Triggers\n\n";

function org(text: string, before = AGENTS): Org {
  return readOrg(readOrgMarkdown({ name: "org.md", text: `${before}${text}\n` }, readJson));
}
const triggersOf = (now: Org, trusted: Org | null): ReturnType<typeof writtenTriggers> =>
  writtenTriggers("org.md", now, trusted, ({ span }) => `org.md:${span.start}`);

describe("a trigger says when it starts", () => {
  test.each([
    ["- every: 7d", "every 7d"],
    ["- every: 45s", "every 45s"],
    ["- cron: 0 9 * * 1", "cron 0 9 * * 1"],
    ["- cron: 0 9 * * 1\n- zone: Europe/Berlin", "cron 0 9 * * 1 in Europe/Berlin"],
    ["- at: 2030-07-06T15:00:00", "at 2030-07-06T15:00:00"],
    ["- file: docs/**/*.md", "on file docs/**/*.md"],
    ["- kind: webhook", "on webhook daily-look"],
    ["", "on webhook daily-look"],
  ])("%j: %s", (lines, when) => {
    const read = org(`### Daily look\n\n${lines}\n\nLook.`);
    expect([orgErrors(read, null), read.triggers[0]?.when]).toEqual([[], when]);
  });
});

describe("is an error, at its line", () => {
  test.each([
    ["an interval that is none", "### A\n\n- every: often\n\nGo.", "often"],
    ["a number without a unit", "### A\n\n- every: 30\n\nGo.", "30"],
    ["an interval of nothing", "### A\n\n- every: 0m\n\nGo.", "0m"],
    ["a cron line that is none", "### A\n\n- cron: 99 9 * * 1\n\nGo.", "99 9 * * 1"],
    ["a time that is none", "### A\n\n- at: tomorrow\n\nGo.", "tomorrow"],
    ["a path that leaves the workspace", "### A\n\n- file: ../x\n\nGo.", "../x"],
    ["two times", "### A\n\n- every: 7d\n- cron: 0 9 * * 1\n\nGo.", "A"],
    ["two kinds", "### A\n\n- every: 7d\n- file: docs/x\n\nGo.", "docs/x"],
    ["a kind without its key", "### A\n\n- kind: file\n\nGo.", "A"],
    ["a webhook with a time", "### A\n\n- kind: webhook\n- every: 7d\n\nGo.", "7d"],
    ["a zone without a clock", "### A\n\n- every: 7d\n- zone: UTC\n\nGo.", "UTC"],
    ["another word for missed", "### A\n\n- every: 7d\n- missed: later\n\nGo.", "later"],
    ["an agent that is not there", "### A\n\n- every: 7d\n- agent: Def\n\nGo.", "Def"],
    ["no text", "### A\n\n- every: 7d", "A"],
    ["a webhook without a name that fits", "### 日本\n\nGo.", "日本"],
    ["two of one webhook", "### In bound\n\nGo.\n\n### in-bound\n\nGo.", "in-bound"],
    ["a trigger to follow that is not there", "### A\n\n- after: B\n\nGo.", "B"],
    ["one that follows itself", "### A\n\n- after: A\n\nGo.", "A"],
    ["two that follow each other", "### A\n\n- after: B\n\nGo.\n\n### B\n\n- after: A\n\nGo.", "B"],
    ["a list", "### A\n\n- every: [1]\n\nGo.", "[1]"],
  ])("%s", (_, text, at) => {
    const [first] = orgErrors(org(text), null);
    const whole = `${AGENTS}${text}\n`;
    expect(first === undefined ? null : whole.slice(first.span.start, first.span.end)).toBe(at);
  });
  test("more triggers than a file may have", () => {
    const many = Array.from({ length: 101 }, (_, at) => `### T${at}\n\n- every: 7d\n\nGo.\n`).join("\n");
    expect(orgErrors(org(many), null)).not.toEqual([]);
  });
});

test("a program to watch is kept and starts nothing, which is said", () => {
  const read = org("### A\n\n- command: tail -f x\n\nGo.");
  expect(read.diagnostics).toMatchObject([{ severity: "warning" }]);
  expect(triggersOf(read, read).triggers).toMatchObject([
    { when: null, hindrance: expect.stringContaining("nothing") },
  ]);
});

describe("a trigger is in effect", () => {
  const text = "### A\n\n- every: 7d\n- agent: Dev\n\nGo.";
  const trusted = org(text);
  const hindrances = (now: Org, was: Org | null): readonly boolean[] =>
    triggersOf(now, was).triggers.map(({ hindrance }) => hindrance === null);
  test("as it was trusted, wherever it stands by now", () => {
    expect(hindrances(org(`### B\n\n- every: 1d\n\nNew.\n\n${text}`), trusted)).toEqual([false, true]);
  });
  test("not before it was trusted", () => {
    expect(hindrances(trusted, null)).toEqual([false]);
  });
  test.each([
    ["another time", "### A\n\n- every: 8d\n- agent: Dev\n\nGo."],
    ["another agent", "### A\n\n- every: 7d\n- agent: CEO\n\nGo."],
    ["another text", "### A\n\n- every: 7d\n- agent: Dev\n\nGo!"],
    ["another name", "### B\n\n- every: 7d\n- agent: Dev\n\nGo."],
    ["missed times", "### A\n\n- every: 7d\n- agent: Dev\n- missed: skip\n\nGo."],
  ])("not with %s", (_, now) => {
    expect(hindrances(org(now), trusted)).toEqual([false]);
  });
  test("not if an edit of the tree gives it to another agent", () => {
    const plain = "### A\n\n- every: 7d\n\nGo.";
    const moved = AGENTS.replace("### CEO", "### Boss\n\n### CEO\n\n- reports to: Boss");
    expect(hindrances(org(plain, moved), org(plain))).toEqual([false]);
  });
  test("not in a file with an error", () => {
    expect(triggersOf(org(`${text}\n\n### B\n\n- every: x\n\nGo.`), trusted).problem).toContain("errors");
  });
  test("not without an agent, where the agents are records", () => {
    const read = org("### A\n\n- every: 7d\n\nGo.", "# Org\n\n## Triggers\n\n");
    expect(triggersOf(read, read).triggers).toMatchObject([
      { agent: null, hindrance: expect.stringContaining("agent") },
    ]);
  });
});

describe("a stored schedule of a trigger", () => {
  const stored: Schedule = {
    ...{ id: "h", workspace: "/w", agent: "a", when: "every 7d", zone: "UTC", missed: "once", prompt: "p", argv: null },
    ...{ timeoutMilliseconds: 1, attemptsMax: 1, created: 1, next: 100, floor: 3, after: null, seen: null },
    ...{ isEnded: false, count: 4, lastTask: "w_1", reason: "", trigger: { name: "A", digest: "1" } },
    accepted: [[1, "signature"]],
  };
  const now: Schedule = { ...stored, next: 900, floor: 800, created: 500, count: 0, lastTask: null, accepted: [] };
  test("that has another text keeps its times, its last task and its requests", () => {
    const changed = changedSchedule({ ...stored, isPaused: true }, { ...now, prompt: "new" });
    expect(changed).toEqual({ ...stored, prompt: "new" });
  });
  test("that has another time begins anew, and keeps its last task and its requests", () => {
    const changed = changedSchedule(stored, { ...now, when: "every 8d" });
    expect(changed).toEqual({ ...now, when: "every 8d", count: 4, lastTask: "w_1", accepted: stored.accepted });
  });
  test("is paused once for one reason", () => {
    const paused = pausedSchedule(stored, "why");
    expect(paused).toMatchObject({ isPaused: true, reason: "why" });
    expect(paused === null ? null : pausedSchedule(paused, "why")).toBe(null);
  });
  test("is removed with its line, and not while the file cannot be read", () => {
    const none = { path: "org.md", problem: null, triggers: [] };
    const { trigger: _, ...own } = stored;
    expect(removedSchedules([stored, own], none)).toEqual([stored]);
    expect(removedSchedules([stored], { ...none, problem: "broken" })).toEqual([]);
  });
});
