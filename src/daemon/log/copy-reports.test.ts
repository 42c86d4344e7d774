import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CopyReports } from "./copy-reports.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function listening(): { readonly telling: CopyReports; readonly told: string[] } {
  const told: string[] = [];
  const telling = new CopyReports({
    changed: (isLate, problem) => told.push(isLate ? `late ${problem}` : "well"),
    wentBack: (from, to) => told.push(`back ${from} ${to}`),
  });
  return { telling, told };
}

describe("log entries about the copy", () => {
  it("once each", () => {
    const { telling, told } = listening();
    telling.well();
    telling.late("full");
    telling.late("full");
    telling.well();
    telling.wentBack(9, 4);
    expect(told).toEqual(["late full", "well", "back 9 4"]);
  });

  it("a copy that falls behind a thousand times is reported a few times, and then once a minute, always in pairs", () => {
    const { telling, told } = listening();
    const flap = (): void => {
      for (let round = 0; round < 1000; round++) {
        telling.late(null);
        telling.wentBack(round + 1, round);
        telling.well();
      }
    };
    flap();
    expect(told.length).toBeLessThanOrEqual(12);
    const before = told.length;
    vi.advanceTimersByTime(60_000);
    flap();
    expect(told.length - before).toBeLessThanOrEqual(2);
    expect(told.filter((one) => one === "well")).toHaveLength(told.filter((one) => one === "late null").length);
  });

  it("a withheld report is made later, if it is still true", () => {
    const { telling, told } = listening();
    for (let round = 0; round < 10; round++) {
      telling.late(null);
      telling.well();
    }
    const before = told.length;
    telling.late("gone");
    telling.wentBack(9, 4);
    telling.wentBack(7, 2);
    expect(told).toHaveLength(before);
    vi.advanceTimersByTime(120_000);
    expect(told.slice(before)).toEqual(["back 9 2", "late gone"]);
    telling.close();
    vi.advanceTimersByTime(600_000);
    expect(told).toHaveLength(before + 2);
  });
});
