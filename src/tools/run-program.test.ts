// The way of one program, with every port a fake of the world outside: what runs, what does not, and what is written.
import { describe, expect, test } from "vitest";
import { moment } from "../../test/forge/authority.ts";
import { compile } from "../authority/compiled.ts";
import type { Decision } from "../authority/decision.ts";
import { ALWAYS } from "../authority/link.ts";
import { readCapabilityList } from "../notation/capabilities.ts";
import { Diagnostics } from "../notation/diagnostic.ts";
import { READING, treeOf } from "../notation/notation-fixture.ts";
import { readRequestText } from "../notation/request.ts";
import type { Entry, Outcome } from "../ports/commit.ts";
import type { Ran, RunResult } from "../ports/process.ts";
import type { Plan } from "../sandbox/plan.ts";
import type { ProgramInput, ProgramToolName } from "./program-tools.ts";
import { type ProgramParts, type ProgramResult, runProgram } from "./run-program.ts";

const RAN: Ran = {
  ending: { kind: "exited", status: 0 },
  usage: { wallMicroseconds: 5, userMicroseconds: 1, systemMicroseconds: 1, memoryKibibytes: 1 },
  denials: [],
  enforcement: [],
  outputDropped: 0,
};

interface World {
  readonly entries: Entry[];
  readonly outcomes: Outcome[];
  readonly started: (readonly string[])[];
  readonly judged: Decision[];
  run(grants: readonly string[], tool: ProgramToolName, input: ProgramInput): Promise<ProgramResult>;
}

function world(more: Partial<ProgramParts> = {}, ran: RunResult = { ok: true, ran: RAN }, asks = ""): World {
  const [entries, outcomes]: [Entry[], Outcome[]] = [[], []];
  const [started, judged]: [(readonly string[])[], Decision[]] = [[], []];
  return {
    entries,
    outcomes,
    started,
    judged,
    run: (grants, tool, input) => {
      const reading = { reading: READING, diagnostics: new Diagnostics(), root: ["work"] };
      const held = readCapabilityList(treeOf([...grants, "tool.invoke"]), reading).grants;
      const authority = [
        [compile({ id: "own", role: "own", issuer: "a", holder: "a", grants: held, validity: ALWAYS, calls: null })],
      ] as const;
      const parts: ProgramParts = {
        caller: { agent: "a", authority },
        holds: () => authority,
        owner: { agent: "a", session: "s", generation: 0 },
        ground: READING.ground,
        moment,
        approvals: async () => ({ kind: "pending", approval: "p" }),
        commit: async (entry) => {
          entries.push(entry);
          return { ok: true, receipt: "r1" };
        },
        settle: async (outcome) => {
          outcomes.push(outcome);
          return true;
        },
        plan: () => ({ ok: true, plan: {} as Plan }),
        sandboxes: {
          run: async (_owner, _plan, command, _sinks, judge) => {
            started.push(command.argv);
            const asked = asks === "" ? null : readRequestText(asks, READING);
            if (asked?.ok === true) judged.push(judge(asked.value));
            return ran;
          },
          end: async () => undefined,
        },
        ...more,
      };
      const sinks = { output: () => undefined, errors: () => undefined };
      return runProgram(parts, tool, input, { input: null, sinks, stop: null });
    },
  };
}

const GIT: ProgramInput = { argv: ["git", "log"], in: "/work", root: "ro" };

