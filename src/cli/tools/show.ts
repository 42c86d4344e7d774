// `ambit tools show <tool>`: what one tool does, what its input is, and a call of it to copy.

import type { JsonObject } from "../../core/base/json.ts";
import { isJsonList, isJsonObject, member } from "../../core/base/json.ts";
import { nearestName } from "../../core/notation/nearest.ts";
import type { ToolDetails } from "../../core/ports/daemon/daemon-control.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import type { ToolsListPorts } from "./list.ts";

export async function toolsShow(ports: ToolsListPorts, name: string, options: JsonOption): Promise<ExitCode> {
  const answer = await askOnce(ports, "tools.all", { cwd: ports.cwd, agent: null });
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const plain = name.replace(/^(?:builtin|tool):/, "");
  const { tools } = answer.value;
  const tool = tools.find((one) => one.name === plain);
  if (tool === undefined) {
    const nearest = nearestName(
      plain,
      tools.map((one) => one.name),
    );
    const message = `there is no tool called ${JSON.stringify(plain.slice(0, 80))}`;
    return fail(
      ports,
      options,
      EXIT.error,
      message,
      nearest === null ? "ambit tools list" : `did you mean ${nearest}?`,
    );
  }
  ports.print(options.json ? jsonLine(tool) : toolText(tool, ports));
  return EXIT.ok;
}

function toolText(tool: ToolDetails, { paint }: ToolsListPorts): string {
  const { name, origin, risk, description, declared, why, example } = tool;
  const call = example === null ? null : `ambit call scout ${name} ${quoted(JSON.stringify(example))}`;
  return [
    `${paint.strong(visibleText(name))}  ${risk} risk  ${paint.dim(visibleText(origin))}`,
    ...visibleText(description)
      .split("\n")
      .map((line) => `  ${line}`),
    ...(why === null ? [] : [`  ${paint.warn(visibleText(why))}`]),
    ...(declared === null ? [] : [`  declares ${visibleText(JSON.stringify(declared))}`]),
    "input:",
    ...inputLines(tool.input),
    ...(call === null ? [] : ["example:", `  ${visibleText(call)}`]),
  ].join("\n");
}

function inputLines(schema: JsonObject): readonly string[] {
  const properties = member(schema, "properties");
  const required = member(schema, "required");
  const needed = isJsonList(required) ? required : [];
  const named = isJsonObject(properties) ? Object.entries(properties) : [];
  if (named.length === 0) return ["  no arguments"];
  const width = Math.max(...named.map(([name]) => name.length));
  return named.map(([name, one]) => {
    const type = isJsonObject(one) ? typeText(one) : "any value";
    const words = isJsonObject(one) ? member(one, "description") : undefined;
    const mark = needed.includes(name) ? "required" : "optional";
    return `  ${visibleText(name).padEnd(width)}  ${mark}  ${type}${typeof words === "string" ? `: ${visibleText(words)}` : ""}`;
  });
}

function typeText(schema: JsonObject): string {
  const choices = member(schema, "enum");
  if (isJsonList(choices)) return choices.map((one) => visibleText(JSON.stringify(one))).join(" | ");
  const type = member(schema, "type");
  if (type === "array") {
    const items = member(schema, "items");
    return `list of ${isJsonObject(items) ? typeText(items) : "any value"}`;
  }
  return typeof type === "string" ? type : "any value";
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
