// `ambit mcp map`: the schema of a server's tool, the map in effect, a proposal, and what a map makes of example arguments.
import { isJsonObject } from "../../core/base/json.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { parseJson } from "../../core/notation/json-reader.ts";
import { quoteText } from "../../core/notation/quote-text.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { readRequest } from "../../core/notation/request/request.ts";
import { requestText } from "../../core/notation/request/request-printer.ts";
import {
  type ArgumentMap,
  argumentMapText,
  mappedTargets,
  readArgumentMap,
} from "../../core/notation/servers/argument-map.ts";
import { proposedMap } from "../../gateway/propose-map.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { fail, type JsonOption } from "../terminal/problems.ts";
import { renderDiagnostic } from "../terminal/render.ts";
import type { ServersPorts } from "./ports.ts";

export interface MapOptions extends JsonOption {
  readonly map?: string;
  readonly example?: readonly string[];
}

export async function mcpMap(
  ports: ServersPorts,
  server: string,
  name: string,
  options: MapOptions,
): Promise<ExitCode> {
  const answer = await askOnce(ports, "servers.show", { cwd: ports.cwd, name: server });
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  const tool = answer.value.tools.find((one) => one.tool === name || one.name === name);
  if (tool === undefined)
    return fail(ports, options, EXIT.error, `${server} has no tool ${name}`, `ambit mcp show ${server}`);
  const given = options.map ?? tool.map;
  const proposal = proposedMap(tool.tool, tool.input);
  const tried = given === null ? proposal : mapIn(ports, given, options);
  if (tried === null)
    return fail(ports, options, EXIT.usage, "the map cannot be parsed", "--map '{ fs.read: $.path }'");
  const examples = (options.example ?? []).map((text) => exampleResult(tried, text, ports.reading));
  const inEffect = tool.map;
  if (options.json) {
    const result = { server, tool: tool.tool, input: tool.input, map: inEffect, source: tool.mapSource };
    ports.print(jsonLine({ ...result, proposal: argumentMapText(proposal), tried: argumentMapText(tried), examples }));
  } else {
    ports.print(`${ports.paint.strong(visibleText(tool.name))}`);
    for (const line of JSON.stringify(tool.input, null, 2).split("\n"))
      ports.print(ports.paint.dim(`  ${visibleText(line)}`));
    ports.print(
      inEffect === null
        ? "no argument map: a call needs only tool.invoke"
        : `in effect: ${visibleText(inEffect)}${tool.mapSource === "shipped" ? " (shipped)" : ""}`,
    );
    if (inEffect === null)
      ports.print(
        `proposal, from names alone: review it, and write it below \`tools\` of ${visibleText(server)} in mcp.yml`,
      );
    if (inEffect === null) ports.print(`  ${visibleText(tool.tool)}: ${visibleText(argumentMapText(proposal))}`);
    for (const { example, requests, refused } of examples) {
      ports.print(`${visibleText(example)}`);
      for (const request of requests) ports.print(`  ${visibleText(request)}`);
      if (refused !== null) ports.print(`  ${ports.paint.bad("refused")}: ${visibleText(refused)}`);
      else if (requests.length === 0) ports.print("  nothing besides tool.invoke");
    }
  }
  return examples.some(({ refused }) => refused !== null) ? EXIT.error : EXIT.ok;
}

function mapIn(ports: ServersPorts, text: string, options: JsonOption): ArgumentMap | null {
  const source = { name: "--map", text };
  const tree = ports.servers.tree(source);
  const diagnostics = new Diagnostics();
  const map = tree === null ? null : readArgumentMap(tree, diagnostics);
  if (!options.json) for (const one of diagnostics.list) ports.printError(renderDiagnostic(one, source, ports.paint));
  return map;
}

interface ExampleResult {
  readonly example: string;
  readonly requests: readonly string[];
  readonly refused: string | null;
}

/** INVARIANT: what a call with these arguments would be refused for is refused here. */
function exampleResult(map: ArgumentMap, example: string, reading: Reading): ExampleResult {
  const refused = (message: string): ExampleResult => ({ example, requests: [], refused: message });
  const read = parseJson(example);
  if (!read.ok) return refused(read.message);
  if (!isJsonObject(read.value)) return refused("the arguments must be one JSON object");
  const targets = mappedTargets(map, read.value);
  if (!targets.ok) return refused(targets.message);
  const requests: string[] = [];
  for (const { verb, target } of targets.value) {
    const request = readRequest([verb, target], reading);
    if (!request.ok) return refused(`${quoteText(target.slice(0, 200))}: ${request.message}`);
    requests.push(requestText(request.value));
  }
  return { example, requests, refused: null };
}
