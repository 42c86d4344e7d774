// Every fix and every did-you-mean of a skill, an org file and a user's record is applied as it is printed: the document then
// reads without that error, and allows no more than its author meant.
import { describe, expect, test } from "vitest";
import type { Diagnostic } from "../core/notation/diagnostic.ts";
import { Diagnostics } from "../core/notation/diagnostic.ts";
import { readUserFacts } from "../core/notation/record/user-record.ts";
import { applyFix, yamlTree } from "../core/notation/testing/apply-fix.ts";
import { READING } from "../core/notation/testing/notation.ts";
import { orgRulings, readOrg } from "../org/org.ts";
import { readOrgMarkdown } from "../org/org-markdown.ts";
import { readJson } from "../text/json.ts";
import { readSkill } from "./skills/skill.ts";

interface Read {
  readonly diagnostics: readonly Diagnostic[];
  /** What the document says, to be compared with what was meant. */
  readonly said: unknown;
}

const skill = (text: string, folder = "release-notes"): Read => {
  const found = { origin: "project", file: "SKILL.md", folder } as const;
  const read = readSkill(found, yamlTree(text), "Write the notes.", READING);
  const { name = null, tools = null } = read.skill ?? {};
  return { diagnostics: read.diagnostics, said: { name, tools: tools?.tools.map(({ token }) => token) } };
};

const org = (tree: Parameters<typeof readOrg>[0]): Read => {
  const read = readOrg(tree);
  const rulings = read.agents.map((agent) => [
    agent.id,
    agent.reportsTo,
    orgRulings(read, agent).map(({ capability, ruling }) => `${capability} ${ruling}`),
  ]);
  const { capabilities, budget, triggers } = read;
  const amounts = [budget, ...read.agents.flatMap((agent) => [agent.budget, agent.teamBudget])];
  const said = [
    rulings,
    [...capabilities.keys()],
    amounts.map((one) => (one === null ? null : [...one])),
    triggers.map(({ kind, agent }) => [kind, agent]),
  ];
  return { diagnostics: [...read.diagnostics, ...read.agents.flatMap(({ diagnostics }) => diagnostics)], said };
};

const READERS: Readonly<Record<"skill" | "org" | "user", (text: string) => Read>> = {
  skill,
  org: (text) => {
    const tree = yamlTree(text);
    if (tree.kind !== "map") throw new Error("not a map");
    return org({ tree, diagnostics: [] });
  },
  user: (text) => {
    const found = new Diagnostics();
    const tree = yamlTree(text);
    const said = tree.kind === "map" ? readUserFacts(tree, found) : null;
    return { diagnostics: found.list, said };
  },
};

const SKILL = "name: release-notes, description: d";
const boss = (rest: string): string => `{ agents: { boss: {}, clerk: { reportsTo: boss${rest} } } }`;

/** What was written, and what was meant by it. */
const MISTAKES: readonly (readonly [kind: keyof typeof READERS, written: string, meant: string])[] = [
  ["skill", "{ description: d }", `{ ${SKILL} }`],
  ["skill", "{ name: Release_Notes, description: d }", `{ ${SKILL} }`],
  ["skill", "{ name: '!!!', description: d }", `{ ${SKILL} }`],
  ["skill", "{ name: 5, description: d }", "{ name: '5', description: d }"],
  ["skill", "{ name: release-notes }", "{ name: release-notes, description: What it is for }"],
  ["skill", `{ ${SKILL}, allowed-tools: 5 }`, `{ ${SKILL}, allowed-tools: 'Read Bash(git log:*)' }`],
  ["skill", `{ ${SKILL}, allowed-tools: [{ a: 1 }] }`, `{ ${SKILL}, allowed-tools: 'Read Bash(git log:*)' }`],
  ["org", "{ agnets: { boss: {} } }", "{ agents: { boss: {} } }"],
  ["org", "{ agents: { boss: 5 } }", "{ agents: { boss: {} } }"],
  ["org", boss(", capabilites: { code: deny }"), boss(", capabilities: { code: deny }")],
  ["org", boss(", capabilities: { code: dney }"), boss(", capabilities: { code: deny }")],
  ["org", boss(", capabilities: { code: 5 }"), boss(", capabilities: { code: ask }")],
  ["org", boss(", capabilities: { coed: deny }"), boss(", capabilities: { code: deny }")],
  ["org", "{ agents: { boss: {}, clerk: { reportsTo: bos } } }", boss("")],
  ["org", boss(", client: 'a b'"), boss(", client: claude")],
  ["org", "{ capabilities: 5, agents: { boss: {} } }", "{ capabilities: {}, agents: { boss: {} } }"],
  [
    "org",
    "{ capabilities: { ship: 5 }, agents: { boss: {} } }",
    "{ capabilities: { ship: { grants: [] } }, agents: { boss: {} } }",
  ],
  ["org", "{ capabilities: { ship: { grnts: [] } } }", "{ capabilities: { ship: { grants: [] } } }"],
  ["org", "{ capabilities: { ship: { tools: 5 } } }", "{ capabilities: { ship: { tools: [] } } }"],
  ["org", "{ budget: lots, agents: { boss: {} } }", "{ budget: 25, agents: { boss: {} } }"],
  ["org", "{ budget: { totlaUsd: 3 }, agents: { boss: {} } }", "{ budget: { totalUsd: 3 }, agents: { boss: {} } }"],
  ["org", boss(", budget: { team: lots }"), boss(", budget: { team: 25 }")],
  [
    "org",
    "{ agents: { boss: {} }, triggers: { t: { kind: webhok, prompt: go } } }",
    "{ agents: { boss: {} }, triggers: { t: { kind: webhook, prompt: go } } }",
  ],
  [
    "org",
    "{ agents: { boss: {} }, triggers: { t: { kind: webhook, prompt: go, agent: bos } } }",
    "{ agents: { boss: {} }, triggers: { t: { kind: webhook, prompt: go, agent: boss } } }",
  ],
  [
    "org",
    "{ defaults: { capabilites: { web: deny } }, agents: { boss: {} } }",
    "{ defaults: { capabilities: { web: deny } }, agents: { boss: {} } }",
  ],
  ["user", "{ workspaces: [work/shop] }", "{ workspaces: [~/work/shop] }"],
  ["user", "{ workspaces: ~/shop }", "{ workspaces: [~/shop] }"],
  ["user", "{ groups: [5] }", "{ groups: ['5'] }"],
  ["user", "{ name: 5 }", "{ name: '5' }"],
];

