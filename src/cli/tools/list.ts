// `ambit tools list`: every tool there is here, where it comes from, what it declares, and whether it can run.

import type { ControlMessages, ToolDetails } from "../../core/ports/daemon/daemon-control.ts";
import { askOnce, type ControlPorts, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";

export interface ToolsListOptions {
  readonly agent?: string;
  readonly json: boolean;
}

export interface ToolsListPorts extends ControlPorts {
  readonly cwd: string;
}

export async function toolsList(ports: ToolsListPorts, options: ToolsListOptions): Promise<ExitCode> {
  const answer = await askOnce(ports, "tools.all", { cwd: ports.cwd, agent: options.agent ?? null });
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  if (options.json) ports.print(jsonLine(answer.value));
  else print(ports, answer.value);
  return EXIT.ok;
}

function print(ports: ToolsListPorts, { tools, refused }: ControlMessages["tools.all"]["answers"]): void {
  const { paint } = ports;
  const width = Math.min(32, Math.max(4, ...tools.map(({ name }) => name.length)));
  for (const { name, origin, risk, declared, available, why } of tools) {
    const words = [visibleText(name).padEnd(width), risk.padEnd(6), visibleText(origin)];
    const line = words.join("  ");
    ports.print(available ? line : `${line}  ${paint.warn("not available")}`);
    if (declared !== null) ports.print(paint.dim(`  declares ${declaredText(declared)}`));
    if (why !== null) ports.print(`  ${paint.warn(visibleText(why))}`);
  }
  for (const { source, why } of refused)
    ports.print(`${visibleText(source)}  ${paint.bad("not loaded")}: ${visibleText(why)}`);
  if (tools.length === 0 && refused.length === 0) ports.print("no tools here");
}

/** Never cut: what is last may be the widest. */
export function declaredText(declared: NonNullable<ToolDetails["declared"]>): string {
  return Object.keys(declared).length === 0 ? "nothing" : visibleText(JSON.stringify(declared));
}
