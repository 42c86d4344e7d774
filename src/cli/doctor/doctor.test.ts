// The command over agents in memory: its output, its exit status, its fixes and what it leaves alone.
import { describe, expect, test } from "vitest";
import { agentOf, probeOf, readAgent } from "../../../test/doctor/probe.ts";
import type { MachineFacts } from "../../core/ports/machine.ts";
import { FINDING_CODES } from "../../doctor/finding.ts";
import type { Probe } from "../../doctor/probe.ts";
import { DENIALS, DIAGNOSTICS } from "../explain/pages.ts";
import { PLAIN } from "../terminal/paint.ts";
import { type DoctorOptions, type DoctorPorts, doctor } from "./doctor.ts";
import { FINDINGS } from "./pages.ts";

const WELL: MachineFacts = {
  platform: "linux",
  distribution: ["debian"],
  bubblewrap: "0.8.0",
  sandboxStarts: true,
  sandboxProblem: null,
  userNamespaces: true,
  appArmorRestricts: false,
  landlock: null,
  native: "unknown",
  draftsRefusedBy: "unknown",
  controlGroups: "unknown",
  ignoredHome: null,
  stateProblem: null,
  isContainer: false,
  isRoot: false,
};

interface DoctorRun {
  readonly status: number;
  readonly out: string;
  readonly err: string;
  /** The texts on disk afterwards. */
  readonly files: Readonly<Record<string, string>>;
  readonly questions: readonly string[];
}

interface Given {
  readonly more?: Partial<Probe>;
  readonly options?: Partial<DoctorOptions>;
  readonly answer?: boolean | null;
  readonly mayWiden?: boolean;
  readonly replaceable?: boolean;
}

async function run(files: Readonly<Record<string, string>>, given: Given = {}): Promise<DoctorRun> {
  const disk: Record<string, string> = { ...files };
  const spoken = { out: "", err: "" };
  const questions: string[] = [];
  const ports: DoctorPorts = {
    paint: PLAIN,
    probe: (names) => {
      const unknown = names.find((name) => !Object.hasOwn(disk, name));
      if (unknown !== undefined) return { ok: false, message: `there is no agent called ${unknown}`, fix: null };
      const agents = Object.entries(disk).map(([id, text]) => agentOf(text, id));
      return { ok: true, value: probeOf(agents, given.more) };
    },
    readAgent,
    replace: (before, text) => {
      if (given.replaceable === false) return { ok: false, message: "it changed meanwhile" };
      disk[before.name.replace(/\.md$/, "")] = text.slice(4, -5);
      return { ok: true };
    },
    mayWiden: async () => given.mayWiden ?? true,
    confirm: (question) => {
      questions.push(question);
      return Promise.resolve(given.answer === undefined ? false : given.answer);
    },
    print: (text) => {
      spoken.out += `${text}\n`;
    },
    printError: (text) => {
      spoken.err += `${text}\n`;
    },
  };
  const options = { json: false, fix: false, yes: false, allowWidening: false, ...given.options };
  return { status: await doctor(ports, [], options), ...spoken, files: disk, questions };
}

