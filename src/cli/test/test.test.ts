// `ambit test` as a person reads it: an unreadable file is reported as that, and not as missing.

import { test as check, expect } from "vitest";
import { record, scout } from "../../../test/trust/project.ts";
import type { LoadResult } from "../../agents/disk/loaded-agent.ts";
import type { CliPorts } from "../ports.ts";
import { EXIT } from "../terminal/exit.ts";
import { PLAIN } from "../terminal/paint.ts";
import { test } from "./test.ts";

function told(ids: readonly string[], names: readonly string[]): { out: string; err: string; exit: number } {
  const [out, err]: [string[], string[]] = [[], []];
  const text = record("capabilities: [records.read]", "tests: [{ allow: records.read id=a }]");
  const { agent } = scout({ agent: text }, null);
  const known: LoadResult = { ok: true, value: { agent, source: { name: "scout.md", text } } };
  const ports = {
    paint: PLAIN,
    agentIds: () => ids,
    loadAgent: (name: string): LoadResult =>
      name === "scout" ? known : { ok: false, message: `there is no agent called ${name}`, fix: null },
    print: (line: string) => out.push(line),
    printError: (line: string) => err.push(line),
  } as unknown as CliPorts;
  const exit = test(ports, names, { json: false });
  return { out: out.join("\n"), err: err.join("\n"), exit };
}

check.each<[readonly string[], readonly string[], string, string, number]>([
  [["scout"], [], "✓ scout  allow  records.read id=a\n1 passed, 0 failed", "", EXIT.ok],
  [["scout"], ["missing"], "", "error: there is no agent called missing", EXIT.error],
  [
    ["scout"],
    ["scout", "missing"],
    "✓ scout  allow  records.read id=a\n1 passed, 0 failed",
    "error: there is no agent called missing",
    EXIT.error,
  ],
  [[], [], "no agents here; name a file, or create one: ambit agents new <id>", "", EXIT.ok],
])("of %j, asked for %j", (ids, names, out, err, exit) => {
  expect(told(ids, names)).toEqual({ out, err, exit });
});
