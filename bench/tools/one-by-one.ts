// One call after another, each timed alone, for the median.
import type { Contender } from "../sandbox/turns.ts";

/** `count`: of one turn. A single call is too short to be distinguished from what came before it. */
export function oneByOne(subject: string, count: number, work: (at: number) => Promise<void> | void): Contender {
  return {
    subject,
    turn: async () => {
      const taken: number[] = [];
      for (let at = 0; at < count; at++) {
        const before = process.hrtime.bigint();
        const working = work(at);
        if (working instanceof Promise) await working;
        taken.push(Number(process.hrtime.bigint() - before));
      }
      return taken;
    },
  };
}

/** CPU of this process for one of many, so that other load does not count. */
export function byCpu(subject: string, count: number, work: (at: number) => Promise<void> | void): Contender {
  return {
    subject,
    turn: async () => {
      const before = process.cpuUsage();
      for (let at = 0; at < count; at++) {
        const working = work(at);
        if (working instanceof Promise) await working;
      }
      const { user, system } = process.cpuUsage(before);
      return [((user + system) * 1000) / count];
    },
  };
}
