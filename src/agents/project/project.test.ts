import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AGENT_PATH,
  digest,
  MOMENT,
  projectOf,
  record,
  scout,
  type Texts,
  trustOf,
  UNTRUSTED,
} from "../../../test/trust/project.ts";
import { coverage } from "../../core/authority/chain.ts";
import { readRequestText } from "../../core/notation/request/request.ts";
import { READING } from "../../core/notation/testing/notation.ts";
import type { Agent } from "./agent.ts";
import { trustedEdit } from "./review.ts";

function can(agent: Agent, line: string, purpose: "use" | "pass" = "use"): boolean {
  const asked = readRequestText(line, READING);
  if (!asked.ok) throw new Error(`${line}: ${asked.message}`);
  return coverage(agent.authority, asked.value, MOMENT, purpose) !== null;
}

const HUB = record("capabilities:", '  - net.get: { hosts: ["*.github.com"] }');

describe("a project's agent counts", () => {
  test("for nothing before it is trusted", () => {
    const { agent, written, status } = scout({ agent: HUB }, UNTRUSTED);
    expect(status.kind).toBe("untrusted");
    expect(can(agent, "net.get https://api.github.com/")).toBe(false);
    expect(can(written, "net.get https://api.github.com/")).toBe(true);
  });

  test("as written if only the user could have written it", () => {
    expect(can(scout({ agent: HUB }, null).agent, "net.get https://api.github.com/")).toBe(true);
  });

  test("as written while it equals the trusted text", () => {
    const { agent, status } = scout({ agent: HUB }, trustOf({ agent: HUB }));
    expect(status.kind).toBe("trusted");
    expect(can(agent, "net.get https://api.github.com/")).toBe(true);
  });

  const rows: readonly (readonly [string, Texts, Texts, string, boolean, "narrowed" | "waiting" | "trusted"])[] = [
    [
      "a narrowing applies at once",
      { agent: HUB },
      { agent: HUB.replace("*.github", "api.github") },
      "net.get https://www.github.com/",
      false,
      "narrowed",
    ],
    [
      "and keeps the rest",
      { agent: HUB },
      { agent: HUB.replace("*.github", "api.github") },
      "net.get https://api.github.com/",
      true,
      "narrowed",
    ],
    [
      "a widening waits",
      { agent: HUB },
      { agent: HUB.replace("*.github.com", "*.com") },
      "net.get https://gitlab.com/",
      false,
      "waiting",
    ],
    [
      "and what was trusted before stays in force",
      { agent: HUB },
      { agent: HUB.replace("*.github.com", "*.com") },
      "net.get https://api.github.com/",
      true,
      "waiting",
    ],
    [
      "a narrowing beside a widening applies at once",
      { agent: record("capabilities: [records.read, records.create]") },
      { agent: record("capabilities: [records.read, records.delete]") },
      "records.create id=a",
      false,
      "waiting",
    ],
    [
      "a removed approval is still required",
      { agent: record("capabilities: ['net.get{hosts=[a.example],ask}']") },
      { agent: record("capabilities: ['net.get{hosts=[a.example]}']") },
      "net.get https://a.example/",
      true,
      "waiting",
    ],
    ["a new agent waits", { agent: null }, { agent: HUB }, "net.get https://api.github.com/", false, "waiting"],
    [
      "another id in the text has no effect",
      { agent: HUB },
      { agent: HUB.replace("---\n", "---\nid: admin\n") },
      "net.get https://api.github.com/",
      true,
      "narrowed",
    ],
    [
      "prose changes nothing",
      { agent: HUB },
      { agent: `${HUB}Look things up.\n` },
      "net.get https://api.github.com/",
      true,
      "narrowed",
    ],
    [
      "a removed ceiling waits",
      { agent: record("sandbox: /"), config: "sandbox: /srv/a" },
      { agent: record("sandbox: /") },
      "fs.read /srv/b/x",
      false,
      "waiting",
    ],
    [
      "an added ceiling applies",
      { agent: record("sandbox: /srv/a") },
      { agent: record("sandbox: /srv/a"), config: "sandbox: /srv/a/b" },
      "fs.read /srv/a/x",
      false,
      "narrowed",
    ],
    [
      "a broken configuration grants nothing",
      { agent: HUB },
      { agent: HUB, config: "sandbx: /srv/a" },
      "net.get https://api.github.com/",
      false,
      "narrowed",
    ],
    [
      "and did not trust what it hid",
      { agent: HUB, config: "sandbx: /srv/a" },
      { agent: HUB, config: "sandbox: /srv/a" },
      "net.get https://api.github.com/",
      false,
      "waiting",
    ],
    [
      "a changed link target is a change",
      { agent: record("sandbox: /work/data"), links: { "/work/data": "/srv/data" } },
      { agent: record("sandbox: /work/data"), links: { "/work/data": "/home/u" } },
      "fs.read /home/u/x",
      false,
      "waiting",
    ],
    [
      "so is a folder that became a link",
      { agent: record("sandbox: /work/data") },
      { agent: record("sandbox: /work/data"), links: { "/work/data": "/" } },
      "fs.read /etc/passwd",
      false,
      "waiting",
    ],
    [
      "a link of the configuration too",
      { agent: record("capabilities: [fs.read]"), config: "sandbox: ./data" },
      { agent: record("capabilities: [fs.read]"), config: "sandbox: ./data", links: { "/work/data": "/home" } },
      "fs.read /home/u/x",
      false,
      "waiting",
    ],
    [
      "an unchanged link target is not",
      { agent: record("sandbox: /work/data"), links: { "/work/data": "/srv/data" } },
      { agent: record("sandbox: /work/data"), links: { "/work/data": "/srv/data" } },
      "fs.read /srv/data/x",
      true,
      "trusted",
    ],
  ];
  test.each(rows)("%s", (_, before, now, line, allowed, kind) => {
    const { agent, status } = scout(now, trustOf(before));
    expect(status.kind).toBe(kind);
    expect(can(agent, line)).toBe(allowed);
  });

  test("texts that were not trusted together do not count together", () => {
    const wide = trustOf({ agent: record("capabilities: [fs.read]"), config: "sandbox: /" });
    const narrow = trustOf({ agent: record("capabilities: [fs.read]"), config: "sandbox: /srv" });
    const mixed = { ...wide, file: (path: string) => (path.endsWith(".yml") ? wide : narrow).file(path) };
    const { agent, status } = scout({ agent: record("capabilities: [fs.read]"), config: "sandbox: /" }, mixed);
    expect(status.kind).toBe("waiting");
    expect(can(agent, "fs.read /srv/x")).toBe(false);
  });

  test("a grant for use alone cannot be passed on before that is trusted", () => {
    const before = record("capabilities: ['net.get{hosts=[a.example],pass=use}']");
    const { agent, status } = scout({ agent: before.replace(",pass=use", "") }, trustOf({ agent: before }));
    expect(status.kind).toBe("waiting");
    expect(can(agent, "net.get https://a.example/", "use")).toBe(true);
    expect(can(agent, "net.get https://a.example/", "pass")).toBe(false);
  });

  test("the user's ceiling applies in every state of trust", () => {
    const user = "ceiling: ['net.get{hosts=[api.github.com]}']";
    const wide = HUB.replace("*.github.com", "*.com");
    for (const [now, trusted] of [
      [HUB, trustOf({ agent: HUB })],
      [wide, trustOf({ agent: HUB })],
      [HUB, null],
    ] as const) {
      const { agent } = scout({ agent: now }, trusted, user);
      expect(can(agent, "net.get https://api.github.com/")).toBe(true);
      expect(can(agent, "net.get https://www.github.com/")).toBe(false);
    }
  });

  test("a broken user configuration grants nothing, in one line with its position", () => {
    const { agent } = scout({ agent: HUB }, trustOf({ agent: HUB }), "cieling: []");
    expect(agent.refused).toBe(true);
    expect(can(agent, "net.get https://api.github.com/")).toBe(false);
    expect(agent.diagnostics[0]?.message).toMatch(/no agent has any grant until user\.yml is fixed/);
  });
});

