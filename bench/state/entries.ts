// Entries as the daemon writes them for an allowed call, by many agents and users over many days.

import type { AccountCharge } from "../../src/core/ports/stores/ledger.ts";
import type { LogEntry } from "../../src/core/ports/stores/log.ts";
import { IdGenerator } from "../../src/daemon/ids.ts";

/** As the daemon names them. */
const names = new IdGenerator();
const noon = 1_767_225_600_000;
const agentsCount = 50;
const usersCount = 20;
const sessionsCount = 2_000;
/** One in this many is denied, and one in this many contains a rare word. */
const deniedEvery = 20;
export const rareEvery = 50_000;
export const RARE = "heliotrope";
const VERBS = ["memory.read", "net.get", "fs.read", "proc.exec", "fs.write"];

/** For callers: always the same, but for its id. */
export function entryOf(): LogEntry {
  return numberedEntry(1);
}

export function numberedEntry(at: number): LogEntry {
  const isDenied = at % deniedEvery === 0;
  const verb = VERBS[at % VERBS.length] ?? "memory.read";
  const agent = `agent-${at % agentsCount}`;
  const request = `${verb} notes/${at % 10_000}${at % rareEvery === 0 ? `/${RARE}` : ""}`;
  return {
    id: names.id("c"),
    kind: "decision",
    at: noon + at * 250,
    user: `user-${at % usersCount}`,
    agent,
    workspace: "/home/user/project",
    chain: [],
    session: `s_${at % sessionsCount}`,
    trace: `t_${at % sessionsCount}`,
    tool: verb.replace(".", "_"),
    verbs: ["tool.invoke", verb],
    outcome: isDenied ? "deny" : "allow",
    code: isDenied ? "scope_violation" : null,
    of: null,
    more: {
      requests: [`tool.invoke ${verb.replace(".", "_")}`, request],
      need: null,
      suggest: null,
      by: [
        {
          link: `record /home/user/project#${agent}`,
          grant: `${verb}{keys=[notes/**],calls=1000000000}`,
          at: `${agent}.md:3`,
        },
      ],
      approval: null,
      reason: null,
      level: 0,
    },
  };
}

export function chargeOf(): AccountCharge {
  const account = "record /home/user/project#agent-1 memory.read";
  return { account, calls: 1_000_000_000, rate: null, tokens: null, money: null, family: account, written: [account] };
}
