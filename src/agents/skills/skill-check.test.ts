import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Chain } from "../../core/authority/chain.ts";
import { compile, type Moment } from "../../core/authority/compiled.ts";
import type { Grant } from "../../core/authority/grant.ts";
import type { Json } from "../../core/base/json.ts";
import { compactText } from "../../core/notation/printer.ts";
import { readRecord } from "../../core/notation/record/record.ts";
import { READING, treeOf } from "../../core/notation/testing/notation.ts";
import { readFrontmatter } from "../../text/frontmatter.ts";
import { type Agent, agentFromRecord, agentRefused } from "../project/agent.ts";
import { readSkill, type Skill } from "./skill.ts";
import { checkSkill, skillsFor } from "./skill-check.ts";

const MOMENT: Moment = { now: 1_000, clean: true, generation: 0, revoked: null, exhausted: null };

function agent(capabilities: readonly Json[], more: Readonly<Record<string, Json>> = {}): Agent {
  return agentFromRecord(readRecord(treeOf({ capabilities, ...more }), READING), "scout", READING, MOMENT);
}

function skill(tools: string, name = "a"): Skill {
  const text = `---\nname: ${name}\ndescription: d\nallowed-tools: ${JSON.stringify(tools)}\n---\nx\n`;
  const { read, body } = readFrontmatter({ name: "SKILL.md", text });
  if (read.tree === null) throw new Error("the text of a test parses");
  const { skill: found } = readSkill(
    { origin: "user", file: "SKILL.md", folder: name },
    read.tree,
    text.slice(body.start),
    READING,
  );
  if (found === null) throw new Error("the skill of a test is valid");
  return found;
}

const gaps = (tools: string, by: Agent): readonly string[] =>
  checkSkill(skill(tools), by, READING, MOMENT).missing.map(({ verb, grant }) =>
    grant === null ? `any ${verb}` : compactText(grant),
  );

describe("a skill is for agents that hold what its tools need", () => {
  it.each<readonly [string, readonly Json[], Readonly<Record<string, Json>>, readonly string[]]>([
    ["", [], {}, []],
    ["TodoWrite", [], {}, []],
    // Within one folder of the agent.
    ["Bash(git log:*)", ["proc.exec{in=/p,patterns=[git log **]}"], {}, []],
    [
      "Bash(git log:*)",
      ["proc.exec{in=/p,patterns=[git logs **]}"],
      {},
      ['proc.exec{in=/p,patterns=["git log **"],root=ro}'],
    ],
    ["Bash(git log:*)", ["proc.exec{patterns=[git **]}"], { sandbox: "/p" }, []],
    ["Bash(git log:*)", ["proc.exec{in=/p,patterns=[git log **]}", "proc.exec{in=/q,cmds=[rg]}"], {}, []],
    ["Bash(rg)", ["proc.exec{in=/p,cmds=[rg]}"], {}, []],
    ["Bash(rg)", ["proc.exec{in=/p,cmds=[rgx]}"], {}, ["proc.exec{in=/p,patterns=[rg],root=ro}"]],
    ["Bash(rg)", [], {}, ["proc.exec{in=/work,patterns=[rg],root=ro}"]],
    ["Bash", ["proc.exec{in=/p}"], {}, []],
    ["Bash", ["proc.exec{in=/p,cmds=[rg]}"], {}, ["proc.exec{in=/p,patterns=[**],root=ro}"]],
    ["Bash(cd x && make)", ["proc.exec{in=/p}"], {}, ["proc.eval{in=/work,root=ro}"]],
    ["Bash(cd x && make)", ["proc.eval{in=/p}"], {}, []],
    ["Read(src/**)", ["fs.read{in=/p}"], {}, []],
    ["Read(src/**)", ["fs.read{in=/p,paths=[src/**]}"], {}, []],
    ["Read(src/**)", ["fs.read{in=/p,paths=[srcs/**]}"], {}, ["fs.read{in=/p,paths=[src/**]}"]],
    ["Read(/etc/hosts)", ["fs.read{in=/p}"], {}, ["fs.read{in=/etc,paths=[hosts]}"]],
    // Without a scope any grant of the verb is enough; a bare external verb grants nothing.
    ["Read", ["fs.read{in=/p,paths=[a.txt]}"], {}, []],
    ["Read", ["fs.read"], {}, ["fs.read{in=/work}"]],
    ["Read", ["fs.write{in=/p}"], {}, ["fs.read{in=/work}"]],
    ["Edit", ["fs.write{in=/p}"], {}, ["fs.read{in=/work}"]],
    ["Edit", ["fs.write{in=/p}", "fs.read{in=/q}"], {}, []],
    ["WebSearch", ["net.get{hosts=[x.test]}", "net.post{hosts=[x.test]}"], {}, []],
    ["WebSearch", ["net.get{hosts=[x.test]}", "net.post"], {}, ["any net.post"]],
    ["Task", ["agent.delegate{ids=[a]}"], {}, []],
    ["Task", [], {}, ["any agent.delegate"]],
    ["Task(b)", ["agent.delegate{ids=[a]}"], {}, ["agent.delegate{id=b}"]],
    ["mcp__s__t", ["tool.invoke{tools=[tool:s__*]}"], {}, []],
    ["mcp__s__t", ["tool.invoke"], {}, ["tool.invoke{tools=[s__t]}"]],
    ["WebFetch(domain:a.test)", ["net.get{hosts=[*.test]}"], {}, []],
    ["WebFetch(domain:a.test)", ["net.get{hosts=[b.test]}"], {}, ["net.get{hosts=[a.test]}"]],
    ["WebFetch(domain:a.test)", ["net.post{hosts=[a.test]}"], {}, ["net.get{hosts=[a.test]}"]],
    // A required approval or a future expiry is not a gap; a grant that has expired or may only be passed on is one.
    ["Bash(rg)", ["proc.exec{in=/p,cmds=[rg],ask=presence}"], {}, []],
    ["Bash(rg)", ["proc.exec{in=/p,cmds=[rg],expires=1970-01-01T00:00:02Z}"], {}, []],
    [
      "Bash(rg)",
      ["proc.exec{in=/p,cmds=[rg],expires=1970-01-01T00:00:01Z}"],
      {},
      ["proc.exec{in=/p,patterns=[rg],root=ro}"],
    ],
    ["Bash(rg)", ["proc.exec{in=/p,cmds=[rg],pass=pass}"], {}, ["proc.exec{in=/p,patterns=[rg],root=ro}"]],
    ["Read", ["fs.read{in=/p,expires=1970-01-01T00:00:01Z}"], {}, ["fs.read{in=/p}"]],
    ["Read", ["fs.read{in=/p,pass=pass}"], {}, ["fs.read{in=/p}"]],
    ["Read", ["fs.read{in=/p,ask,clean,pass=use}"], {}, []],
  ])("%s  %j %j", (tools, capabilities, more, missing) => {
    expect(gaps(tools, agent(capabilities, more))).toEqual(missing);
    expect(checkSkill(skill(tools), agent(capabilities, more), READING, MOMENT).satisfied).toBe(missing.length === 0);
  });

  test("an unknown tool is not a gap, an unreadable one is", () => {
    const without = agent([]);
    expect(checkSkill(skill("Raed"), without, READING, MOMENT)).toMatchObject({ satisfied: true, held: [] });
    expect(checkSkill(skill("Bash()"), agent(["proc.exec{in=/}"]), READING, MOMENT)).toMatchObject({
      satisfied: false,
    });
  });

  test.each([[undefined], [[]], [["user:ann"]]])("is asked for by the users of the moment: %j", (principals) => {
    const moment = { ...MOMENT, principals } as Moment;
    const check = (capabilities: readonly Json[]): boolean =>
      checkSkill(skill("WebFetch(domain:a.test)"), agent(capabilities), READING, moment).satisfied;
    expect(check(["net.get{hosts=[a.test]}"])).toBe(true);
    expect(check(["net.get{hosts=[b.test]}"])).toBe(false);
    expect(check([])).toBe(false);
  });

  test("an agent with an invalid record has the skills that need nothing", () => {
    const skills = [skill("", "none"), skill("Read", "reads")];
    const refused = agentRefused("scout", "record", []);
    expect(skillsFor(skills, refused, READING, MOMENT).map(({ name }) => name)).toEqual(["none"]);
    expect(skillsFor(skills, agent(["fs.read{in=/p}"]), READING, MOMENT).map(({ name }) => name)).toEqual([
      "none",
      "reads",
    ]);
  });
});

