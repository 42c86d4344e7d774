// The guides as a newcomer reads them: every command is run in a copy of examples/rows, and exits as the page says.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { environment, root } from "../e2e/ambit.ts";
import { ownFolder } from "../house/own-folder.ts";
import { blocksOf, read } from "./markdown.ts";
import { commandsOf, isExpected } from "./page-commands.ts";

/** Their commands start the clients themselves: `npm run test:clients` runs them. */
const OF_CLIENTS: readonly string[] = ["claude-code.md", "codex.md", "gemini.md", "opencode.md"];
/** They have agents of their own: `org-guides.test.ts` runs them. */
const OF_ORGS: readonly string[] = ["org.md", "schedules.md"];

const guides = ["guides", "concepts"].flatMap((folder) =>
  readdirSync(join(root, "docs", folder))
    .filter((name) => !OF_CLIENTS.includes(name) && !OF_ORGS.includes(name))
    .map((name) => join("docs", folder, name)),
);

describe("the guides", () => {
  const folder = ownFolder("ambit-guide-");
  const project = join(folder, "rows");
  const configuration = join(environment["XDG_CONFIG_HOME"] ?? "", "ambit");

  function run(script: string): { readonly status: number | null; readonly output: string } {
    const text = script.replaceAll("~/.config/ambit", configuration).replaceAll("/tmp/rows", project);
    const { status, stdout, stderr } = spawnSync("bash", ["-c", text], {
      cwd: project,
      encoding: "utf8",
      env: { ...environment, PATH: `${join(root, "bin")}:${process.env["PATH"]}` },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 60_000,
    });
    return { status, output: stdout + stderr };
  }

  test("print commands that exit as they say", { timeout: 300_000 }, () => {
    cpSync(join(root, "examples", "rows"), project, { recursive: true });
    expect(run("git init -q . && ambit trust --yes").status).toBe(0);
    let checked = 0;
    for (const guide of guides)
      for (const command of blocksOf(read(root, guide), "sh").flatMap(commandsOf)) {
        const { status, output } = run(command.text);
        const isRight = status !== null && isExpected(command, status);
        expect.soft(isRight, `${guide}: ${command.text}\nended with ${status}\n${output}`).toBe(true);
        checked++;
      }
    expect(guides.length).toBeGreaterThanOrEqual(7);
    expect(checked).toBeGreaterThanOrEqual(50);
  });

  test("say the language of each block, and no block of commands hides in another", () => {
    const pages = [...guides, ...OF_CLIENTS.map((name) => join("docs", "guides", name))];
    const found = pages.flatMap((guide) => {
      const page = read(root, guide);
      const plain = page.split("\n").filter((line) => line.startsWith("```"));
      const isUnnamed = plain.some((line, at) => at % 2 === 0 && line === "```");
      const hidden = blocksOf(page, "text").filter((block) => /^(\$ )?ambit /m.test(block));
      return [...(isUnnamed ? [guide] : []), ...hidden];
    });
    expect(found).toEqual([]);
  });

  test("are told apart from commands that do not exist, and from another exit status", () => {
    expect(run("ambit exect coder -- ls").status).toBe(2);
    expect(isExpected({ text: "ambit agents revoke --link ID", says: null }, 2)).toBe(false);
    expect(isExpected({ text: "ambit log", says: null }, 10)).toBe(false);
    expect(isExpected({ text: "ambit log # deny", says: "deny" }, 0)).toBe(false);
    expect(isExpected({ text: "ambit log # fails", says: "fails" }, 2)).toBe(false);
  });

  test("have every key of the configuration", () => {
    const page = read(root, "docs/guides/config.md");
    const { stdout } = spawnSync(join(root, "bin", "ambit"), ["schema", "user-config"], { encoding: "utf8" });
    const { properties } = JSON.parse(stdout) as { properties: Record<string, unknown> };
    const keys = Object.keys(properties).filter((key) => key !== "capabilities");
    expect(keys.length).toBeGreaterThan(15);
    expect(keys.filter((key) => !page.includes(`| \`${key}\` |`))).toEqual([]);
  });

  test("have an example configuration without errors", () => {
    const page = read(root, "docs/guides/config.md");
    const [example = ""] = blocksOf(page, "yaml");
    const check = (text: string): number | null => {
      const own = ownFolder("ambit-config-");
      mkdirSync(join(own, "ambit"));
      writeFileSync(join(own, "ambit", "config.yml"), text);
      const env = { ...environment, XDG_CONFIG_HOME: own, XDG_STATE_HOME: join(own, "state") };
      return spawnSync(join(root, "bin", "ambit"), ["status"], { cwd: join(root, "examples", "rows"), env }).status;
    };
    expect(example.split("\n").length).toBeGreaterThan(15);
    expect(check(example)).toBe(0);
    expect(check(example.replace("control: presence", "control: presense"))).toBe(3);
  });
});