describe("the output", () => {
  test("is grouped by agent, with line, caret, meaning, fix and a footer", async () => {
    const { out, status } = await run(
      {
        scout: "capabilities:\n  - net.get: { host: [x.com] }\n  - fs.write{in=/w}",
        aide: "capabilities: [records.read]",
      },
      { more: { machine: WELL } },
    );
    expect(out).toBe(`scout  scout.md
  ✗ unknown_key: unknown scope key \`host\` on \`net.get\`
     --> scout.md:3:16
      |
    3 |   - net.get: { host: [x.com] }
      |                ^^^^
    = ${DIAGNOSTICS.unknown_key.means}
    = did you mean hosts?
  ⚠ records_writable: \`fs.write\` covers /w/.ambit
     --> scout.md:4:5
      |
    4 |   - fs.write{in=/w}
      |     ^^^^^^^^^^^^^^^
    = The agent can change records there with plain file tools, including records that grant authority to agents.
    = fix: keep its \`paths\` or its root outside /w/.ambit
aide  aide.md
  ✓ 2 grants
this machine
  ✓ sandbox: bubblewrap 0.8.0
  ⚠ landlock_missing: this kernel has no Landlock
    = Programs that write are refused, because the process that applies their changes to the project cannot be confined; everything else is enforced by namespaces alone.
    = fix: a kernel of 5.19 or later with Landlock among its security modules, or \`bare: true\` in your own config.yml
2 passed, 1 failed, 2 warnings
`);
    expect(status).toBe(3);
  });

  test("shows accepted findings, with their reason", async () => {
    const accept = 'doctor: { accept: [{ code: records_writable, reason: "it keeps them" }] }';
    const { out, status } = await run({ keeper: `capabilities:\n  - fs.write{in=/w}\n${accept}` });
    expect(out).toBe(
      "keeper  keeper.md\n  ✓ 2 grants\n  · records_writable is accepted: it keeps them\n1 passed, 0 failed, 0 warnings\n",
    );
    expect(status).toBe(0);
  });

  test("as JSON says the same in one object", async () => {
    const { out, status } = await run(
      { scout: "capabilities:\n  - net.get: { host: [x.com] }" },
      { options: { json: true }, more: { machine: WELL } },
    );
    const said = JSON.parse(out);
    expect(said).toMatchObject({ passed: 1, failed: 1, warnings: 1, fixes: [] });
    expect(said.sections[0]).toMatchObject({ about: "agent", title: "scout", file: "scout.md" });
    expect(said.sections[0].findings[0]).toEqual({
      code: "unknown_key",
      kind: "diagnostic",
      severity: "error",
      agent: "scout",
      file: "scout.md",
      line: 3,
      column: 16,
      message: "unknown scope key `host` on `net.get`",
      meaning: DIAGNOSTICS.unknown_key.means,
      suggestion: "hosts",
      fix: null,
      grants: [],
    });
    expect(status).toBe(3);
  });

  test("as JSON names the file a line is counted in, which may be a configuration", async () => {
    const source = { name: ".ambit/config.yml", text: "# ours\nsandbx: /srv\n" };
    const span = { source: source.name, start: 7, end: 13 };
    const told = {
      severity: "error",
      code: "not_understood",
      message: "x",
      span,
      suggestion: null,
      fix: null,
    } as const;
    const agent = { ...agentOf("access: r"), diagnostics: [told], around: [source] };
    const { out } = await run({}, { options: { json: true }, more: { agents: [agent] } });
    expect(JSON.parse(out).sections[0].findings).toMatchObject([{ agent: "scout", file: source.name, line: 2 }]);
    const lines = await run({}, { more: { agents: [agent] } });
    expect(lines.out).toContain("--> .ambit/config.yml:2:1");
  });

  test("escapes everything that would reorder or break lines", async () => {
    const { out } = await run({ scout: 'capabilities:\n  - "net.g\\u202ete\\n"' });
    expect(out).not.toContain("\u202e");
  });
});

describe("the exit status", () => {
  const machine: MachineFacts = { ...WELL, bubblewrap: null };
  const runs = "capabilities:\n  - proc.exec{in=/x,cmds=[ls]}";
  test.each([
    ["well", { a: "capabilities: [records.read]" }, {}, 0],
    ["warnings only", { a: "capabilities:\n  - fs.write{in=/w}" }, {}, 0],
    ["a mistake", { a: "capabilities: [records.raed]" }, {}, 3],
    ["a file that cannot be read", {}, { broken: [{ file: "a.md", problem: "is not UTF-8 text" }] }, 3],
    ["a machine that cannot run what is granted", { a: runs }, { machine }, 1],
    ["a machine that no agent needs", { a: "capabilities: [records.read]" }, { machine }, 0],
    ["both", { a: runs, b: "capabilities: [records.raed]" }, { machine }, 3],
    ["no agents at all", {}, {}, 0],
  ] as const)("for %s", async (_what, files, more, status) => {
    expect((await run(files, { more })).status).toBe(status);
  });
});

