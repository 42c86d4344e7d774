// The cost of a hostile workspace: work is counted, not timed, and grows with its size and no faster.

import { describe, expect, test } from "vitest";
import { agentOf, probeOf } from "../../test/doctor/probe.ts";
import { sizeFor } from "../../test/house/long.ts";
import type { Grant } from "../core/authority/grant.ts";
import { examine } from "./examine.ts";
import type { ProbeAgent } from "./probe.ts";

const RECORD = [
  "sandbox: .",
  "capabilities:",
  "  - records.read",
  '  - net.get{hosts=["*"]}',
  "  - net.get{hosts=[a.x.com]}",
  "  - net.post{hosts=[x.com]}",
  "  - agent.grant",
  "  - fs.write{in=/w,paths=[a/**,b/**]}",
  "  - net.gte",
].join("\n");

interface Counter {
  reads: number;
}

/** Counts how often the scopes of a grant are read: every check has to. */
function counted(agent: ProbeAgent, counter: Counter): ProbeAgent {
  const grants = agent.grants.map(
    (grant): Grant =>
      Object.defineProperty({ ...grant }, "scopes", {
        enumerable: true,
        get: () => {
          counter.reads++;
          return grant.scopes;
        },
      }),
  );
  return { ...agent, grants };
}

function many(agent: ProbeAgent): readonly ProbeAgent[] {
  return Array.from({ length: sizeFor(3_000, 10_000) }, (_, at) => ({ ...agent, id: `agent-${at}` }));
}

function workOf(agents: readonly ProbeAgent[]): number {
  const counter: Counter = { reads: 0 };
  examine(probeOf(agents.map((agent) => counted(agent, counter))));
  return counter.reads;
}

describe("the work for a workspace", () => {
  test("grows with its agents, to thousands of them", { timeout: 60_000 }, () => {
    const agents = many(agentOf(RECORD));
    const hundred = workOf(agents.slice(0, 100));
    expect(hundred).toBeGreaterThan(100);
    expect(workOf(agents.slice(0, 1_000))).toBe(hundred * 10);
    expect(workOf(agents)).toBe((hundred * agents.length) / 100);
  });

  test("of one agent with very many grants stays limited", { timeout: 60_000 }, () => {
    const lines = (count: number): string =>
      `capabilities:\n${Array.from({ length: count }, (_, at) => `  - net.get{hosts=[h${at}.x.com]}`).join("\n")}`;
    const [small, large] = [workOf([agentOf(lines(4_000))]), workOf([agentOf(lines(8_000))])];
    expect(large).toBeLessThan(small * 2.5);
  });
});
