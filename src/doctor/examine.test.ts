// Every check beside its nearest miss: a record with a finding, and one that differs by as little as possible.
import { describe, expect, test } from "vitest";
import { agentOf, findingsOf, NOW, probeOf } from "../../test/doctor/probe.ts";
import { parseTool } from "../core/authority/axes/name.ts";
import { examine } from "./examine.ts";
import type { FindingCode } from "./finding.ts";
import type { ProbeTool } from "./probe.ts";

const list = (...items: readonly string[]): string => `capabilities:\n${items.map((item) => `  - ${item}`).join("\n")}`;

const ROWS: readonly (readonly [FindingCode, string, told: string, not: string])[] = [
  ["records_writable", "writing where records are", list("fs.write{in=/w/.ambit}"), list("fs.write{in=/w/.ambix}")],
  ["records_writable", "writing above them", list("fs.write{in=/w}"), list("fs.write{in=/x}")],
  [
    "records_writable",
    "one star above them",
    list("fs.write{in=/w,paths=[*/**]}"),
    list("fs.write{in=/w,paths=[a*/**]}"),
  ],
  [
    "records_writable",
    "deleting them",
    list("fs.delete{in=/w,paths=[.ambit]}"),
    list("fs.delete{in=/w,paths=[.ambi]}"),
  ],
  [
    "records_writable",
    "deleting one file",
    list("fs.delete{in=/w,paths=[.ambit/a]}"),
    list("fs.read{in=/w,paths=[.ambit/a]}"),
  ],
  ["records_writable", "the shorthand at the workspace", "sandbox: .", "sandbox: ./a"],
  [
    "records_writable",
    "an inert grant, as written",
    list("fs.write: { paths: [/w/.ambit/x] }"),
    list("fs.write: { paths: [/w/.ambix/x] }"),
  ],
  [
    "records_writable",
    "an inert relative one",
    list("fs.write: { paths: ['.ambit/*'] }"),
    list("fs.write: { paths: ['.ambix/*'] }"),
  ],
  ["unscoped_exec", "an empty scope", list("proc.exec: {}"), list("proc.exec: { cmds: [] }")],
  [
    "unscoped_exec",
    "no scope under a sandbox",
    `sandbox: /x\n${list("proc.exec")}`,
    `sandbox: /x\n${list("proc.eval")}`,
  ],
  [
    "unscoped_exec",
    "only a condition",
    `sandbox: /x\n${list("proc.exec{ask}")}`,
    `sandbox: /x\n${list("proc.exec{ask,in=/x}")}`,
  ],
  ["exec_everywhere", "home as the root", list("proc.exec{in=~}"), list("proc.exec{in=~/p}")],
  ["exec_everywhere", "above home", list("proc.exec{in=/home}"), list("proc.exec{in=/homes}")],
  ["exec_everywhere", "the whole machine", list("proc.eval{in=/}"), list("proc.eval{in=/x}")],
  [
    "grants_widely",
    "any host to pass on",
    list("agent.grant", 'net.get{hosts=["*"]}'),
    list("agent.grant", 'net.get{hosts=["*.x.com"]}'),
  ],
  [
    "grants_widely",
    "home to pass on",
    list("agent.grant", "fs.read{in=~}"),
    list("agent.grant", "fs.read{in=~,pass=use}"),
  ],
  [
    "grants_widely",
    "agent.grant over no agent",
    list("agent.grant{ids=[a]}", "fs.read{in=~}"),
    list("agent.grant{ids=[]}", "fs.read{in=~}"),
  ],
  [
    "grants_widely",
    "every secret to pass on",
    list("agent.grant", 'secret.use{names=["*"]}'),
    list("agent.grant", 'secret.use{names=["a*"]}'),
  ],
  [
    "grants_widely",
    "every tool from elsewhere to pass on",
    list("agent.grant", "tool.invoke{tools=[tool:**]}"),
    list("agent.grant", "tool.invoke{tools=[tool:a.**]}"),
  ],
  ["inert_grants", "no root anywhere", list("fs.read"), `sandbox: /x\n${list("fs.read")}`],
  [
    "dead_rule",
    "narrower beside wider",
    list("net.get{hosts=[*.x.com]}", "net.get{hosts=[a.x.com]}"),
    list("net.get{hosts=[*.x.com]}", "net.get{hosts=[a.y.com]}"),
  ],
  [
    "dead_rule",
    "ask beside no ask",
    list("net.get{hosts=[x.com]}", "net.get{hosts=[x.com],ask}"),
    list("net.get{hosts=[x.com],clean}", "net.get{hosts=[x.com],ask}"),
  ],
  [
    "dead_rule",
    "covered by two together",
    list(
      "net.get{hosts=[x.com],ports=[1-5]}",
      "net.get{hosts=[x.com],ports=[6-9]}",
      "net.get{hosts=[x.com],ports=[1-9]}",
    ),
    list(
      "net.get{hosts=[x.com],ports=[1-5]}",
      "net.get{hosts=[x.com],ports=[7-9]}",
      "net.get{hosts=[x.com],ports=[1-9],ask}",
    ),
  ],
  [
    "dead_rule",
    "covered without a budget",
    list("net.get{hosts=[x.com],calls=5}", "net.get{hosts=[x.com]}"),
    list("net.get{hosts=[x.com],calls=5}", "net.get{hosts=[x.com],calls=6}"),
  ],
  [
    "expired_grant",
    "one moment too late",
    list("net.get{hosts=[x.com],expires=2026-06-01T00:00:00Z}"),
    list("net.get{hosts=[x.com],expires=2026-06-01T00:00:01Z}"),
  ],
  [
    "interpreter_pattern",
    "any script",
    list('proc.exec{in=/x,patterns=["python **"]}'),
    list('proc.exec{in=/x,patterns=["python a **"]}'),
  ],
  [
    "interpreter_pattern",
    "a versioned interpreter as a whole",
    list("proc.exec{in=/x,cmds=[python3.11]}"),
    list("proc.exec{in=/x,cmds=[rg]}"),
  ],
  [
    "interpreter_pattern",
    "by its path",
    list("proc.exec{in=/x,cmds=[/bin/sh]}"),
    list("proc.exec{in=/x,cmds=[/bin/ls]}"),
  ],
  [
    "interpreter_pattern",
    "behind an option",
    list('proc.exec{in=/x,patterns=["node --test **"]}'),
    list('proc.exec{in=/x,patterns=["node --test a"]}'),
  ],
  [
    "interpreter_pattern",
    "behind a time",
    list('proc.exec{in=/x,patterns=["timeout 10 **"]}'),
    list('proc.exec{in=/x,patterns=["timeout 10 ls **"]}'),
  ],
  [
    "interpreter_pattern",
    "a program with any script, where a star takes those that print",
    list("proc.exec{in=/x,cmds=[sed]}"),
    list('proc.exec{in=/x,patterns=["sed **"]}'),
  ],
  [
    "older_preset",
    "one of which there is a newer version",
    "extends: ambit:coder@1\nsandbox: /x",
    "extends: ambit:coder@2\nsandbox: /x",
  ],
  [
    "interpreter_pattern",
    "any program",
    list('proc.exec{in=/x,patterns=["* -v"]}'),
    list('proc.exec{in=/x,patterns=["a -v"]}'),
  ],
  ["protected_opened", "a folder of keys", list("fs.read{in=~/.ssh}"), list("fs.read{in=~/.ssx}")],
  [
    "protected_opened",
    "one file below it",
    list("fs.read{in=~,paths=[.ssh/config]}"),
    list("fs.read{in=~,paths=[.ss*/config]}"),
  ],
  ["protected_opened", "as a root", list("proc.exec{in=/etc/ssh,cmds=[ls]}"), list("proc.exec{in=/etc/ss,cmds=[ls]}")],
];

