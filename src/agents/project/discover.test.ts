import { describe, expect, it } from "vitest";
import type { Moment } from "../../core/authority/compiled.ts";
import { readCompact } from "../../core/notation/compact/compact.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { readRecord } from "../../core/notation/record/record.ts";
import { READING, treeOf } from "../../core/notation/testing/notation.ts";
import { agentFromRecord, agentRefused } from "./agent.ts";
import { agentsThatHold } from "./discover.ts";

const MOMENT: Moment = { now: 0, clean: true, generation: 0, revoked: null, exhausted: null };

const AGENTS = [
  ...Object.entries({
    wide: ["net.get{hosts=[*]}", "fs.read{in=/}"],
    github: ["net.get{hosts=[*.github.com]}"],
    api: ["net.get{hosts=[api.github.com]}"],
    asks: ["net.get{hosts=[*.github.com],ask}"],
    halves: ["fs.read{in=/a,paths=[x/**]}", "fs.read{in=/a,paths=[y/**]}"],
    bare: ["net.get", "fs.read"],
    nothing: [],
  }).map(([id, capabilities]) => agentFromRecord(readRecord(treeOf({ capabilities }), READING), id, READING, MOMENT)),
  agentRefused("refused", "record", []),
];

describe("agents that hold at least this", () => {
  it.each<readonly [readonly string[], readonly string[]]>([
    [["net.get{hosts=[*.github.com]}"], ["wide", "github"]],
    [["net.get{hosts=[api.github.com]}"], ["wide", "github", "api"]],
    [["net.get{hosts=[api.github.co]}"], ["wide"]],
    [["net.get{hosts=[api.github.com],ask}"], ["wide", "github", "api", "asks"]],
    [["fs.read{in=/a,paths=[x/**,y/**]}"], ["wide", "halves"]],
    [["fs.read{in=/a}"], ["wide"]],
    [["net.get{hosts=[api.github.com]}", "fs.read{in=/a,paths=[x/**]}"], ["wide"]],
    // An empty query has an empty answer.
    [["net.get"], []],
    [["net.get{hosts=[]}"], []],
    [["net.get{hosts=[api.github.com]}", "fs.read"], []],
    [[], []],
  ])("%j", (specs, ids) => {
    const grants = specs.flatMap((spec) => {
      const span = { source: "spec", start: 0, end: spec.length };
      return readCompact(spec, { reading: READING, diagnostics: new Diagnostics(), span, root: null }) ?? [];
    });
    expect(grants).toHaveLength(specs.length);
    expect(agentsThatHold(AGENTS, grants, READING.pathSettings.protectedPaths)).toEqual(ids);
  });
});