const GRANTS = [
  "records.read",
  "records.create",
  "'net.get{hosts=[*.example]}'",
  "'net.get{hosts=[a.example]}'",
  "'net.get{hosts=[a.example],ask}'",
  "'net.get{hosts=[a.example],pass=use}'",
  "'net.get{hosts=[a.example],pass=pass}'",
  "'net.get{hosts=[\"*\"],calls=2}'",
  "'fs.read{in=/srv}'",
  "'fs.read{in=/srv/a}'",
  "fs.read",
  "'fs.read{in=/work/data}'",
  "'tool.invoke{tools=[fs_read]}'",
];
const REQUESTS = [
  "records.read id=a",
  "records.create id=a",
  "net.get https://a.example/",
  "net.get https://b.example/",
  "net.get https://b.test/",
  "fs.read /srv/a/x",
  "fs.read /srv/b/x",
  "fs.read /work/data/x",
  "fs.read /home/x",
  "tool.invoke fs_read {}",
  "tool.invoke fs_write {}",
];

const texts: fc.Arbitrary<Texts> = fc.record({
  agent: fc
    .tuple(fc.subarray(GRANTS), fc.constantFrom<readonly string[]>([], ["sandbox: /srv"], ["sandbox: /work/data"]))
    .map(([grants, sandbox]) => record(...sandbox, `capabilities: [${grants.join(", ")}]`)),
  config: fc.constantFrom(null, "sandbox: /srv", "sandbox: /srv/a", "sandbox: /", "sandbx: /", "policy: { web: ask }"),
  links: fc.constantFrom({}, { "/work/data": "/srv" }, { "/work/data": "/home" }, { "/work/data": "" }),
});