/** As if it had been granted in the text; how an edit treats a record's shorthands is tested with the edit. */
function mended(held: Agent, more: readonly Grant[]): Agent {
  const grants = [...held.grants, ...more];
  const chain = held.authority[0] as Chain;
  return { ...held, grants, authority: [[compile({ ...chain[0].link, grants })]] };
}

test("the grants that would close the gap close it", () => {
  const capability = fc.constantFrom(
    ...["proc.exec{in=/p,cmds=[rg]}", "proc.exec{patterns=[git log **]}", "fs.read", "fs.read{in=/p,paths=[src/**]}"],
    ...[
      "net.get{hosts=[a.test]}",
      "net.post",
      "agent.delegate{ids=[x]}",
      "tool.invoke{tools=[s__t]}",
      "fs.write{in=/q}",
    ],
  );
  const tool = fc.constantFrom(
    ...["Read(src/**)", "Read(/etc/*)", "Write(out/*.md)", "Edit(src/a.ts)", "Bash", "Bash(rg:*)", "Bash(git log:*)"],
    ...[
      "WebFetch(domain:a.test)",
      "WebFetch(domain:*.b.test)",
      "Task(x)",
      "mcp__s__t",
      "mcp__s",
      "Read",
      "Write",
      "Edit",
    ],
  );
  const sandbox = fc.constantFrom<Readonly<Record<string, Json>>>({}, { sandbox: "/p" });
  const lists = fc.tuple(fc.array(capability, { maxLength: 4 }), fc.array(tool, { maxLength: 4 }), sandbox);
  fc.assert(
    fc.property(lists, ([capabilities, tools, more]) => {
      const held = agent(capabilities, more);
      const { missing } = checkSkill(skill(tools.join(" ")), held, READING, MOMENT);
      const closing = missing.flatMap(({ grant }) => (grant === null ? [] : [grant]));
      expect(closing).toHaveLength(missing.length);
      const { missing: left } = checkSkill(skill(tools.join(" ")), mended(held, closing), READING, MOMENT);
      expect(left).toEqual([]);
    }),
    { numRuns: 500 },
  );
});