/** Mistakes whose mend cannot be told: no fix is better than a wrong one. */
const UNTOLD: readonly (readonly [kind: keyof typeof READERS, written: string])[] = [
  ["user", "{ workspaces: ['../other'] }"],
  ["user", "{ workspaces: [./here] }"],
  ["user", "{ workspaces: ['*'] }"],
  ["user", "{ group: ops, groups: [dev] }"],
  ["org", "{ capabilities: { code: { grants: [] } } }"],
  ["org", boss(", model: 'a b'")],
];

describe("a fix as it is printed", () => {
  test.each(MISTAKES)("of a %s: %s", (kind, written, meant) => {
    const [told] = READERS[kind](written).diagnostics;
    if (told === undefined) throw new Error("no diagnostic");
    expect([told.fix, told.suggestion]).not.toEqual([null, null]);
    const text = applyFix(written, told);
    const after = READERS[kind](text);
    expect([text, after.diagnostics.filter(({ severity }) => severity === "error")]).toEqual([text, []]);
    expect([text, after.said]).toEqual([text, READERS[kind](meant).said]);
  });

  test.each(UNTOLD)("of a %s: %s has none", (kind, written) => {
    const [told] = READERS[kind](written).diagnostics;
    expect([told?.severity, told?.fix, told?.suggestion]).toEqual(["error", null, null]);
  });

  test("a skill's name from a folder that has none is one", () => {
    for (const folder of ["My Skill", "...", "x".repeat(80)]) {
      const [told] = skill("{ description: d }", folder).diagnostics;
      const text = `{ description: d, ${told?.fix} }`;
      expect([folder, skill(text, folder).diagnostics.filter(({ severity }) => severity === "error")]).toEqual([
        folder,
        [],
      ]);
    }
  });

  test("a frontmatter that is no map is replaced by the example", () => {
    const [told] = skill("just text").diagnostics;
    const lines = told?.fix?.split("\n") ?? [];
    expect([lines[0], lines.at(-1)]).toEqual(["---", "---"]);
    expect(skill(lines.slice(1, -1).join("\n")).diagnostics).toEqual([]);
  });

  test.each([
    ['* capabilities: { "code": "deny" }', '- capabilities: { "code": "deny" }'],
    ['- capabilites: { "code": "deny" }  ', '- capabilities: { "code": "deny" }'],
  ])("of a line in Markdown: %s", (written, meant) => {
    const file = (line: string): Read => {
      const text = `# Org\n\n## Agents\n\n### Boss\n\n${line}\n`;
      return org(readOrgMarkdown({ name: "org.md", text }, readJson));
    };
    const [told] = file(written).diagnostics;
    expect(told?.fix).toBe(meant);
    expect(file(told?.fix ?? "")).toEqual({ diagnostics: [], said: file(meant).said });
  });

  test("a line under the wrong heading is not proposed again", () => {
    const text = "# Org\n\n## Agents\n\n### Boss\n\n- defaults: {}\n";
    const [told] = readOrgMarkdown({ name: "org.md", text }, readJson).diagnostics;
    expect([told?.fix, told?.message]).toEqual([null, expect.stringContaining("move it to the heading it belongs to")]);
  });
});
