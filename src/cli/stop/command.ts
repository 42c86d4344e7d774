// `ambit stop`, `freeze`, `thaw`: the panic buttons, and the way back.

import type { Command } from "commander";
import { askWidening } from "../approvals/presence-question.ts";
import { askOnce, type ControlPorts, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { countText } from "../terminal/count-text.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";

export interface PowerPorts extends ControlPorts {
  readonly cwd: string;
}

interface StopOptions {
  readonly json: boolean;
}

export function addPower(program: Command, ports: PowerPorts, end: (exit: ExitCode) => void): void {
  program
    .command("stop")
    .description("end an agent's sessions, kill its programs and revoke its delegations")
    .argument("<agent>", "an id in .ambit/agents, or an agent created by another agent")
    .option("--json", "print one JSON object", false)
    .addHelpText("after", EXAMPLES)
    .action(async (agent: string, options: StopOptions) => end(await stop(ports, agent, options)));
  program
    .command("freeze")
    .description("kill all running programs and deny every call until `ambit thaw`")
    .option("--json", "print one JSON object", false)
    .addHelpText("after", EXAMPLES)
    .action(async (options: StopOptions) => end(await freeze(ports, options)));
  program
    .command("thaw")
    .description("end a freeze: decide calls again")
    .option("--presence <name>", "confirm as this person; asks for the passphrase")
    .option("--json", "print one JSON object", false)
    .addHelpText("after", EXAMPLES)
    .action(async (options: StopOptions & { readonly presence?: string }) => end(await thaw(ports, options)));
}

async function stop(ports: PowerPorts, agent: string, { json }: StopOptions): Promise<ExitCode> {
  const answer = await askOnce(ports, "agent.stop", { cwd: ports.cwd, agent });
  if (!answer.ok) return tellRefusal(ports, answer, json);
  const { sessions, ended, links, agents } = answer.value;
  const parts = [
    countText(sessions, "session", "sessions"),
    countText(ended, "sandbox", "sandboxes"),
    countText(links, "delegation", "delegations"),
  ];
  const gone = agents === 0 ? "" : `; ${countText(agents, "agent", "agents")} made by an agent removed`;
  const text = `stopped ${visibleText(agent)}: ${parts[0]}, ${parts[1]} and ${parts[2]} ended${gone}`;
  ports.print(json ? jsonLine({ ok: true, agent, ...answer.value }) : text);
  return EXIT.ok;
}

async function freeze(ports: PowerPorts, { json }: StopOptions): Promise<ExitCode> {
  const answer = await askOnce(ports, "freeze", {});
  if (!answer.ok) return tellRefusal(ports, answer, json);
  const text = `frozen: ${countText(answer.value.ended, "sandbox", "sandboxes")} ended; every call is denied until you run: ambit thaw`;
  ports.print(json ? jsonLine({ ok: true, ...answer.value }) : text);
  return EXIT.ok;
}

async function thaw(ports: PowerPorts, options: StopOptions & { readonly presence?: string }): Promise<ExitCode> {
  const answer = await askWidening(ports, "thaw", {}, options);
  if (typeof answer === "number") return answer;
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  ports.print(options.json ? jsonLine({ ok: true }) : "thawed: calls are decided again");
  return EXIT.ok;
}

const EXAMPLES = `
Examples:
  ambit stop scout
  ambit freeze
  ambit thaw

Exit status: 0 done, 4 the daemon is not running or refused the connection, 1 error.`;
