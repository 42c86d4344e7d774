import { describe, expect, it } from "vitest";
import { pause, pauseThread } from "../../test/house/pause.ts";
import { startTimeout, timeoutLeft } from "./timeout.ts";

describe("a timeout", () => {
  it("fires once, and not after it was cancelled", async () => {
    let [rung, ended] = [0, 0];
    const end = startTimeout(20, () => ended++);
    await new Promise<void>((done) => {
      startTimeout(40, () => {
        rung++;
        done();
      });
      end();
    });
    await pause(50, "a second call would come by then");
    expect([rung, ended]).toEqual([1, 0]);
  });

  it("does not fire for time in which nothing ran", async () => {
    let isRung = false;
    const end = startTimeout(1_000, () => {
      isRung = true;
    });
    // As if the process had been suspended. A quarter of the timeout is left then.
    pauseThread(1_100, "the process is suspended for longer than the timeout");
    await pause(1, "timers that are due are called");
    await new Promise((done) => setImmediate(done));
    expect(isRung).toBe(false);
    end();
  });

  it("is never less than a quarter", () => {
    expect([timeoutLeft(400, 0), timeoutLeft(400, 200), timeoutLeft(400, 900)]).toEqual([400, 200, 100]);
  });
});