describe("a finding", () => {
  test.each(ROWS)("%s: %s", (code, _what, told, not) => {
    expect(findingsOf(told, code).map((finding) => finding.code)).toEqual([code]);
    expect(findingsOf(not, code)).toEqual([]);
  });

  test("is at the line it is about", () => {
    const [finding] = findingsOf(list("records.read", "fs.write{in=/w}"), "records_writable");
    const agent = agentOf(list("records.read", "fs.write{in=/w}"));
    expect(agent.source.text.slice(finding?.span?.start, finding?.span?.end)).toBe("fs.write{in=/w}");
  });
});

describe("the combination that leaks", () => {
  const legs = ["records.read", 'net.get{hosts=["*"]}', "net.post{hosts=[x.com]}"];
  const rows: readonly (readonly [string, readonly string[], number])[] = [
    [
      "is reported once, however many grants take part",
      [...legs, "memory.read", 'net.connect{hosts=["*"],ports=[443]}'],
      1,
    ],
    ["is not reported without private data", legs.slice(1), 0],
    [
      "is not reported without untrusted content",
      ["records.read", "net.get{hosts=[x.com]}", "net.post{hosts=[x.com]}"],
      0,
    ],
    [
      "is reported under a whole top-level domain",
      ["records.read", "net.get{hosts=[*.com]}", "net.post{hosts=[x.com]}"],
      1,
    ],
    [
      "is not reported if every outgoing grant needs approval",
      ["records.read", "net.get{hosts=[x.com]}", 'net.post{hosts=["*"],ask}'],
      0,
    ],
    ["is not reported if the private part needs a clean session", ["records.read{clean}", ...legs.slice(1)], 0],
    [
      "is reported if only untrusted content needs a clean session",
      ["records.read", 'net.get{hosts=["*"],clean}', "net.post{hosts=[x.com]}"],
      1,
    ],
    ["counts reading from any host as outgoing", legs.slice(0, 2), 1],
    ["counts third-party tools", ["records.read", "tool.invoke{tools=[tool:**]}", "net.post{hosts=[x.com]}"], 1],
    ["counts no built-in tools", ["records.read", "tool.invoke{tools=[builtin:**]}", "net.post{hosts=[x.com]}"], 0],
    ["counts the provider's search", ["memory.read", 'provider.web_search{hosts=["*"]}', "net.put{hosts=[x.com]}"], 1],
    [
      "counts no expired outgoing grant",
      ["records.read", "tool.invoke{tools=[tool:**]}", "net.post{hosts=[x.com],expires=2020-01-01T00:00:00Z}"],
      0,
    ],
    ["counts nothing that may only be passed on", ["records.read{pass=pass}", ...legs.slice(1)], 0],
  ];
  test.each(rows)("%s", (_what, items, count) => {
    expect(findingsOf(list(...items), "lethal_combination")).toHaveLength(count);
  });

  test("counts files outside the agent's own sandbox, and none inside", () => {
    const rest = list('net.get{hosts=["*"]}', "fs.write{in=/x/a}", "proc.exec{in=/x/a,cmds=[ls]}", "fs.read{in=/x/a}");
    expect(findingsOf(`sandbox: /x\n${rest}`, "lethal_combination")).toHaveLength(0);
    expect(findingsOf(rest, "lethal_combination")).toHaveLength(1);
  });
});

