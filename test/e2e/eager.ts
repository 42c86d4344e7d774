// The program with a progress line from its first step on, so that a test need not be slow to see one.
import { run } from "../../src/cli/program.ts";
import { terminalProgress } from "../../src/cli/terminal/progress.ts";
import { promptTerminal } from "../../src/cli/terminal/prompts.ts";
import { composePorts } from "../../src/main/compose.ts";

async function main(): Promise<void> {
  const ports = composePorts({
    cwd: process.cwd(),
    now: Date.now(),
    colour: false,
    environment: process.env,
    terminal: promptTerminal(false),
    program: __dirname,
    print: (text) => process.stdout.write(`${text}\n`),
    printError: (text) => process.stderr.write(`${text}\n`),
  });
  const progress = terminalProgress(0);
  // Lazy lookups stay lazy.
  const doctor = Object.create(ports.doctor, { progress: { value: progress } }) as typeof ports.doctor;
  const seen = Object.create(ports, { progress: { value: progress }, doctor: { value: doctor } }) as typeof ports;
  process.exitCode = await run(process.argv.slice(2), seen);
}

void main();
