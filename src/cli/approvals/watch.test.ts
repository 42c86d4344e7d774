// `ambit approvals watch`: lines for a program, a list with keys for a person.
import { describe, expect, test } from "vitest";
import { screenOf } from "../../../test/e2e/terminal.ts";
import { approvalOf } from "../../approvals/testing/approval.ts";
import type { Json } from "../../core/base/json.ts";
import type { Approval } from "../../core/ports/stores/approval-store.ts";
import { done, ran, refusal, type Setting, storedAnswers } from "../testing/approvals.ts";
import { type Key, keysOf, type WatchScreen } from "./screen.ts";

const event = (approval: Approval): Json => ({ approval }) as unknown as Json;
const one = approvalOf({ id: "a-1" });
const two = approvalOf({ id: "a-2", tool: "tool\u001b[2J", digest: "e" });
const turn = (): Promise<void> => new Promise((give) => setImmediate(give));

class FakeScreen implements WatchScreen {
  columns = 80;
  rows = 24;
  raw = "";
  listening = 0;
  ticks: () => void = () => {};
  press: (key: Key) => void = () => {};

  write(text: string): void {
    this.raw += text;
  }

  onKey(press: (key: Key) => void): () => void {
    this.press = press;
    this.listening++;
    return () => {
      this.press = () => {};
      this.listening--;
    };
  }

  every(_milliseconds: number, ring: () => void): () => void {
    this.ticks = ring;
    return () => {
      this.ticks = () => {};
    };
  }

  get shown(): string {
    return screenOf(this.raw.replaceAll("\u0007", ""));
  }

  get bells(): number {
    return this.raw.split("\u0007").length - 1;
  }
}

/** Sends these events, then lets the person press keys, one after the other. */
function watching(
  screen: FakeScreen,
  events: readonly Approval[],
  keys: string | readonly (string | Approval)[],
  setting: Setting = {},
): ReturnType<typeof ran> {
  return ran(["approvals", "watch"], {
    ...setting,
    screen,
    answers: {
      ...setting.answers,
      "approvals.watch": async (_value, along) => {
        for (const approval of events) along?.onEvent?.(event(approval));
        for (const key of keys) {
          if (typeof key !== "string") along?.onEvent?.(event(key));
          else for (const pressed of keysOf(key)) screen.press(pressed);
          for (let at = 0; at < 20; at++) await turn();
        }
        return along?.signal?.aborted === true ? new Promise(() => {}) : refusal("not_available", "the daemon ended");
      },
    },
  });
}

describe("for a program", () => {
  test("every change is a line, or a line of JSON on request", async () => {
    const answers: Setting["answers"] = {
      "approvals.watch": (_value, along) => {
        for (const told of [event(two), { nonsense: 1 }, null, event({ ...two, state: "refused" })])
          along?.onEvent?.(told);
        return done({});
      },
    };
    const plain = await ran(["approvals", "watch"], { answers });
    expect(plain.out.split("\n").map((line) => line.split("  ", 2).join(" "))).toEqual(["a-2 pending", "a-2 refused"]);
    expect(plain.out).toContain(String.raw`tool\u{1b}[2J`);
    const data = await ran(["approvals", "watch", "--json"], { answers, screen: new FakeScreen() });
    expect(data.out.split("\n").map((line) => JSON.parse(line).approval.state)).toEqual(["pending", "refused"]);
    expect([plain.exit, plain.closed]).toEqual([0, 1]);
  });

  test("a daemon that disconnects ends it with a status of its own", async () => {
    const { exit } = await ran(["approvals", "watch"], {
      answers: { "approvals.watch": () => refusal("not_available") },
    });
    expect(exit).toBe(4);
  });
});

