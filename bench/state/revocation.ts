// A delegation is revoked while other processes use it: how long until every one of them is denied.
import type { Row } from "../row.ts";
import { OURS } from "./calls.ts";
import { expectValue, GIVER, type StateFixture, TAKER } from "./fixture.ts";
import { Worker } from "./worker.ts";

export const REVOKED = "revocation, until every process is denied";
const roundsCount = 15;
const processesCount = 3;
const underwayMilliseconds = 60;

/** The slowest process of each round. Throws if a call sent after the answer was still allowed. */
export async function measureRevocation(fixture: StateFixture): Promise<readonly Row[]> {
  const { folder, project, control } = fixture;
  const asked = { kind: "daemon", callers: 1, folder, project, agent: TAKER } as const;
  const workers: Worker[] = [];
  const taken: number[] = [];
  try {
    let link = grant(fixture);
    for (let at = 0; at < processesCount; at++) workers.push(await Worker.start(asked));
    for (let round = 0; round < roundsCount; round++) {
      const watching = Promise.all(workers.map((worker) => worker.watch()));
      await new Promise((done) => setTimeout(done, underwayMilliseconds));
      expectValue(await control.ask("links.revoke", { id: link, kill: false }));
      const told = process.hrtime.bigint();
      for (const { denied, asked: last } of await watching) {
        if (BigInt(last) > told) throw new Error("a call was allowed after its delegation was revoked");
        taken.push(Math.max(0, Number(BigInt(denied) - told)));
      }
      link = grant(fixture);
    }
  } finally {
    for (const worker of workers) await worker.end();
  }
  const sorted = taken.sort((left, right) => left - right);
  return [
    { subject: OURS, case: REVOKED, value: sorted.at(-1) ?? Number.NaN, unit: "ns" },
    { subject: OURS, case: `${REVOKED}, median`, value: sorted[sorted.length >> 1] ?? Number.NaN, unit: "ns" },
  ];
}

/** By a separate process: one that opens a session is refused at the control socket. */
function grant({ ambit }: StateFixture): string {
  const input = { agent: TAKER, grants: ["memory.read{keys=[notes/**]}"] };
  const { result } = JSON.parse(ambit("call", GIVER, "agent_grant", JSON.stringify(input), "--json"));
  if (typeof result?.link !== "string") throw new Error("the delegation was denied");
  return result.link;
}
