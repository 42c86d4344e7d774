// The execution of one decided program, with fake ports: what runs, and what does not.
import { describe, expect, test } from "vitest";
import { moment } from "../../../test/forge/authority.ts";
import { compile } from "../../core/authority/compiled.ts";
import type { Decision } from "../../core/authority/decision.ts";
import { judge as judgeOf } from "../../core/authority/judge.ts";
import { ALWAYS } from "../../core/authority/link.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { readCapabilityList } from "../../core/notation/record/capabilities.ts";
import { readRequestText } from "../../core/notation/request/request.ts";
import { READING, treeOf } from "../../core/notation/testing/notation.ts";
import type { CompletedRun, RunResult } from "../../core/ports/process.ts";
import type { Plan } from "../../sandbox/plan/plan.ts";
import { type ProgramParts, runProgram } from "./run-program.ts";

const RAN: CompletedRun = {
  ending: { kind: "exited", status: 0 },
  usage: { wallMicroseconds: 5, userMicroseconds: 1, systemMicroseconds: 1, memoryKibibytes: 1 },
  denials: [],
  enforcement: [],
  outputDropped: 0,
  draft: null,
};

interface Fixture {
  readonly started: (readonly string[])[];
  readonly judged: Decision[];
  run(grants: readonly string[], asked: string, argv: readonly [string, ...string[]]): Promise<RunResult>;
}

function fixture(more: Partial<ProgramParts> = {}, ran: RunResult = { ok: true, ran: RAN }, asks = ""): Fixture {
  const [started, judged]: [(readonly string[])[], Decision[]] = [[], []];
  return {
    started,
    judged,
    run: (grants, text, argv) => {
      const reading = { reading: READING, diagnostics: new Diagnostics(), root: ["work"] };
      const held = readCapabilityList(treeOf([...grants]), reading).grants;
      const authority = [
        [compile({ id: "own", role: "own", issuer: "a", holder: "a", grants: held, validity: ALWAYS, calls: null })],
      ] as const;
      const request = readRequestText(text, READING);
      if (!request.ok) throw new Error(request.message);
      const decision = judgeOf(authority, request.value, moment());
      if (decision.outcome !== "allow") throw new Error("the row is not covered");
      const parts: ProgramParts = {
        holds: () => authority,
        owner: { agent: "a", session: "s", generation: 0 },
        moment,
        plan: () => ({ ok: true, plan: {} as Plan }),
        refusal: () => null,
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
      return runProgram(parts, { request: request.value, by: decision.by }, { argv, input: null }, sinks, null);
    },
  };
}

const ASKED = "proc.exec -- git log";
const GIT = ["git", "log"] as const;

describe("a program", () => {
  test("with a plan is run once, with its own arguments", async () => {
    const one = fixture();
    expect(await one.run(["proc.exec{in=/work,cmds=[git]}"], ASKED, GIT)).toMatchObject({ ok: true, ran: RAN });
    expect(one.started).toEqual([["git", "log"]]);
  });

  test("without a plan or a sandbox is refused", async () => {
    const refused = { code: "sandbox_unavailable", message: "no", fix: null } as const;
    const unplanned = fixture({ plan: () => ({ ok: false, refused }) });
    expect(await unplanned.run(["proc.exec{in=/work}"], ASKED, GIT)).toMatchObject({ ok: false, refused });
    expect(unplanned.started).toEqual([]);
    const unheld = fixture({}, { ok: false, refused });
    expect(await unheld.run(["proc.exec{in=/work}"], ASKED, GIT)).toMatchObject({ ok: false, refused });
  });

  test.each<[string, Decision["outcome"]]>([
    ["net.connect api.example:443", "allow"],
    ["net.connect api.example:444", "deny"],
  ])("is decided again while it runs: %s is %s", async (asks, outcome) => {
    const one = fixture({}, { ok: true, ran: RAN }, asks);
    await one.run(["proc.exec{in=/work}", "net.connect{hosts=[api.example],ports=[443]}"], ASKED, GIT);
    expect(one.judged.map((decision) => decision.outcome)).toEqual([outcome]);
  });

  test("is refused what no grant gives", async () => {
    const one = fixture({ refusal: () => "address_refused" }, { ok: true, ran: RAN }, "net.connect api.example:443");
    await one.run(["proc.exec{in=/work}", "net.connect{hosts=[api.example],ports=[443]}"], ASKED, GIT);
    expect(one.judged).toEqual([{ outcome: "deny", code: "address_refused", at: null }]);
  });
});
