// `ambit approvals` and `ambit approve`: the output, the prompts, the requests, the exit status.
import { describe, expect, test } from "vitest";
import { approvalOf } from "../../approvals/testing/approval.ts";
import { done, NOW, type Ran, ran, refusal, type Setting, storedAnswers } from "../testing/approvals.ts";
import { lengthText } from "./text.ts";

/** Terminal control sequences, and everything else that would not show. */
const HIDDEN = /(?![\n ])[\p{C}\p{Zl}\p{Zp}\u200b\u3164]/u;

const HOSTILE = approvalOf({
  who: {
    user: "ann\u001b[2J",
    agent: "scout\u202e",
    workspace: "/w\n/x",
    chain: ["l\u009b1m"],
    session: "s\u0007",
    trace: "t\r",
  },
  tool: "tool\u001b]0;title\u0007",
  arguments: { "k\u001b[A": "approve\u001b[1A\u001b[2Kharmless", list: ["\u2066x\u2069", "a\u200bb"] },
  requests: ["fs.write /work/p/\u202egpj.sh", "made.up\u001b[31m x"],
  asking: ["fs.write /work/p/\u202egpj.sh"],
});

describe("list", () => {
  test("is one line each, with the remaining time", async () => {
    const { out, exit, asked, closed } = await ran(["approvals", "list"], { answers: storedAnswers() });
    expect(out).toBe("a-1  pending  scout  fs_write  fs.write /work/p/a.txt  60 min left");
    expect([exit, closed]).toEqual([0, 1]);
    expect(asked).toEqual([
      ["approvals.list", { states: ["pending", "approved", "executing", "indeterminate"], count: 100 }],
    ]);
  });

  test("names missing approvers, the number of requests, and that it has expired", async () => {
    const approval = { ...approvalOf({ approvers: { need: 2, of: null } }), times: 3, expires: NOW };
    const { out } = await ran(["approvals", "list"], {
      answers: { "approvals.list": () => done({ approvals: [approval] }) },
    });
    expect(out).toContain("2 of 2 approvers missing  asked 3 times  expired");
  });

  test("reports that nothing is pending, and returns JSON on request", async () => {
    const answers = { "approvals.list": () => done({ approvals: [] }) };
    expect((await ran(["approvals", "list"], { answers })).out).toBe("no pending approvals");
    expect((await ran(["approvals", "list", "--json"], { answers })).out).toBe('{"approvals":[]}');
  });

  test("requests the given states, and refuses others", async () => {
    const states = async (...words: readonly string[]): Promise<unknown> =>
      (
        (await ran(["approvals", "list", ...words], { answers: storedAnswers() })).asked[0]?.[1] as
          | { states?: unknown }
          | undefined
      )?.states;
    expect(await states("--state", "refused,done")).toEqual(["refused", "done"]);
    expect(await states("--all")).toHaveLength(8);
    for (const words of [
      ["--state", "gone"],
      ["--count", "0"],
      ["--count", "x"],
      ["--count", "1001"],
    ])
      expect((await ran(["approvals", "list", ...words], { answers: storedAnswers() })).exit).toBe(2);
  });
});

