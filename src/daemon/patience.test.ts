import { describe, expect, it } from "vitest";
import { outwait, patienceLeft } from "./patience.ts";

describe("patience", () => {
  it("rings once, and not after it was ended", async () => {
    let [rung, ended] = [0, 0];
    const end = outwait(20, () => ended++);
    await new Promise<void>((done) => {
      outwait(40, () => {
        rung++;
        done();
      });
      end();
    });
    await new Promise((done) => setTimeout(done, 50));
    expect([rung, ended]).toEqual([1, 0]);
  });

  it("time in which nothing ran does not end it", async () => {
    let isRung = false;
    const end = outwait(400, () => {
      isRung = true;
    });
    // As if the process had been suspended.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
    await new Promise((done) => setTimeout(done, 1));
    await new Promise((done) => setImmediate(done));
    expect(isRung).toBe(false);
    end();
  });

  it("is never less than a quarter", () => {
    expect([patienceLeft(400, 0), patienceLeft(400, 200), patienceLeft(400, 900)]).toEqual([400, 200, 100]);
  });
});
