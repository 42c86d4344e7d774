// Runs inside a network namespace with only loopback: the scripted model of any provider, and the client that talks to it. The
// results are printed as JSON.

import type { ModelProvider } from "../../src/clients/trial/model-providers.ts";
import { AgentModel, type AgentStep } from "./agent-model.ts";
import { type Ran, run } from "./run.ts";

/** Its one argument, as JSON. `{port}` in words and variables is the port of the model. */
export interface AgentLoopbackInput {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly provider: ModelProvider;
  readonly steps: readonly AgentStep[];
  readonly millisecondsMax: number;
}

export interface AgentLoopbackOutput {
  readonly ran: Ran;
  readonly results: readonly string[];
  /** Results that the sub-agent got. */
  readonly subResults: readonly string[];
  readonly problems: readonly string[];
  /** Names of all tools that the client offered. */
  readonly offered: readonly string[];
}

void main();

async function main(): Promise<void> {
  const asked = JSON.parse(process.argv[2] ?? "") as AgentLoopbackInput;
  const model = new AgentModel(asked.provider, asked.steps);
  const port = String(await model.listen());
  const filled = (text: string): string => text.replaceAll("{port}", port);
  const environment = Object.fromEntries(
    Object.entries(asked.environment).map(([name, value]) => [name, filled(value)]),
  );
  const { cwd, millisecondsMax } = asked;
  const ran = await run(asked.words.map(filled), { cwd, env: environment, millisecondsMax });
  model.close();
  const { results, subResults, problems } = model;
  const offered = [...model.offered].sort();
  process.stdout.write(JSON.stringify({ ran, results, subResults, problems, offered } satisfies AgentLoopbackOutput));
}