describe("a program", () => {
  test("that is covered is decided, written, run and settled, in this order and once", async () => {
    const one = world();
    expect(await one.run(["proc.exec{in=/work,cmds=[git]}"], "proc_exec", GIT)).toMatchObject({
      ok: true,
      receipt: "r1",
    });
    expect(one.entries).toMatchObject([{ outcome: "allow", tool: "proc_exec" }]);
    expect(one.started).toEqual([["git", "log"]]);
    expect(one.outcomes).toMatchObject([{ receipt: "r1", ended: "exited 0" }]);
  });

  test.each<[string, readonly string[], ProgramToolName, ProgramInput, string]>([
    ["another program", ["proc.exec{in=/work,cmds=[gti]}"], "proc_exec", GIT, "scope_violation"],
    ["another root", ["proc.exec{in=/other,cmds=[git]}"], "proc_exec", GIT, "scope_violation"],
    ["a root to write in", ["proc.exec{in=/work}"], "proc_exec", { ...GIT, root: "rw" }, "scope_violation"],
    [
      "a shell line",
      ["proc.exec{in=/work}"],
      "proc_eval",
      { line: "ls", in: "/work", root: "ro" },
      "capability_absent",
    ],
    ["a throw-away sandbox", ["proc.exec{in=/work}"], "sandbox_exec", { argv: ["ls"] }, "capability_absent"],
    ["no program", ["proc.exec{in=/work}"], "proc_exec", { argv: [], in: "/work", root: "ro" }, "invalid_input"],
    ["nobody's approval", ["proc.exec{in=/work,ask}"], "proc_exec", GIT, "approval_required"],
  ])("is refused for %s, and nothing is started", async (_, grants, tool, input, code) => {
    const one = world();
    expect(await one.run(grants, tool, input)).toMatchObject({ ok: false, refused: { code } });
    expect(one.started).toEqual([]);
    expect(one.entries.map(({ outcome }) => outcome)).toEqual(["deny"]);
  });

  test.each<[ProgramToolName, string, ProgramInput, readonly string[]]>([
    ["proc_eval", "proc.eval{in=/work}", { line: "a | b", in: "/work", root: "ro" }, ["/bin/sh", "-c", "a | b"]],
    ["sandbox_exec", "sandbox.exec", { argv: ["ls"] }, ["ls"]],
  ])("of %s is run where it is granted", async (tool, grant, input, argv) => {
    const one = world();
    expect(await one.run([grant], tool, input)).toMatchObject({ ok: true });
    expect(one.started).toEqual([argv]);
  });

  test("is not started when the decision cannot be written", async () => {
    const one = world({ commit: async () => ({ ok: false, code: "audit_unavailable" }) });
    const result = await one.run(["proc.exec{in=/work}"], "proc_exec", GIT);
    expect(result).toMatchObject({ ok: false, refused: { code: "audit_unavailable" } });
    expect(one.started).toEqual([]);
  });

  test("that ran without its outcome being written is no success", async () => {
    const one = world({ settle: async () => false });
    const result = await one.run(["proc.exec{in=/work}"], "proc_exec", GIT);
    expect(result).toMatchObject({ ok: false, refused: { code: "audit_unavailable" } });
    expect(one.started).toHaveLength(1);
  });

  test("without a plan or a sandbox is refused, and that is its outcome", async () => {
    const refused = { code: "sandbox_unavailable", message: "no", fix: null } as const;
    const unplanned = world({ plan: () => ({ ok: false, refused }) });
    expect(await unplanned.run(["proc.exec{in=/work}"], "proc_exec", GIT)).toMatchObject({ ok: false, refused });
    expect(unplanned.started).toEqual([]);
    expect(unplanned.outcomes).toMatchObject([{ ended: "refused" }]);
    const unheld = world({}, { ok: false, refused });
    expect(await unheld.run(["proc.exec{in=/work}"], "proc_exec", GIT)).toMatchObject({ ok: false, refused });
    expect(unheld.outcomes).toMatchObject([{ ended: "refused" }]);
  });

  test.each<[string, Decision["outcome"]]>([
    ["net.connect api.example:443", "allow"],
    ["net.connect api.example:444", "deny"],
  ])("is judged again while it runs: %s is %s", async (asks, outcome) => {
    const one = world({}, { ok: true, ran: RAN }, asks);
    await one.run(["proc.exec{in=/work}", "net.connect{hosts=[api.example],ports=[443]}"], "proc_exec", GIT);
    expect(one.judged.map((decision) => decision.outcome)).toEqual([outcome]);
  });
});