describe("--fix", () => {
  const wrong = {
    scout: "capabilities:\n  - tool.invoke\n  - net.gte{hosts=[x.com]}\n  - shell.exec{in=/x,cmds=[rg]}",
  };
  const old = { scout: "sandbox: /x\ncapabilities:\n  - shell.exec{cmds=[rg]}" };
  const renamed = old.scout.replace("shell", "proc");
  const fix = { fix: true };

  test("shows the change and what it makes possible, prompts, and writes after a yes", async () => {
    const { out, files, questions, status } = await run(wrong, { options: fix, answer: true });
    expect(out).toContain(`scout  scout.md
  line 4: net.gte -> net.get
  line 5: shell.exec -> proc.exec
  + newly allowed: net.get https://x.com/
  written
`);
    expect(questions).toEqual(["Write this change, which allows the above?"]);
    expect(files["scout"]).toBe(wrong.scout.replace("gte", "get").replace("shell", "proc"));
    expect(out).toContain("0 failed");
    expect(status).toBe(0);
  });

  test.each<[string, Readonly<Record<string, string>>, Omit<Given, "options">, string]>([
    ["after a no", wrong, {}, "\n"],
    ["without a terminal", old, { answer: null }, ": no terminal to ask at; to write it anyway: --yes\n"],
    [
      "where no person can confirm it, to a widening",
      wrong,
      { answer: null },
      ": no terminal to ask at; to write it anyway: --yes --allow-widening\n",
    ],
    ["a widening from inside", wrong, { answer: true, mayWiden: false }, ": it would widen grants, which this"],
  ])("writes nothing %s, and says why", async (_, files, given, end) => {
    const told = await run(files, { ...given, options: fix });
    expect(told.files).toEqual(files);
    expect(told.out).toContain(`\n  not written${end}`);
  });

  test("--yes prompts for nothing and widens nothing", async () => {
    const { out, files, questions } = await run(wrong, { options: { ...fix, yes: true } });
    expect(questions).toEqual([]);
    expect(files["scout"]).toBe(wrong.scout.replace("shell", "proc"));
    expect(out).toContain("skipped scout line 4: net.gte -> net.get");
  });

  test("--yes --allow-widening applies all of it", async () => {
    const { files } = await run(wrong, { options: { ...fix, yes: true, allowWidening: true } });
    expect(files["scout"]).toBe(wrong.scout.replace("gte", "get").replace("shell", "proc"));
  });

  test("prompts for a change that widens nothing as well", async () => {
    const { questions, files } = await run(old, { options: fix, answer: true });
    expect(questions).toEqual(["Write this change?"]);
    expect(files["scout"]).toBe(renamed);
  });

  test("--json writes nothing without --yes, and says what it would write", async () => {
    const first = await run(old, { options: { ...fix, json: true } });
    expect(first.files).toEqual(old);
    expect(JSON.parse(first.out).fixes).toMatchObject([
      {
        outcome: "refused",
        edits: [{ line: 4, was: "shell.exec", now: "proc.exec" }],
        message: expect.stringMatching(/--yes$/),
      },
    ]);
    const second = await run(old, { options: { ...fix, json: true, yes: true } });
    expect(second.files["scout"]).toBe(renamed);
    expect(JSON.parse(second.out).fixes).toMatchObject([{ outcome: "written", widened: [] }]);
  });

  test("that cannot be written is an error", async () => {
    const { out, status } = await run(old, { options: { ...fix, yes: true }, replaceable: false });
    expect(out).toContain("not written: it changed meanwhile");
    expect(status).toBe(1);
  });

  test("has nothing to do if there is no definite mistake", async () => {
    const text = { scout: "capabilities: [zzz.qqq]" };
    expect(await run(text, { options: { ...fix, yes: true } })).toMatchObject({ files: text, questions: [] });
  });
});

test("every finding has a page, and no code means two things", () => {
  expect(Object.keys(FINDINGS).sort()).toEqual([...FINDING_CODES].sort());
  for (const code of FINDING_CODES) {
    expect(Object.hasOwn(DENIALS, code) || Object.hasOwn(DIAGNOSTICS, code)).toBe(false);
    expect(FINDINGS[code].means.length).toBeGreaterThan(20);
  }
});
