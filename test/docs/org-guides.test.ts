// The guides about orgs and schedules: their files are read without errors, and their commands run in a project made of them.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { environment, root } from "../e2e/ambit.ts";
import { holdsWithin } from "../house/until.ts";
import { Walk } from "../seeds/walk.ts";
import { blocksOf, read } from "./markdown.ts";
import { commandsOf, isExpected } from "./page-commands.ts";

const orgPage = read(root, "docs/guides/org.md");
const schedulesPage = read(root, "docs/guides/schedules.md");
const KEY = "a-key-that-signs-requests";
const patienceMilliseconds = 60_000;
const [orgText = "", ...otherTexts] = blocksOf(orgPage, "markdown");
const [triggers = ""] = blocksOf(schedulesPage, "markdown");

const walk = new Walk();
let runner: ChildProcess | null = null;
let address = "";

/** As typed in the project. A runner would go on: with `--once` it ends when nothing is left. */
function run(script: string): { readonly status: number | null; readonly output: string } {
  const text = script
    .replace(/^ambit tasks work(.*)$/m, "ambit tasks work$1 --once")
    .replace("http://127.0.0.1:8787", address);
  const { status, stdout, stderr } = spawnSync("bash", ["-c", text], {
    cwd: walk.folder,
    encoding: "utf8",
    env: { ...environment, KEY, PATH: `${join(walk.folder, "bin")}:${join(root, "bin")}:${process.env["PATH"]}` },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 60_000,
  });
  return { status, output: stdout + stderr };
}

function expectCommands(page: string, isRun: (block: string) => boolean): number {
  const commands = blocksOf(page, "sh").filter(isRun).flatMap(commandsOf);
  for (const command of commands) {
    const { status, output } = run(command.text);
    expect
      .soft(status !== null && isExpected(command, status), `${command.text}\nended with ${status}\n${output}`)
      .toBe(true);
  }
  return commands.length;
}

beforeAll(() => {
  // A reviewer, whom the page about schedules has, and a client that ends at once.
  const org = `${orgText.replace("- model: claude-sonnet-4-5\n", "- client: echo\n")}\n### Reviewer\n\nYou review.\n\n${triggers}`;
  walk.write({ ".ambit/org.md": org, "services/package.json": '{"scripts":{"test":"true"}}', "key.txt": KEY });
  walk.trust();
});
afterAll(async () => {
  const running = runner;
  if (running !== null)
    await new Promise((give) => {
      running.once("exit", give);
      running.kill("SIGTERM");
    });
  walk.ambit("daemon", "stop");
});

describe("the guide of orgs", () => {
  test("has org files without errors, in both forms", () => {
    expect(otherTexts).toEqual([]);
    const files = [
      ["org.md", orgText] as const,
      ...blocksOf(orgPage, "yaml").map((text) => ["org.yml", text] as const),
    ];
    expect(files).toHaveLength(4);
    for (const [name, text] of files) {
      const own = new Walk();
      own.write({ [`.ambit/${name}`]: text });
      expect.soft(own.ambit("org", "show"), text).toMatchObject({ status: 0, err: "" });
    }
    const own = new Walk();
    own.write({ ".ambit/org.md": orgText.replace('"hire": "deny"', '"hire": "never"') });
    expect(own.ambit("org", "show").status).toBe(3);
  });
  test("prints commands that run", { timeout: 180_000 }, () => {
    expect(expectCommands(orgPage, () => true)).toBeGreaterThanOrEqual(7);
    expect(run("ambit tasks list --state done --json").output.match(/"state":"done"/g)).toHaveLength(2);
    expect(run("ambit store get crm acme").output).toContain("customer");
  });
});

describe("the guide of schedules", () => {
  const isRequest = (block: string): boolean => block.includes("curl");
  test("prints commands that run", { timeout: 180_000 }, () => {
    const secret = blocksOf(schedulesPage, "sh").find((block) => block.includes("secrets set"));
    expect(secret).toContain("--sign-only");
    // Without a terminal the value comes from a file, and the port of the page may be taken.
    const page = schedulesPage
      .replace("ambit secrets set deploy", "ambit secrets set deploy --from file:key.txt")
      .replace("--webhooks 8787", "--webhooks 0");
    expect(expectCommands(page, (block) => !isRequest(block))).toBeGreaterThanOrEqual(8);
  });
  test("has triggers that are schedules of the agents it says", () => {
    const { out } = walk.ambit("schedules", "list");
    expect(out).toMatch(/every 7d .* ceo .*\.ambit\/org\.md:\d+/);
    expect(out).toMatch(/cron 0 9 \* \* 1 in Europe\/Berlin .* engineer /);
    expect(out).toContain("ambit secrets set inbound-signup --tool webhook --host localhost --sign-only");
  });
  test("prints a request that the runner accepts", { timeout: 120_000 }, async () => {
    const words = [join(root, "bin", "ambit"), "tasks", "work", "--json", "--webhooks", "0"];
    runner = spawn(process.execPath, words, { cwd: walk.folder, env: environment });
    let out = "";
    runner.stdout?.on("data", (bytes: Buffer) => {
      out += bytes.toString();
    });
    expect(await holdsWithin(patienceMilliseconds, () => out.includes('"webhooks"'), 100)).toBe(true);
    address = (JSON.parse(out.split("\n")[0] ?? "") as { webhooks: string }).webhooks;
    const [block = ""] = blocksOf(schedulesPage, "sh").filter(isRequest);
    const { status, output } = run(block.replace("curl -d", "curl -s -o answer -w '%{http_code}' -d"));
    expect([status, output]).toEqual([0, "202"]);
    const isTold = (): boolean => walk.ambit("tasks", "list", "--json").out.includes("version");
    expect(await holdsWithin(patienceMilliseconds, isTold, 300)).toBe(true);
  });
});