describe("show", () => {
  test("prints the agent, the whole call, its risk, the ladder and the time", async () => {
    const { out, exit } = await ran(["approvals", "show", "a-1"], { answers: storedAnswers() });
    expect(exit).toBe(0);
    expect(out).toBe(
      [
        "a-1  pending",
        "  asked    1970-01-01 00:16:40Z",
        "  expires  1970-01-01 01:16:40Z, in 60 min",
        "  user          ann",
        "  agent         scout",
        "  workspace     /work/p",
        "  session       s-1",
        "call",
        "  tool          fs_write",
        '  path          "a.txt"',
        '  content       "x"',
        "needs",
        "  medium  tool.invoke fs_write  call tools, granted",
        "  high    fs.write /work/p/a.txt  write files, asks",
        "people",
        "  one person",
        "scopes an approval can have",
        "  1  exact   exactly this call",
        "  2  file    this file",
        "             fs.write{in=/work/p,paths=[a.txt]}",
        "  3  folder  this folder",
        "             fs.write{in=/work/p,paths=[*]}",
      ].join("\n"),
    );
  });

  test("before an answer it is a card of at most 80 columns and 18 rows, with the whole call", async () => {
    const { out } = await ran(["approve", "a-1", "--yes"], { answers: storedAnswers() });
    const card = out.split("\n").slice(0, out.split("\n").findIndex((line) => line.startsWith("more: ")) + 1);
    expect(card).toEqual([
      "a-1  pending  expires in 60 min",
      "  user          ann",
      "  agent         scout",
      "  workspace     /work/p",
      "  tool          fs_write",
      '  path          "a.txt"',
      '  content       "x"',
      "needs, besides 1 that is granted",
      "  high    fs.write /work/p/a.txt  write files, asks",
      "scopes an approval can have",
      "  1  exact   exactly this call",
      "  2  file    this file",
      "  3  folder  this folder",
      "more: ambit approvals show a-1",
    ]);
  });

  test.each([["list"], ["show", "a-1"], ["show", "a-1", "--full"], ["approve", "a-1", "--yes"]])(
    "%s %s: an agent's text has no terminal control or hidden characters",
    async (...words) => {
      const { out, errors } = await ran(["approvals", ...words], { answers: storedAnswers(HOSTILE) });
      expect(out).toContain("a-1");
      expect(out).not.toMatch(HIDDEN);
      expect(errors).not.toMatch(HIDDEN);
    },
  );

  test("hidden characters are escaped", async () => {
    const { out } = await ran(["approvals", "show", "a-1"], { answers: storedAnswers(HOSTILE) });
    for (const text of [
      String.raw`ann\u{1b}[2J`,
      String.raw`scout\u{202e}`,
      String.raw`/w\u{a}/x`,
      String.raw`"k\u001b[A"`,
      String.raw`"approve\u001b[1A\u001b[2Kharmless"`,
      String.raw`high    fs.write /work/p/\u{202e}gpj.sh`,
      String.raw`high    made.up\u{1b}[31m x`,
      "invisible characters are shown as escapes",
    ])
      expect(out).toContain(text);
  });

  test("returns JSON, and reports an unknown id", async () => {
    const { out } = await ran(["approvals", "show", "a-1", "--json"], { answers: storedAnswers() });
    expect(JSON.parse(out)).toMatchObject({
      approval: { id: "a-1" },
      ladder: [{ name: "exact", specs: null }, {}, {}],
    });
    const missing = await ran(["approvals", "show", "nothing"], { answers: storedAnswers() });
    expect([missing.exit, missing.errors]).toEqual([1, "error: unknown_approval: no\n  fix: ambit approvals list"]);
  });
});

