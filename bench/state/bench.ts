// `npm run bench -- state`: durable calls beside plain SQLite, and a log that grows to a million entries and more.
import { type Machine, machine } from "../machine.ts";
import type { Row } from "../row.ts";
import { measureCalls } from "./calls.ts";
import { makeStateGround } from "./ground.ts";
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
  const ground = await makeStateGround();
  try {
    say("calls");
    const calls = await measureCalls(ground);
    say("revocation");
    const revoked = await measureRevocation(ground);
    const growth = await measureGrowth(ground.base, isLong, say);
    const result: StateResult = { bench: "state", machine: before, rows: [...calls, ...revoked, ...growth] };
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : report(result));
  } finally {
    ground.remove();
  }
}

function say(what: string): void {
  process.stderr.write(`bench: ${what}\n`);
}