describe("for a person", () => {
  test("the list is redrawn in place, rings for each new one, and leaves nothing behind", async () => {
    const screen = new FakeScreen();
    let before = "";
    const ended = await watching(screen, [one, two], ["", { ...one, state: "refused" }, "q"], {
      answers: {},
      says: [],
    });
    before = screen.raw;
    expect(screen.bells).toBe(2);
    expect(ended.exit).toBe(0);
    expect(screen.listening).toBe(0);
    expect(screen.shown).toBe("");
    expect(before).toContain("2 waiting");
    expect(before).toContain("a-1 is refused");
    expect(before).toContain("1 waiting");
    // Only what we draw with: moving up, erasing, the bell.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    expect(before.replaceAll(/\u001b\[(\d+A|J)|[\r\n\u0007]/g, "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });

  test("no line is as wide as the terminal, and no frame as high", async () => {
    const screen = new FakeScreen();
    screen.columns = 40;
    screen.rows = 10;
    const many = Array.from({ length: 30 }, (_, at) =>
      approvalOf({ id: `a-${at}`, digest: `${at}`, asking: [`fs.write /${"漢".repeat(100)}`] }),
    );
    await watching(screen, many, "q");
    const frames = screen.raw.split("\u001b[J");
    const last = frames.findLast((frame) => frame.includes("30 waiting")) ?? "";
    const drawn = last
      .replaceAll("\u0007", "")
      .split("\r\n")
      .map((line) => line.replaceAll(/\r.*$/g, ""));
    expect(drawn.length).toBeLessThan(10);
    expect(drawn).toContain("  and 25 more");
    for (const line of drawn) expect([...line].reduce((sum, one) => sum + (one === "漢" ? 2 : 1), 0)).toBeLessThan(40);
  });

  test("a number selects, a approves the selected one", async () => {
    const screen = new FakeScreen();
    const { asked } = await watching(screen, [one, two], ["2", "a", "q"], {
      answers: storedAnswers(two),
      says: ["file", "the number shown"],
    });
    expect(asked.map(([name]) => name)).toEqual(["approvals.watch", "approvals.show", "approvals.approve"]);
    expect(asked.at(-1)?.[1]).toMatchObject({ id: "a-2", step: "file", uses: 1 });
    expect(screen.listening).toBe(0);
  });

  test("the first is selected, and a number without a row selects nothing else", async () => {
    const { asked } = await watching(new FakeScreen(), [one, two], ["5", "\r", "q"], { answers: storedAnswers(one) });
    expect(asked.slice(1)).toEqual([["approvals.show", { id: "a-1" }]]);
  });

  test("an expired selection is not replaced by the next row", async () => {
    const over = { ...one, state: "expired" as const };
    const { asked } = await watching(new FakeScreen(), [one, two], ["1", over, "a", "r", "\r", "q"], { says: [] });
    expect(asked.map(([name]) => name)).toEqual(["approvals.watch"]);
  });

  test("r refuses with a reason, and not if the person cancels", async () => {
    const answers = storedAnswers(one);
    const { asked } = await watching(new FakeScreen(), [one], ["r", "r", "q"], {
      answers,
      says: ["the number shown", null, "the number shown", "not now"],
    });
    expect(asked.slice(1)).toEqual([["approvals.refuse", { id: "a-1", reason: "not now" }]]);
  });

  test.each([
    "cat package.json\r",
    "ls\r",
    "clear\r",
    "rm -rf build\r",
    "make all\r",
    "a\r\r\r",
    "aexact\r1\ry\r",
    "1\r",
  ])("stray typing answers nothing: %j", async (typed) => {
    // Keys that arrive in one chunk are keys; text typed after a dialog opened is its input.
    const line = typed.replace(/^[^ar]*[ar]/, "").replace(/\r.*$/s, "");
    for (const keys of [
      [typed, "q"],
      [...typed, "q"],
    ]) {
      const says = Array.from({ length: 40 }, () => line);
      const { asked } = await watching(new FakeScreen(), [one], keys, { answers: storedAnswers(one), says });
      expect(asked.filter(([name]) => name === "approvals.approve" || name === "approvals.refuse")).toEqual([]);
    }
  });

  test("a daemon that disconnects restores the terminal", async () => {
    const screen = new FakeScreen();
    const { exit, errors } = await watching(screen, [one], "");
    expect([exit, screen.listening, screen.shown]).toEqual([4, 0, ""]);
    expect(errors).toContain("not_available");
  });
});

test.each<[string, readonly string[]]>([
  ["1aq", ["1", "approve", "quit"]],
  ["\u001b[A\u001b[Bjk", ["up", "down", "down", "up"]],
  ["\u001b[200~a", ["approve"]],
  ["\u001b[1;5q", []],
  ["\u001ba", []],
  ["\u001bOA", ["up"]],
  ["\u0003", ["quit"]],
  ["0xyzA\u0000", []],
  ["constructor", ["show", "refuse", "refuse"]],
])("the keys of %j", (text, keys) => {
  expect(keysOf(text).map((key) => (key.kind === "number" ? String(key.number) : key.kind))).toEqual(keys);
});