describe("approve", () => {
  const sent = (words: readonly string[], says: readonly (string | boolean | null)[] | null, approval = approvalOf()) =>
    ran(["approve", "a-1", ...words], { answers: storedAnswers(approval), ...(says === null ? {} : { says }) });

  test("--yes is exactly this call, once", async () => {
    const { exit, asked, out } = await sent(["--yes"], null);
    expect(exit).toBe(0);
    expect(asked.at(-1)).toEqual([
      "approvals.approve",
      { id: "a-1", step: "exact", uses: 1, milliseconds: 1_800_000, presence: null },
    ]);
    expect(out).toContain("approved a-1: 1 use, 30 min");
  });

  test.each([
    [["--yes", "--step", "folder", "--uses", "5", "--for", "2h"], { step: "folder", uses: 5, milliseconds: 7_200_000 }],
    [["--yes", "--step", "2"], { step: "file", uses: 1, milliseconds: 1_800_000 }],
    [["--yes", "--step", "1"], { step: "exact" }],
  ])("%j", async (words, wanted) => {
    expect((await sent(words, null)).asked.at(-1)?.[1]).toMatchObject(wanted);
  });

  test.each([
    [["--yes", "--step", "program"], 2],
    [["--yes", "--step", "0"], 2],
    [["--yes", "--step", "4"], 2],
    [["--yes", "--uses", "0"], 2],
    [["--yes", "--uses", "1001"], 2],
    [["--yes", "--uses", "1e2"], 2],
    [["--yes", "--uses", "-1"], 2],
    [["--yes", "--for", "9h"], 2],
    [["--yes", "--for", "soon"], 2],
    [[], 2],
    [["--step", "exact"], 2],
    [["--json"], 2],
  ])("%j without a terminal sends nothing", async (words, code) => {
    const { exit, asked } = await sent(words, null);
    expect(exit).toBe(code);
    expect(asked.map(([name]) => name)).not.toContain("approvals.approve");
  });

  test("on a terminal the whole request is shown before any prompt", async () => {
    const { out, questions, asked, exit } = await sent([], ["folder x10", "the number shown"]);
    expect(out.indexOf("scopes an approval can have")).toBeGreaterThan(0);
    expect(questions).toEqual([
      expect.stringMatching(/^Which step\?/),
      expect.stringMatching(/^Type \d{4} to approve folder, 10 uses, 30 min; any other input cancels$/),
    ]);
    expect(asked.at(-1)?.[1]).toMatchObject({ step: "folder", uses: 10, milliseconds: 1_800_000 });
    expect(exit).toBe(0);
  });

  test.each([
    [[""]],
    [[null]],
    [["y"]],
    [["yes"]],
    [["0"]],
    [["4"]],
    [["exact now"]],
    [["exact x0"]],
    [["exact x1001"]],
    [["cat package.json"]],
    [["exact", ""]],
    [["exact", null]],
    [["exact", "y"]],
    [["exact", "exact"]],
    [["1", "1"]],
    [["1", "00000"]],
  ])("answering %j approves nothing", async (says) => {
    const { exit, asked, out } = await sent([], says);
    expect(exit).toBe(11);
    expect(out).toContain("nothing was approved");
    expect(asked.map(([name]) => name)).toEqual(["approvals.show"]);
  });

  test("options on the command line are confirmed once", async () => {
    const yes = await sent(["--step", "file", "--uses", "2"], ["the number shown"]);
    expect(yes.questions).toEqual([expect.stringMatching(/^Type \d{4} to approve file, 2 uses, 30 min;/)]);
    expect(yes.asked.at(-1)?.[1]).toMatchObject({ step: "file", uses: 2 });
    expect((await sent(["--step", "file", "--uses", "2"], ["y"])).exit).toBe(11);
  });

  test("a request that needs presence takes the passphrase, from the terminal alone", async () => {
    const level2 = approvalOf({ level: 2 });
    const typed = await sent(["--yes"], ["correct horse"], level2);
    expect(typed.questions).toEqual(["Passphrase of ann"]);
    expect(typed.asked.at(-1)?.[1]).toMatchObject({ presence: { name: "ann", passphrase: "correct horse" } });
    expect(typed.exit).toBe(0);
    expect(typed.out + typed.errors).not.toContain("correct horse");
    const blind = await sent(["--yes"], null, level2);
    expect([blind.exit, blind.asked.length]).toEqual([2, 1]);
    expect((await sent(["--yes"], [""], level2)).asked.map(([name]) => name)).not.toContain("approvals.approve");
    expect((await sent(["--yes", "--presence", "b\u202eb"], ["x"], level2)).exit).toBe(2);
  });

  test("the person chooses from several names, and none is reported as missing", async () => {
    const level2 = approvalOf({ level: 2 });
    const several = { ...storedAnswers(level2), "presence.list": () => done({ names: ["ann", "bob"] }) };
    const { asked, questions } = await ran(["approve", "a-1", "--yes"], {
      answers: several,
      says: ["bob", "secret words"],
    });
    expect(questions).toEqual(["Who are you?", "Passphrase of bob"]);
    expect(asked.at(-1)?.[1]).toMatchObject({ presence: { name: "bob" } });
    const unnamed = { ...storedAnswers(level2), "presence.list": () => done({ names: [] }) };
    const none = await ran(["approve", "a-1", "--yes"], { answers: unnamed, says: [] });
    expect(none.exit).toBe(1);
    expect(none.errors).toContain("ambit presence set NAME");
  });

  test("if the daemon's configuration requires presence, it is confirmed once", async () => {
    const wanting = (): Setting["answers"] => {
      const kept = storedAnswers();
      return {
        ...kept,
        "approvals.approve": (value, along) =>
          value.presence === null
            ? refusal("presence_required", "your configuration says so")
            : (kept["approvals.approve"]?.(value, along) ?? refusal("not_available")),
      };
    };
    const answersSent = ({ asked }: Ran): number => asked.filter(([name]) => name === "approvals.approve").length;
    const typed = await ran(["approve", "a-1", "--yes"], { answers: wanting() ?? {}, says: ["secret words"] });
    expect([typed.exit, answersSent(typed)]).toEqual([0, 2]);
    const blind = await ran(["approve", "a-1", "--yes"], { answers: wanting() ?? {} });
    expect([blind.exit, answersSent(blind)]).toEqual([4, 1]);
    const always = { ...storedAnswers(), "approvals.approve": () => refusal("presence_required") };
    const twice = await ran(["approve", "a-1", "--yes"], { answers: always, says: ["x"] });
    expect([twice.exit, answersSent(twice)]).toEqual([4, 2]);
  });

  test("the first of two people leaves it pending, and the output says so", async () => {
    const two = approvalOf({ approvers: { need: 2, of: null } });
    const { exit, out } = await sent(["--yes"], ["secret words"], two);
    expect(exit).toBe(11);
    expect(out).toContain("agreed: one more person must approve");
    expect(out).toContain("2 different people, each with their passphrase");
    const data = await sent(["--yes", "--json"], ["secret words"], two);
    expect(JSON.parse(data.out)).toMatchObject({ approval: { state: "pending" }, missing: 1 });
  });

  test("an expired one is not approved", async () => {
    const over = { ...approvalOf(), state: "expired" as const };
    const { exit, asked } = await sent(["--yes"], null, over);
    expect([exit, asked.length]).toEqual([12, 1]);
    expect((await sent(["--yes"], null, { ...approvalOf(), state: "refused" })).exit).toBe(1);
    const late = { ...storedAnswers(), "approvals.approve": () => refusal("expired", "the approval has expired") };
    expect((await ran(["approve", "a-1", "--yes"], { answers: late })).exit).toBe(12);
  });

  test("has the same words in both places", async () => {
    const { exit } = await ran(["approvals", "approve", "a-1", "--yes"], { answers: storedAnswers() });
    expect(exit).toBe(0);
  });

  test("an unreachable or refusing daemon has its own exit status", async () => {
    const gone = await ran(["approve", "a-1", "--yes"], { unreachable: refusal("not_available", "no daemon") });
    expect([gone.exit, gone.errors]).toEqual([4, "error: not_available: no daemon"]);
    const not = { ...storedAnswers(), "approvals.approve": () => refusal("control_refused", "of a session\u001b[2J") };
    const refused = await ran(["approve", "a-1", "--yes", "--json"], { answers: not });
    expect(refused.exit).toBe(4);
    expect(JSON.parse(refused.out)).toMatchObject({ ok: false, code: "control_refused" });
    expect(refused.closed).toBe(1);
  });
});

describe("refuse", () => {
  test("sends the reason, and can revoke an approval", async () => {
    const { exit, asked, out } = await ran(["approvals", "refuse", "a-1", "--reason", "use staging"], {
      answers: storedAnswers(),
    });
    expect([exit, out]).toEqual([0, "refused a-1"]);
    expect(asked).toEqual([["approvals.refuse", { id: "a-1", reason: "use staging" }]]);
    const over = await ran(["approvals", "refuse", "a-1"], {
      answers: storedAnswers({ ...approvalOf(), state: "done" }),
    });
    expect([over.exit, over.errors]).toEqual([1, "error: not_pending: the approval is already done"]);
  });
});

test.each([
  [0, "0 s"],
  [119_000, "119 s"],
  [120_000, "2 min"],
  [7_199_000, "120 min"],
  [7_200_000, "2 h"],
  [-5, "0 s"],
])("%d milliseconds are %s", (milliseconds, text) => expect(lengthText(milliseconds)).toBe(text));
