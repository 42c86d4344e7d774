// Edits of org files in both forms: one ruling changes, and everything else stays as it was written.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { orgRulings } from "../../org/org.ts";
import { allowInOrg } from "../../org/org-edit.ts";
import { orgOf, orgTree } from "./org-file.ts";
import { editOrgFile } from "./trusting-files.ts";

function edited(name: string, text: string, agent = "dev", capabilities: readonly string[] = ["code"]): string {
  const result = allowInOrg({ name, text }, orgTree, agent, capabilities);
  return result.ok ? result.value : `refused: ${result.message}`;
}
function rulingsOf(name: string, text: string): Readonly<Record<string, string>> {
  const org = orgOf({ name, text });
  const dev = org.agents.find(({ id }) => id === "dev");
  if (dev === undefined) throw new Error(text);
  return Object.fromEntries(orgRulings(org, dev).map(({ capability, ruling }) => [capability, ruling]));
}

describe("in YAML", () => {
  it.each([
    ["a word", "  dev: { capabilities: { code: ask } } # why\n", "  dev: { capabilities: { code: allow } } # why\n"],
    ["in quotes", "  dev: { capabilities: { 'code': 'ask' } }\n", "  dev: { capabilities: { 'code': 'allow' } }\n"],
    [
      "beside another",
      "  dev: { capabilities: { web: deny } }\n",
      "  dev: { capabilities: { web: deny, code: allow } }\n",
    ],
    ["in an empty map", "  dev: { capabilities: {} }\n", "  dev: { capabilities: { code: allow } }\n"],
    ["without a map", "  dev: { role: Dev }\n", "  dev: { role: Dev, capabilities: { code: allow } }\n"],
    [
      "in JSON",
      '  dev: {"role": "Dev", "capabilities": {"web": "ask"}}\n',
      '  dev: {"role": "Dev", "capabilities": {"web": "ask", "code": "allow"}}\n',
    ],
    [
      "in a block",
      "  dev:\n    # careful\n    capabilities:\n      web: ask # later\n",
      "  dev:\n    # careful\n    capabilities:\n      code: allow\n      web: ask # later\n",
    ],
    ["in a block without one", "  dev:\n    role: Dev\n", "  dev:\n    capabilities: { code: allow }\n    role: Dev\n"],
    [
      "with other line ends",
      "  dev:\r\n    role: Dev\r\n",
      "  dev:\r\n    capabilities: { code: allow }\r\n    role: Dev\r\n",
    ],
  ])("%s", (_, before, after) => {
    const head = before.includes("\r\n") ? "name: A\r\nagents:\r\n" : "# the org\nname: A\nagents:\n";
    expect(edited("org.yml", head + before)).toBe(head + after);
    expect(rulingsOf("org.yml", head + after)["code"]).toBe("allow");
  });
  it("several at once, of the one agent alone", () => {
    const text =
      "defaults: { capabilities: { code: ask, web: ask } }\nagents:\n  dev: { role: Dev }\n  ops: { role: Ops }\n";
    const after = edited("org.yml", text, "dev", ["code", "web"]);
    expect(after).toBe(text.replace("{ role: Dev }", "{ role: Dev, capabilities: { code: allow, web: allow } }"));
  });
  it.each([
    ["an agent that there is not", "agents:\n  ops: {}\n"],
    ["an agent without a map", "agents:\n  dev:\n"],
    ["a file with errors", "agents:\n  dev: { capabilities: { code: maybe } }\nbudgets: 3\n: x\n"],
  ])("refuses %s", (_, text) => {
    expect(edited("org.yml", text)).toMatch(/^refused: /);
  });
});

describe("in Markdown", () => {
  const head = '# A\n\nAbout us.\n\n- defaults: { "capabilities": { "code": "ask" } }\n\n## Agents\n\n';
  it.each([
    [
      "a ruling",
      '### Dev\n\n- capabilities: { "code": "ask",  "web": "deny" }\n\nYou build.\n',
      '### Dev\n\n- capabilities: { "code": "allow",  "web": "deny" }\n\nYou build.\n',
    ],
    [
      "beside another",
      '### Dev\n- capabilities: { "web": "deny" }\n',
      '### Dev\n- capabilities: { "web": "deny", "code": "allow" }\n',
    ],
    ["before prose", "### Dev\n\nYou build.\n", '### Dev\n\n- capabilities: { "code": "allow" }\n\nYou build.\n'],
    [
      "before other lines",
      "### Ops\n\n### Dev\n\n- reports to: Ops\n\nYou build.\n",
      '### Ops\n\n### Dev\n\n- capabilities: { "code": "allow" }\n- reports to: Ops\n\nYou build.\n',
    ],
    ["at the end of the file", "### Dev", '### Dev\n\n- capabilities: { "code": "allow" }\n'],
  ])("%s", (_, before, after) => {
    expect(edited("org.md", head + before)).toBe(head + after);
    expect(rulingsOf("org.md", head + after)["code"]).toBe("allow");
  });
});

it("a file that was changed meanwhile is left as it is", () => {
  const own = mkdtempSync(join(tmpdir(), "ambit-org-"));
  onTestFinished(() => rmSync(own, { recursive: true }));
  const [workspace, path] = [join(own, "work"), "org.yml"];
  mkdirSync(workspace);
  writeFileSync(join(workspace, path), "name: Theirs\n");
  const before = { name: path, text: "name: Ours\n" };
  const place = { workspace, state: join(own, "state") };
  expect(editOrgFile(null as never, place, path, before, "name: Edit\n")).toMatchObject({ ok: false });
  expect(readFileSync(join(workspace, path), "utf8")).toBe("name: Theirs\n");
});