describe("the parser's diagnostics", () => {
  test("are reported with their own code, position and suggestion", () => {
    const [finding] = findingsOf(list("net.gte{hosts=[x.com]}"), "unknown_verb");
    expect(finding).toMatchObject({ severity: "error", agent: "scout", file: "scout.md", suggestion: "net.get" });
    expect(findingsOf(list("net.get: { host: [x.com] }"), "unknown_key")).toMatchObject([{ suggestion: "hosts" }]);
    expect(findingsOf(list("net.get: { hosts: 5 }"), "wrong_type")).toHaveLength(1);
  });

  test("are not repeated if a finding says it better", () => {
    expect(findingsOf(list("fs.read", "fs.write"), "inert")).toEqual([]);
    expect(findingsOf(list("fs.read", "fs.write"), "inert_grants")).toHaveLength(1);
    expect(findingsOf(list("proc.exec{in=/,cmds=[ls]}"), "wide")).toEqual([]);
    // For another reason it stays.
    expect(findingsOf(`sandbox: /x\n${list("fs.read{in=/y}")}`, "inert")).toHaveLength(1);
    expect(findingsOf(list("net.get"), "inert")).toHaveLength(1);
  });

  test("prints at most a hundred, errors first, the rest counted", () => {
    const items = [...Array.from({ length: 150 }, (_, at) => `fs.read{in=/w/${at},paths=[a]}`), "net.gte", "fs.read"];
    const [section] = examine(probeOf([agentOf(list(...items, ...items))]));
    expect(section?.findings).toHaveLength(100);
    expect(section?.findings[0]).toMatchObject({ code: "unknown_verb" });
    expect(section?.leftOut).toBeGreaterThan(40);
    expect((section?.failed ?? 0) + (section?.warnings ?? 0)).toBe(100 + (section?.leftOut ?? 0));
  });
});

