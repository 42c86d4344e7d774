// The README's first five minutes, as printed: every command is run, and every verdict and output is compared.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { removeState } from "../house/remove-state.ts";
import { environment, root } from "./ambit.ts";

const readme = readFileSync(join(root, "README.md"), "utf8");
const section = readme.slice(readme.indexOf("## The first five minutes"), readme.indexOf("## Six notations"));
// Client configurations are tested by test/mcp.
const blocks = [...section.replace(/```json\n.*?```/gs, "").matchAll(/```(sh)?\n(.*?)```/gs)].map(
  ([, language, text]) => ({
    isCommand: language === "sh",
    text: text ?? "",
  }),
);

function run(folder: string, script: string): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script.replaceAll("/tmp/first", folder)], {
    cwd: folder,
    encoding: "utf8",
    env: { ...environment, PATH: `${join(root, "bin")}:${process.env["PATH"]}` },
    timeout: 60_000,
  });
  return { status, output: stdout + stderr };
}

const STATUS = { allow: 0, ask: 11, deny: 10 } as const;

describe("the first five minutes", () => {
  const folder = mkdtempSync(join(tmpdir(), "ambit-first-"));

  test("work as printed", () => {
    expect(blocks.filter((block) => block.isCommand).length).toBeGreaterThanOrEqual(5);
    let checked = 0;
    let last = "";
    for (const { isCommand, text } of blocks) {
      if (!isCommand) {
        expect(last).toContain(text.trim());
        checked++;
        continue;
      }
      const lines = text.trim().split("\n");
      if (!lines.every((line) => line.startsWith("ambit "))) {
        // A block that prepares something, perhaps with one command of ours at its end.
        last = run(folder, text).output;
        continue;
      }
      for (const line of lines) {
        const { status, output } = run(folder, line);
        last = output;
        const ending = /# (runs|fails|refused)/.exec(line)?.[1];
        if (ending !== undefined) {
          const got = status === 0 ? "runs" : status === 125 ? "refused" : "fails";
          expect(got, `${line}\n${output}`).toBe(ending);
          checked++;
          continue;
        }
        const verdict = /# (allow|ask|deny)/.exec(line)?.[1] as keyof typeof STATUS | undefined;
        if (verdict === undefined) continue;
        expect(status, `${line}\n${output}`).toBe(STATUS[verdict]);
        expect(output).toContain(verdict);
        checked++;
      }
    }
    expect(checked).toBeGreaterThanOrEqual(12);
    removeState(folder);
  });
});
