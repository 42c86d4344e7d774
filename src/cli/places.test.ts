// The position shown for a grant: in the text that contains it.

import { describe, expect, test } from "vitest";
import { AGENT_PATH, MOMENT, record, scout, type Texts } from "../../test/trust/project.ts";
import type { LoadedAgent } from "../agents/disk/loaded-agent.ts";
import { READING } from "../core/notation/testing/notation.ts";
import { can } from "./can/can.ts";
import { compareSets, diffText } from "./diff/diff.ts";
import { PLAIN } from "./terminal/paint.ts";

const texts: Texts = {
  agent: record("class: agent", "sandbox: /work", "policy: { hire: deny }"),
  config: "# ours\npolicy: { consult: ask,\n  schedule: ask,\n  web: ask }\nagents:\n  scout: { schedule: deny }\n",
};

function loaded(user: string | null): LoadedAgent {
  const trust = scout(texts, null, user);
  return { agent: trust.agent, source: { name: AGENT_PATH, text: texts.agent ?? "" }, trust };
}

async function told(line: string, json: boolean, user: string | null = null): Promise<string> {
  const out: string[] = [];
  const say = (text: string): void => {
    out.push(text);
  };
  const loadAgent = () => ({ ok: true, value: loaded(user) }) as const;
  const changeClass = () => "free" as const;
  const ports = { changeClass, loadAgent, moment: MOMENT, paint: PLAIN, reading: READING, print: say, printError: say };
  await can(ports, "scout", line.split(" "), { json });
  return out.join("\n");
}

describe("can", () => {
  test.each([
    ["net.get https://a.example/", "(policy web (config))", ".ambit/config.yml", 4, "web: ask"],
    ["agent.consult x", "(policy consult (config))", ".ambit/config.yml", 2, "consult: ask"],
  ])("%s: the line of the configuration that rules on it", async (line, why, file, number, text) => {
    const shown = await told(line, false);
    expect(shown).toContain(why);
    expect(shown).toContain(`--> ${file}:${number}:`);
    expect(shown).toContain(text);
    expect(shown).not.toContain("hire");
    expect(JSON.parse(await told(line, true)).by).toMatchObject([{ file, line: number }]);
  });

  test("the base grants nothing to an agent that has a record", async () => {
    const shown = await told("agent.delegate x", false);
    expect(shown).toContain("capability_absent");
    expect(shown).not.toContain("-->");
  });

  test("the user's ceiling is shown in the user's file", async () => {
    const user = "ceiling:\n  - net.get{hosts=[b.example]}\n";
    const shown = await told("net.get https://a.example/", false, user);
    expect(shown).toContain("nearest net.get{hosts=[b.example]}");
    expect(shown).toContain("--> user.yml:2:5");
  });
});

test("a difference names the file of its line", () => {
  const [one] = compareSets(new Map(), new Map([["scout", loaded(null)]]), []);
  const places = one?.widened.map(({ grant, file, line }) => [grant?.split("{")[0], file, line]);
  expect(places).toContainEqual(["net.get", ".ambit/config.yml", 4]);
  expect(places).toContainEqual(["agent.consult", ".ambit/config.yml", 2]);
  expect(places).toContainEqual(["tool.invoke", AGENT_PATH, 2]);
  if (one === undefined) throw new Error("there is no difference");
  const shown = diffText(one, PLAIN);
  expect(shown).toContain("by net.get{hosts=[*],ask}  .ambit/config.yml:4");
  expect(shown).not.toContain("agent.delegate");
});