describe("an argument", () => {
  const tool = parseTool("send_money");
  const tools: readonly ProbeTool[] = tool.ok
    ? [{ name: "send_money", tool: tool.value, arguments: ["amount", "to"], needs: [] }]
    : [];
  const grant = (name: string): string =>
    list(`tool.invoke: { tools: [send_money], args: { ${name}: { range: [0, 5] } } }`);

  test("that the tool does not have is an error, with the intended one", () => {
    expect(findingsOf(grant("amont"), "unknown_argument", { tools })).toMatchObject([
      { severity: "error", suggestion: "amount" },
    ]);
    expect(findingsOf(grant("amount"), "unknown_argument", { tools })).toEqual([]);
  });

  test("of an unknown tool is not checked", () => {
    expect(findingsOf(grant("amont"), "unknown_argument")).toEqual([]);
  });
});

describe("a project", () => {
  const sections = (more: Parameters<typeof probeOf>[1]) =>
    examine(probeOf([], more)).flatMap(({ findings }) => findings);

  test("that is untrusted, or has more than is trusted, is reported in one line", () => {
    for (const trust of ["untrusted", "widened"] as const)
      expect(sections({ workspace: { folders: [], trust } })).toMatchObject([
        { code: "untrusted_project", fix: "ambit trust" },
      ]);
    for (const trust of ["trusted", "unknown"] as const)
      expect(sections({ workspace: { folders: [], trust } })).toEqual([]);
    expect(sections({ workspace: null })).toEqual([]);
  });

  test("with an unreadable file is wrong", () => {
    expect(sections({ broken: [{ file: "a.md", problem: "is not UTF-8 text" }] })).toMatchObject([
      { code: "unreadable_file", severity: "error", message: "a.md: is not UTF-8 text", file: "a.md" },
    ]);
  });

  test("whose configuration has a mistake is reported with its position", () => {
    const source = { name: "config.yml", text: "sandbx: ." };
    const span = { source: "config.yml", start: 0, end: 6 };
    const diagnostic = {
      severity: "error",
      code: "unknown_key",
      message: "m",
      span,
      suggestion: "sandbox",
      fix: null,
    } as const;
    expect(sections({ configs: [{ source, diagnostics: [diagnostic] }] })).toMatchObject([
      { code: "unknown_key", file: "config.yml", agent: null, span },
    ]);
  });
});

test("an agent without findings passes", () => {
  const [section] = examine(probeOf([agentOf("capabilities: [records.read]")], { now: NOW }));
  expect(section).toMatchObject({ findings: [], passed: ["2 grants"], failed: 0, warnings: 0 });
});