test("for all trusted texts and changes, the authority is the meet of the written and the trusted text", {
  timeout: 60_000,
}, () => {
  fc.assert(
    fc.property(texts, texts, (before, now) => {
      const { agent, written, status } = scout(now, trustOf(before));
      const trusted = scout(before, null).agent;
      for (const line of REQUESTS) {
        for (const purpose of ["use", "pass"] as const) {
          const [held, wanted, had] = [agent, written, trusted].map((one) => can(one, line, purpose));
          // Within both, always; and nothing less than what both allow.
          expect([line, purpose, held]).toEqual([line, purpose, wanted === true && had === true]);
        }
      }
      if (status.kind === "trusted") expect(agent).toEqual(written);
    }),
    { numRuns: 400 },
  );
});

describe("trust covers only the reviewed grants", () => {
  // Trusted while the user's own configuration hides a part of the text.
  const rows: readonly (readonly [string, Texts, string, string, string])[] = [
    [
      "not what the user's root clamped",
      { agent: record("sandbox: /", "capabilities: [fs.read]") },
      "sandbox: /work",
      "fs.read /srv/x",
      "fs.read /work/x",
    ],
    [
      "not a root that was outside",
      { agent: record("capabilities: ['fs.read{in=/srv}', 'fs.read{in=/work/a}']") },
      "sandbox: /work",
      "fs.read /srv/x",
      "fs.read /work/a/x",
    ],
  ];
  test.each(rows)("%s", (_title, texts, user, hidden, seen) => {
    const trusted = trustOf(texts, user);
    const under = scout(texts, trusted, user);
    expect([under.status.kind, can(under.agent, hidden)]).toEqual(["trusted", false]);
    for (const lifted of [null, "control: presence"]) {
      const { agent, status, own } = scout(texts, trusted, lifted);
      // The text means more now, and the additional part waits for trust.
      expect([status.kind, can(own, hidden), can(agent, hidden)]).toEqual(["waiting", true, false]);
      expect(can(agent, seen)).toBe(can(under.agent, seen));
    }
  });

  test("not what the user's org table denied", () => {
    const texts = { agent: record("policy: {}") };
    const trusted = trustOf(texts, "policy: { web: deny }");
    const { agent, status, own } = scout(texts, trusted, "policy: { web: allow }");
    const hidden = "net.get https://a.example/";
    expect([status.kind, can(own, hidden), can(agent, hidden)]).toEqual(["waiting", true, false]);
  });

  test("and a later edit does not restore hidden grants", () => {
    const text = record("sandbox: /", "capabilities: [fs.read, records.read]");
    const trusted = trustOf({ agent: text }, "sandbox: /work");
    const edited = text.replace(", records.read", "");
    expect(can(scout({ agent: edited }, trusted, null).agent, "fs.read /srv/x")).toBe(false);
    expect(can(scout({ agent: edited }, trusted, null).agent, "fs.read /work/x")).toBe(true);
  });
});

describe("a person's own edit", () => {
  const edited = (now: Texts, trusted: Texts | null, after: string): string | null => {
    const project = projectOf(now, trusted === null ? UNTRUSTED : trustOf(trusted));
    const before = now.agent === null ? null : { name: AGENT_PATH, text: now.agent };
    return trustedEdit(project, AGENT_PATH, before, { name: AGENT_PATH, text: after }, digest)?.text ?? null;
  };
  const WIDE = HUB.replace("*.github.com", "*.com");
  const CONFIG = "sandbox: /srv";
  test.each<[string, Texts, Texts | null, string, boolean]>([
    ["of a trusted text is trusted", { agent: HUB }, { agent: HUB }, WIDE, true],
    ["of a narrowed text too", { agent: record("capabilities: []") }, { agent: HUB }, WIDE, true],
    ["that creates an agent too", { agent: null }, { agent: null }, HUB, true],
    [
      "of an untrusted text is not: that would trust its pending changes",
      { agent: WIDE },
      { agent: HUB },
      `${WIDE}x`,
      false,
    ],
    ["that is invalid is not", { agent: HUB }, { agent: HUB }, "no record", false],
    ["beside the trusted configuration is", { agent: HUB, config: CONFIG }, { agent: HUB, config: CONFIG }, WIDE, true],
    ["beside another configuration is not", { agent: HUB, config: CONFIG }, { agent: HUB }, WIDE, false],
  ])("%s", (_, now, trusted, after, expected) => {
    expect(edited(now, trusted, after)).toBe(expected ? after : null);
  });
});
