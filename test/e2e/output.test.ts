// Output to a reader that is slow, or gone.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { removeState } from "../house/remove-state.ts";
import { root } from "./ambit.ts";

const folder = mkdtempSync(join(tmpdir(), "ambit-output-"));
const program = join(folder, "program.cjs");
const lines = 40_000;

beforeAll(async () => {
  // Touching the stream makes the pipe non-blocking, as a program before us may have done.
  const contents = `import { Output } from "./src/cli/terminal/output.ts";
    process.stdout;
    const output = new Output();
    for (let at = 0; at < ${lines}; at++) output.write(1, at + " ".repeat(90) + "\\n");
    output.write(2, "waits: " + output.isWaiting + "\\n");`;
  await build({
    stdin: { contents, resolveDir: root },
    outfile: program,
    bundle: true,
    platform: "node",
    format: "cjs",
    logLevel: "error",
  });
});
afterAll(() => removeState(folder));

test("all output arrives in order, however slow the reader", async () => {
  const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "pipe"] });
  const chunks: Buffer[] = [];
  let said = "";
  // Not read before the program has written all it can: by then the pipe is full.
  child.stderr.on("data", (data) => {
    said += String(data);
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  });
  const status = await new Promise((resolve) => child.on("close", resolve));
  expect(status).toBe(0);
  expect(said).toBe("waits: true\n");
  const numbers = Buffer.concat(chunks).toString("utf8").trimEnd().split("\n").map(Number);
  expect(numbers).toEqual(Array.from({ length: lines }, (_, at) => at));
});

test("a reader that exits is not an error of ours", () => {
  const { status, stderr } = spawnSync(
    "bash",
    ["-c", '"$@" | head -n 1 >/dev/null; exit "${PIPESTATUS[0]}"', "bash", process.execPath, program],
    {
      encoding: "utf8",
      timeout: 60_000,
    },
  );
  expect(stderr).not.toMatch(/EPIPE|Error/);
  expect(status).toBe(0);
});
