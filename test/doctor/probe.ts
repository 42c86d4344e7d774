// Agents in real frontmatter, on a machine with home /home/u and a workspace at /w.

import { type Agent, agentFromRecord, agentRefused } from "../../src/agents/project/agent.ts";
import type { Moment } from "../../src/core/authority/compiled.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import { readRecord } from "../../src/core/notation/record/record.ts";
import type { Source } from "../../src/core/notation/source.ts";
import { examine, type Section } from "../../src/doctor/examine.ts";
import type { Finding } from "../../src/doctor/finding.ts";
import type { Probe, ProbeAgent } from "../../src/doctor/probe.ts";
import { toAscii } from "../../src/platform/ascii.ts";
import { pathSettingsOf } from "../../src/platform/path-settings.ts";
import { readFrontmatter } from "../../src/text/frontmatter.ts";

export const NOW: number = Date.parse("2026-06-01T00:00:00Z");
const READING: Reading = { pathSettings: pathSettingsOf({ home: "/home/u", cwd: "/w" }), toAscii, ceiling: null };
const MOMENT: Moment = { now: NOW, clean: true, generation: 0, revoked: null, exhausted: null };

export function readAgent(source: Source, id: string): Agent {
  const { tree, diagnostics } = readFrontmatter(source).read;
  return tree === null
    ? agentRefused(id, "record", diagnostics)
    : agentFromRecord(readRecord(tree, READING), id, READING, MOMENT);
}

/** `text` is the frontmatter without its two lines of dashes. */
export function agentOf(text: string, id = "scout"): ProbeAgent {
  const source: Source = { name: `${id}.md`, text: `---\n${text}\n---\n` };
  return { ...readAgent(source, id), source, tree: readFrontmatter(source).read.tree };
}

export function probeOf(agents: readonly ProbeAgent[], more: Partial<Probe> = {}): Probe {
  return {
    agents,
    broken: [],
    configs: [],
    workspace: { folders: [["w", ".ambit"]], trust: "trusted" },
    machine: null,
    tools: [],
    pathSettings: READING.pathSettings,
    now: NOW,
    ...more,
  };
}

/** What is reported about one agent. */
export function sectionFor(text: string, more: Partial<Probe> = {}): Section {
  const section = examine(probeOf([agentOf(text)], more)).find(({ about }) => about === "agent");
  if (section === undefined) throw new Error("there is no section about the agent");
  return section;
}

export function findingsOf(text: string, code: string, more: Partial<Probe> = {}): readonly Finding[] {
  return sectionFor(text, more).findings.filter((finding) => finding.code === code);
}
