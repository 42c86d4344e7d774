// The short program and the whole one: the same answers, to the byte, whichever gives them.
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ambit, environment, type Ran, root } from "./ambit.ts";

const folder = mkdtempSync(join(tmpdir(), "ambit-short-"));
const workspace = join(folder, "workspace");

/** An install that holds one of the two. */
function installed(name: "ambit" | "can"): string {
  const install = join(folder, name);
  for (const inside of ["bin", "dist"]) mkdirSync(join(install, inside), { recursive: true });
  for (const file of ["bin/ambit", "bin/package.json", `dist/${name}.cjs`])
    copyFileSync(join(root, file), join(install, file));
  return install;
}

function run(install: string, words: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(install, "bin", "ambit"), "can", ...words], {
    cwd: workspace,
    encoding: "utf8",
    env: environment,
    timeout: 60_000,
  });
  return { status, out: stdout, err: stderr };
}

beforeAll(() => {
  cpSync(join(root, "examples", "workspace"), workspace, { recursive: true });
  expect(ambit(workspace, "trust", "--yes").status).toBe(0);
  const agents = join(workspace, ".ambit", "agents");
  writeFileSync(join(agents, "new.md"), "---\nid: new\ncapabilities: [net.get]\n---\n");
  writeFileSync(join(workspace, "odd.md"), "---\nid: \u00fc\u202e\ncapabilities: [net.gte, 'fs.read{in=.}']\n---\n");
  writeFileSync(
    join(workspace, "wide.md"),
    "---\nid: \u65e5\u672c\ncapabilities:\n  - fs.read:\n      in: ./\u65e5\u672c\n---\n",
  );
  writeFileSync(join(workspace, "caveats.toml"), '[caveats]\nfs_read = ["."]\n');
  writeFileSync(join(workspace, "caveats.json"), '{"fs_read": ["."]}\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Whether the short program alone has the answer. */
const rows: readonly (readonly [boolean, readonly string[]])[] = [
  [true, ["scout", "net.get", "https://api.github.com/repos"]],
  [true, ["scout", "net.get", "https://api.github.com/repos", "--json"]],
  [true, ["scout", "net.get", "https://github.co/"]],
  [true, ["scout", "net.get", "https://10.0.0.1/"]],
  [true, ["scout", "net.get", "https://\u00e4.de/"]],
  [true, ["scout", "net.post", "https://api.github.com/repos"]],
  [true, ["scout", "fs.read", "../../.ssh/id"]],
  [true, ["scout", "fs.read", "a b/\u00fc\u65e5.txt"]],
  [true, ["scout", "proc.exec", "--", "git", "push", "--json"]],
  [true, ["scout", "tool.invoke", "send_money", '{"amount": 101}']],
  [true, ["scout", "net.gte", "https://x/"]],
  // To compare what is written with what is trusted takes more than the short program holds.
  [false, ["new", "net.get", "https://x.org/"]],
  [true, ["nobody", "net.get", "https://x.org/"]],
  [true, ["odd.md", "fs.read", "a"]],
  [true, ["wide.md", "fs.read", "\u65e5\u672c/a", "--json"]],
  [false, ["scout", "agent.grant", "aide", "net.get{hosts=[*.com]}"]],
  [false, ["caveats.toml", "fs.read", "a"]],
  [false, ["caveats.json", "fs.read", "a"]],
  [false, ["--help"]],
  [false, ["scout"]],
];

describe("both programs", () => {
  const whole = installed("ambit");
  const short = installed("can");
  test.each(rows)("short: %j, %j", (isShort, words) => {
    const expected = run(whole, words);
    expect(ambit(workspace, "can", ...words)).toEqual(expected);
    // Without the whole program there is nobody to leave it to.
    const alone = run(short, words);
    if (isShort) expect(alone).toEqual(expected);
    else expect(alone.err).toMatch(/not built/);
  });
});
