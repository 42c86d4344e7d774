// Attempts on a sandbox that has a network: in a namespace where every address is ours, with the real broker.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleProgram } from "../e2e/bundle.ts";
import type { Executed } from "./ambit.ts";
import { type Attempt, type Outcome, outcomesIn } from "./attempt.ts";
import { NETWORK, UNANSWERED } from "./attempts/network.ts";
import { NETWORK_COLUMN, withoutNamespaces } from "./attempts/without-namespaces.ts";
import { callers } from "./callers.ts";
import { AttackFixture } from "./fixture.ts";
import { GRANTED, GRANTED_PORTS, LEADS } from "./outside-names.ts";

const record = `---\nid: caller\nsandbox: .\ncapabilities:\n  - proc.exec\n  - net.connect: { hosts: [${GRANTED.map((name) => JSON.stringify(name)).join(", ")}], ports: [${GRANTED_PORTS.join(", ")}] }\n---\n`;

let fixture: AttackFixture;
let outside: string;
beforeAll(async () => {
  fixture = new AttackFixture();
  outside = await bundleProgram("test/attack/outside.ts");
});
afterAll(() => {
  fixture.remove();
});

interface NetworkReport {
  readonly reached: readonly string[];
  readonly asked: readonly string[];
}

describe.each([...callers(), ...callers("supervised")])("as $caller, by $backend", (who) => {
  const table = [...NETWORK, ...UNANSWERED];
  const rows = who.backend === "namespaces" ? table : withoutNamespaces(table, who.caller, NETWORK_COLUMN);
  let ran: Executed;
  let outcomes: readonly Outcome[];
  let report: NetworkReport;

  beforeAll(async () => {
    const { scene, ambit } = await fixture.scene(who);
    const at = (path: string): string => join(scene.folder, path);
    writeFileSync(at("root/.ambit/agents/caller.md"), record);
    await ambit.trust();
    const facts = `${readFileSync(at("root/scene"), "utf8")}nameserver=198.18.0.53\nallowed=allowed.test\n${who.backend === "supervised" ? "unreadable=/etc/resolv.conf\n" : ""}`;
    writeFileSync(at("root/scene"), facts);
    const space = process.getuid?.() === 0 ? ["unshare", "-n"] : ["unshare", "-Urn"];
    const before = [...space, process.execPath, outside, at("config/ambit/config.yml"), at("world")];
    const words = [...NETWORK.map(({ word }) => word), "patience=700", ...UNANSWERED.map(({ word }) => word)];
    ran = await ambit.probe(words, { agent: "caller", before });
    outcomes = outcomesIn(ran.output);
    report = JSON.parse(readFileSync(at("world"), "utf8"));
    await scene.end();
  });

  test("the probe ran to its end, and every attempt was made", () => {
    expect(ran).toMatchObject({ outcome: "ran", status: 0, errors: "" });
    expect(outcomes.map(({ attempt }) => attempt)).toEqual(rows.map(({ word }) => word));
    expect(outcomes.filter(({ outcome }) => outcome === "untried")).toEqual([]);
    expect(outcomes.length).toBeGreaterThanOrEqual(95);
  });

  test.each(rows.map((row, at): [string, Attempt, number] => [`${row.tries} (${row.word})`, row, at]))(
    "%s",
    (_title, row, at) => {
      const { outcome, how, detail } = outcomes[at] as Outcome;
      expect({ outcome, how: row.how.includes(how) ? row.how : how, detail }).toEqual({
        outcome: row.by === "unblocked" ? "open" : "blocked",
        how: row.how,
        detail,
      });
    },
  );

  test("only the granted names were reached, at the granted ports", () => {
    const places = LEADS["allowed.test"]?.flat().flatMap((one) => GRANTED_PORTS.map((port) => `::ffff:${one}/${port}`));
    expect([...new Set(report.reached)].sort()).toEqual([...(places ?? [])].sort());
  });

  test("no name that is not granted was looked up: data in names does not leave", () => {
    const granted = report.asked.filter((name) => GRANTED.includes(name) || name === "one.wild.test");
    expect(report.asked).toEqual(granted);
    expect(report.asked).not.toContain("evil.test");
  });

  test("denials are reported with their code", () => {
    const told = new Set(ran.denials?.map(({ code, request }) => `${code} ${request}`));
    for (const one of [
      "scope_violation net.connect evil.test:443",
      "scope_violation net.connect evil.test:80",
      "scope_violation net.connect 93.184.215.14:80",
      "scope_violation net.connect allowed.test:22",
      "address_refused net.connect loopback.test:80 address=127.0.0.1",
      "address_refused net.connect rebinding.test:80 address=127.0.0.1",
      "invalid_input net.connect 'allowed.test\\x00:443'",
    ])
      expect(told).toContain(one);
  });
});
