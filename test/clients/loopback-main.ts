// Runs inside a network namespace with only loopback: the scripted model, and the client that talks to it. The results are
// printed as JSON.
import { readFileSync } from "node:fs";
import { type Ran, run } from "./run.ts";
import { ScriptedModel, type Step, type ToolResult } from "./scripted-model.ts";

/** Its one argument, as JSON. */
export interface LoopbackRequest {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

export interface LoopbackAnswer {
  readonly ran: Ran;
  readonly tools: readonly string[];
  readonly results: readonly ToolResult[];
  readonly others: readonly string[];
  /** The network interfaces. */
  readonly networks: readonly string[];
}

/** Less time than the parent process has: the client must not be left behind. */
const millisecondsMax = 60_000;

void main();

async function main(): Promise<void> {
  const { words, cwd, environment, steps } = JSON.parse(process.argv[2] ?? "") as LoopbackRequest;
  const model = new ScriptedModel(steps);
  const address = await model.listen();
  const ran = await run(words, { cwd, env: { ...environment, ANTHROPIC_BASE_URL: address }, millisecondsMax });
  model.close();
  const { tools, results, others } = model;
  const told: LoopbackAnswer = { ran, tools, results, others, networks: networks() };
  process.stdout.write(JSON.stringify(told));
}

function networks(): readonly string[] {
  const lines = readFileSync("/proc/net/dev", "utf8").trim().split("\n").slice(2);
  return lines.map((line) => line.split(":")[0]?.trim() ?? "");
}
