// `npm run bench -- state`: durable calls beside plain SQLite, and a log that grows to a million entries and more.
import { type Machine, machine } from "../machine.ts";
import type { Row } from "../row.ts";
import { measureCalls } from "./calls.ts";
import { makeStateFixture } from "./fixture.ts";
import { measureGrowth } from "./growth.ts";
import { report } from "./report.ts";
import { measureRevocation } from "./revocation.ts";

export interface StateResult {
  readonly bench: "state";
  readonly machine: Machine;
  readonly rows: readonly Row[];
}

export async function stateBench(json: boolean, isLong: boolean): Promise<void> {
  const before = machine();
  const fixture = await makeStateFixture();
  try {
    say("calls");
    const calls = await measureCalls(fixture);
    say("revocation");
    const revoked = await measureRevocation(fixture);
    const growth = await measureGrowth(fixture.base, isLong, say);
    const result: StateResult = { bench: "state", machine: before, rows: [...calls, ...revoked, ...growth] };
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : report(result));
  } finally {
    fixture.remove();
  }
}

function say(what: string): void {
  process.stderr.write(`bench: ${what}\n`);
}
