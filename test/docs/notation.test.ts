// The examples of spec/notation.md parse without errors, and allow and deny what the page says.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { environment, root } from "../e2e/ambit.ts";
import { ownFolder } from "../house/own-folder.ts";
import { blocksOf, read } from "./markdown.ts";

const page = read(root, "spec/notation.md");
const folder = ownFolder("ambit-notation-");
const project = join(folder, "project");
mkdirSync(join(project, ".ambit"), { recursive: true });

function section(heading: string): string {
  const start = page.indexOf(`\n## ${heading}\n`);
  expect(start, heading).toBeGreaterThan(0);
  return page.slice(start, page.indexOf("\n## ", start + 1));
}

/** Outside `.ambit` a file named on the command line needs no trust. */
function can(file: string, request: string): string | undefined {
  const argv = [join(root, "bin", "ambit"), "can", file, "--json", ...request.split(" ")];
  const { stdout, stderr } = spawnSync(process.execPath, argv, { cwd: project, env: environment, encoding: "utf8" });
  const { diagnostics, outcome } = JSON.parse(stdout || stderr) as {
    readonly outcome?: string;
    readonly diagnostics?: readonly { readonly severity: string }[];
  };
  expect((diagnostics ?? []).filter(({ severity }) => severity === "error")).toEqual([]);
  return outcome;
}

type Row = readonly [heading: string, language: string, file: string, allow: string, deny: string];
const rows: readonly Row[] = [
  ["Record", "yaml", "scout.yml", "net.connect x.com:443", "net.connect x.com:444"],
  ["Token and manifest", "yaml", "m.yml", "net.connect mail.example.com:443", "net.connect mail.example.com:25"],
  ["Caveats", "json", "c.json", "fs.read /srv/build/a", "fs.read /srv/built/a"],
  ["Caveats", "toml", "c.toml", "net.get https://api.example.com/", "net.get https://www.example.com/"],
  ["Organisation policy", "yaml", "p.yml", "fs.read a", "records.read id=a class=contact"],
  ["Tool declaration", "yaml", "d.yml", "net.get https://api.weather.gov/x", "net.get https://weather.gov/x"],
];

describe("the grammar's examples", () => {
  test.each(rows)("%s (%s)", (heading, language, file, allow, deny) => {
    const [example] = blocksOf(section(heading), language);
    expect(example).toBeDefined();
    writeFileSync(join(project, file), example ?? "");
    expect(can(file, allow)).toBe("allow");
    expect(can(file, deny)).toBe("deny");
  });

  test("of the compact form are one grant each", () => {
    const specs = blocksOf(section("Compact"), "").flatMap((block) => block.trim().split("\n"));
    expect(specs.length).toBeGreaterThanOrEqual(3);
    for (const [at, spec] of specs.entries()) {
      const file = `compact-${at}.md`;
      writeFileSync(join(project, file), `---\ncapabilities:\n  - ${JSON.stringify(spec)}\n---\n`);
      expect(can(file, "records.read id=a")).toBe("deny");
    }
  });
});
