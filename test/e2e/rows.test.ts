// docs/rows.md as a newcomer reads it: every command it prints is run in a copy of examples/rows, and every test it names exists.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { removeState } from "../house/remove-state.ts";
import { environment, root } from "./ambit.ts";

interface Row {
  readonly id: string;
  readonly state: string;
  readonly tries: string;
  readonly holds: string;
}

const ROWS: readonly Row[] = readFileSync(join(root, "docs", "rows.md"), "utf8")
  .split("\n")
  .filter((line) => /^\| [A-Z]\d+ \|/.test(line))
  .map((line) => {
    const [, id = "", , state = "", tries = "", holds = ""] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return { id, state, tries: tries.replaceAll("\\|", "|"), holds };
  });
const CLAIMED = ROWS.filter(({ state }) => state !== "not yet");

/** The exit status of a denial, an approval or a widening; everything else exits with 0. */
const STATUS: Readonly<Record<string, number>> = {
  "ambit can bare.md net.get https://example.com/": 10,
  "ambit can escapes.md fs.read x": 10,
  "ambit can scout fs.read /etc/passwd": 10,
  'ambit can scout agent.grant aide "net.get{hosts=[*]}"': 10,
  "ambit can clerk net.get https://example.com/": 11,
  "ambit skills check release-notes --agent scout": 10,
  'ambit call scout fs_read \'{"path": "/etc/passwd"}\' --json': 10,
  'ambit call scout forecast \'{"city": "oslo"}\'': 1,
  'ambit call scout shell \'{"script": "ls; rm -rf notes"}\'': 10,
  'ambit call scout web_fetch \'{"url": "http://169.254.169.254/"}\'': 10,
  "ambit diff .ambit/agents/lead.md .ambit/agents/scout.md": 13,
};

/** A placeholder, a person at a terminal, the network, or a client that stays. */
const NOT_HERE =
  /\b(ID|NAME|DENIAL)\b|\.\.\.|watch$|secrets set|--sink|mcp serve|curl|--fix$|^ambit (call|exec|can|trust|log)$|web_(search|fetch)$/;

function commandsOf({ tries }: Row): readonly string[] {
  return [...tries.matchAll(/`(ambit [^`]+)`/g)].map(([, text = ""]) => text).filter((text) => !NOT_HERE.test(text));
}

const folder = mkdtempSync(join(tmpdir(), "ambit-rows-"));
afterAll(() => {
  run("ambit daemon stop");
  removeState(folder);
});

function run(command: string): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync("bash", ["-c", command], {
    cwd: folder,
    encoding: "utf8",
    env: { ...environment, PATH: `${join(root, "bin")}:${process.env["PATH"]}` },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 60_000,
  });
  return { status, output: stdout + stderr };
}

describe("the rows", () => {
  test("are parsed", () => {
    expect(ROWS.length).toBeGreaterThanOrEqual(60);
    expect(CLAIMED.flatMap(commandsOf).length).toBeGreaterThanOrEqual(60);
  });

  test("name tests that exist", () => {
    const tests = ["src", "test"].flatMap((room) =>
      readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
        .filter((file) => /\.test\.[a-z]+$/.test(file) && !file.includes("node_modules"))
        .map((file) => `${room}/${file}`),
    );
    for (const { id, holds } of CLAIMED) {
      expect(holds, id).not.toBe("");
      for (const [, path = ""] of holds.matchAll(/`((?:src|test)[^`]*)`/g)) {
        const [before = "", after = ""] = path.split("*");
        const isNamed = (file: string): boolean =>
          path.includes("*") ? file.startsWith(before) && file.endsWith(after) : `${file}/`.startsWith(`${path}/`);
        expect(tests.some(isNamed) || tests.some((file) => file.startsWith(`${path}/`)), `${id}: ${path}`).toBe(true);
      }
    }
  });

  test("print commands that do what they are listed for", { timeout: 300_000 }, () => {
    cpSync(join(root, "examples", "rows"), folder, { recursive: true });
    const trusted = run("git init -q . && ambit trust --yes");
    expect(trusted.status).toBe(0);
    expect(trusted.output).toContain("review every file in .ambit/tools");
    let dates = 0;
    for (const row of CLAIMED)
      for (const command of commandsOf(row)) {
        const { status, output } = run(command);
        // The grant needs approval, the approval is for one call, and then it is needed again: twice in the table.
        const asked = command === "ambit exec scout -- date" ? (dates++ % 2 === 0 ? 125 : 0) : null;
        expect.soft(status, `${row.id}: ${command}\n${output}`).toBe(asked ?? STATUS[command] ?? 0);
      }
    expect(run(`ambit call scout read_note '{"name": "today"}'`).output).toBe("Ask Ann.\n");
    expect([1, 2, 3, 4].map(() => run("ambit exec scout -- hostname").status)).toContain(125);
  });

  test("have variants one word away, whose errors say what to do", () => {
    const wrong: readonly (readonly [number, RegExp, string])[] = [
      [2, /write the program after `--`\n {2}fix: ambit exec coder -- ls$/m, "ambit exec coder ls"],
      [0, /^none of 1: ambit skills check <skill> --agent clerk /m, "ambit skills list --agent clerk"],
      [0, /^no records of class task; there are note$/m, "ambit records list --class task"],
      [1, /no such file or folder\n$/, "ambit tools lint nosuch.mjs"],
      [2, /did you mean scope_violation\?/, "ambit log --code scope_violatoin"],
      [1, /fix: ambit approvals list/, "ambit approvals show a_none"],
      [1, /fix: ambit agents tree/, "ambit agents revoke --link l_none"],
      [1, /fix: ambit log$/m, "ambit why c_none"],
      [10, /tools: ambit tools list/, "ambit call scout fs_raed"],
      [10, /no grant can cover it: it is outside /, "ambit can scout fs.read /etc/passwd"],
    ];
    for (const [status, said, command] of wrong) {
      const ran = run(command);
      expect.soft(ran.output, command).toMatch(said);
      expect.soft(ran.status, command).toBe(status);
    }
  });
});
