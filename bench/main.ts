// `npm run bench -- NAME [--json] [--long]`: measures, prints, and never fails because something was slow.
import { join } from "node:path";
import { argv } from "node:process";
import { attackBench } from "./attack/bench.ts";
import { isCellProcess, serveCell } from "./cell-process.ts";
import { cliBench } from "./cli.ts";
import { decideBench } from "./decide/bench.ts";
import { measureCell } from "./decide/cells.ts";
import { gatewayBench } from "./gateway.ts";
import { hookBench } from "./hook.ts";
import { mcpBench } from "./mcp/bench.ts";
import { benchFolder } from "./place.ts";
import { runBench } from "./run/bench.ts";
import { sandboxBench } from "./sandbox/bench.ts";
import { stateBench } from "./state/bench.ts";
import { isStateWorker, serveStateWorker } from "./state/worker.ts";
import { tasksBench } from "./tasks.ts";
import { toolsBench } from "./tools/bench.ts";

const benches: Readonly<Record<string, (json: boolean, isLong: boolean) => Promise<void>>> = {
  attack: attackBench,
  cli: cliBench,
  decide: decideBench,
  gateway: gatewayBench,
  hook: hookBench,
  mcp: mcpBench,
  run: runBench,
  sandbox: sandboxBench,
  state: stateBench,
  tasks: tasksBench,
  tools: toolsBench,
};
const WORDS = ["--json", "--long"];

process.exitCode = isCellProcess()
  ? await serveCell(measureCell)
  : isStateWorker()
    ? await serveStateWorker()
    : await main(argv.slice(2));

async function main(words: readonly string[]): Promise<number> {
  const [name = "", ...rest] = words;
  const bench = Object.hasOwn(benches, name) ? benches[name] : undefined;
  if (bench === undefined || rest.some((word) => !WORDS.includes(word))) {
    console.error(`usage: npm run bench -- ${Object.keys(benches).join("|")} [--json] [--long]`);
    console.error(`what it means: ${join(benchFolder, "README.md")}`);
    return 2;
  }
  try {
    await bench(rest.includes("--json"), rest.includes("--long"));
    return 0;
  } catch (problem) {
    console.error(`bench: ${problem instanceof Error ? problem.message : String(problem)}`);
    return 1;
  }
}
