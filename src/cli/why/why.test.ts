// Why something was decided: from the entry alone, and from related entries.
import { describe, expect, test } from "vitest";
import { chainedEntries, run } from "../../../test/audit/log-command.ts";
import { entryOf } from "../../../test/audit/written-log.ts";

describe("why", () => {
  const denied = entryOf(1, {
    outcome: "deny",
    code: "scope_violation",
    chain: ["l1", "l2"],
    more: {
      requests: ["fs.read /etc/passwd"],
      need: "fs.read /etc/passwd",
      suggest: "fs.read{in=/etc,paths=[passwd]}",
      by: [],
      left: [],
    },
  });
  const allowed = entryOf(2, {
    more: {
      requests: ["net.get https://x.com/"],
      by: [
        { link: "scout", grant: "net.get{hosts=[x.com]}", at: "scout.md:4" },
        { link: "l1", grant: "net.get{hosts=[*]}", at: null },
      ],
      left: [{ account: "calls", left: 4 }],
      approval: "a77",
      suggest: null,
      level: 1,
    },
  });
  const ended = entryOf(3, {
    kind: "outcome",
    of: allowed.id,
    more: { ended: "exited 0", milliseconds: 8, enforcement: [{ axis: "network", strength: "broker" }] },
  });
  const counted = entryOf(4, {
    kind: "suppressed",
    of: denied.id,
    outcome: "deny",
    code: "scope_violation",
    more: { times: 12 },
  });

  test("of a denial prints the code's sentence, the smallest grant and the command", async () => {
    const { out, exit } = await run({ entries: chainedEntries(denied, allowed, ended, counted) }, "why", "c000001");
    expect(out).toBe(`deny scope_violation  c000001  2023-11-14 22:13:20Z
  who       agent scout of /w for ann in session s1
  chain     l1 > l2
  tool      read_file
  requests  fs.read /etc/passwd
  means     A grant names this verb, but its scope does not cover the request.
            Look at the nearest grant and the axis on which it does not match. Widen that axis, or add the smallest grant.
  repeated  12 more times, counted until 2023-11-14 22:13:20Z
  fix       smallest grant that would allow it: fs.read{in=/etc,paths=[passwd]}
            ambit agents grant --from c000001
`);
    expect(exit).toBe(0);
  });

  test.each([
    ["net.get http://169.254.169.254/", true],
    ["net.get http://[fd00:ec2::254]/", true],
    ["net.connect 10.1.2.3:5432", true],
    ["net.get http://127.0.0.1:8080/", false],
    ["net.get https://example.com/", false],
  ])("of %s proposes no grant for an address that is not public: %s", async (need, isSpecial) => {
    const entry = entryOf(1, { outcome: "deny", code: "scope_violation", more: { requests: [need], need } });
    const { out } = await run({ entries: chainedEntries(entry) }, "why", "c000001");
    expect(out.includes("this address is not public, so no grant is proposed")).toBe(isSpecial);
  });

  test("of an allow prints the deciding lines, the approval, the outcome and the remaining budget", async () => {
    const { out } = await run({ entries: chainedEntries(denied, allowed, ended) }, "why", "c000002");
    expect(out).toBe(`allow  c000002  2023-11-14 22:13:20Z
  who       agent scout of /w for ann in session s1
  tool      read_file
  requests  net.get https://x.com/
  by        net.get{hosts=[x.com]}  scout.md:4  (scout)
            net.get{hosts=[*]}  not from a file  (l1)
  approval  a77
  outcome   exited 0 in 8 ms
            enforced by: network broker
  budgets   calls: 4 left
`);
  });

  test("of an allow without an outcome says that", async () => {
    expect((await run({ entries: chainedEntries(allowed) }, "why", "c000002")).out).toContain(
      "unknown: no outcome was logged",
    );
    expect((await run({ entries: chainedEntries(denied) }, "why", "c000001")).out).not.toContain("unknown");
    const { out } = await run({ entries: chainedEntries(allowed) }, "why", "c000002", "--json");
    expect(JSON.parse(out)).toMatchObject({ outcome: "unknown", command: null, place: 1 });
  });

  test("of an outcome or a count explains its decision", async () => {
    const entries = chainedEntries(denied, allowed, ended, counted);
    expect((await run({ entries }, "why", "c000003")).out).toMatch(/^allow {2}c000002/);
    expect((await run({ entries }, "why", "c000004")).out).toMatch(/^deny scope_violation {2}c000001/);
    expect((await run({ entries: chainedEntries(ended) }, "why", "c000003")).out).toContain("exited 0 in 8 ms");
  });

  test("as JSON has the sentence and the command", async () => {
    const { out } = await run({ entries: chainedEntries(denied) }, "why", "c000001", "--json");
    expect(JSON.parse(out)).toMatchObject({
      entry: { id: "c000001" },
      means: expect.stringContaining("its scope does not cover"),
      suggest: "fs.read{in=/etc,paths=[passwd]}",
      command: "ambit agents grant --from c000001",
      outcome: null,
    });
  });

  test.each([
    ["c999", 1, /unknown_entry/],
    ["", 2, /an id has only/],
    ["--x y", 2, /an id has only/],
    ["x".repeat(200), 2, /an id has only/],
  ])("of an unknown id is an error: %s", async (id, exit, what) => {
    const told = await run({ entries: chainedEntries(denied) }, "why", "--", id);
    expect(told.exit).toBe(exit);
    expect(told.err).toMatch(what);
  });
});
