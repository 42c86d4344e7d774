// `ambit mcp map`: the schema of a server's tool, the map in effect, a proposal, and what a map makes of example arguments.
import { isJsonObject } from "../../core/base/json.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { parseJson } from "../../core/notation/json-reader.ts";
import {
  type ArgumentMap,
  argumentMapText,
  mappedTargets,
  readArgumentMap,
} from "../../core/notation/servers/argument-map.ts";
import { proposedMap } from "../../gateway/propose-map.ts";
import { askOnce, tellRefusal } from "../control-world.ts";
import { shown } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { type Asked, fail } from "../terminal/problems.ts";
import { renderDiagnostic } from "../terminal/render.ts";
import type { ServersWorld } from "./world.ts";

export interface MapOptions extends Asked {
  readonly map?: string;
  readonly example?: readonly string[];
}

export async function mcpMap(
  world: ServersWorld,
  server: string,
  name: string,
  options: MapOptions,
): Promise<ExitCode> {
  const answer = await askOnce(world, "servers.show", { cwd: world.cwd, name: server });
  if (!answer.ok) return tellRefusal(world, answer, options.json);
  const tool = answer.value.tools.find((one) => one.tool === name || one.name === name);
  if (tool === undefined)
    return fail(world, options, EXIT.error, `${server} has no tool ${name}`, `ambit mcp show ${server}`);
  const given = options.map ?? tool.map;
  const proposal = proposedMap(tool.tool, tool.input);
  const tried = given === null ? proposal : mapIn(world, given, options);
  if (tried === null) return fail(world, options, EXIT.usage, "the map cannot be read", "--map '{ fs.read: $.path }'");
  const examples = (options.example ?? []).map((text) => exampleResult(tried, text));
  const inEffect = tool.map;
  if (options.json) {
    const result = { server, tool: tool.tool, input: tool.input, map: inEffect, source: tool.mapSource };
    world.print(jsonLine({ ...result, proposal: argumentMapText(proposal), tried: argumentMapText(tried), examples }));
  } else {
    world.print(`${world.paint.strong(shown(tool.name))}`);
    for (const line of JSON.stringify(tool.input, null, 2).split("\n"))
      world.print(world.paint.dim(`  ${shown(line)}`));
    world.print(
      inEffect === null
        ? "no map: a call needs tool.invoke alone"
        : `in effect: ${shown(inEffect)}${tool.mapSource === "shipped" ? " (shipped)" : ""}`,
    );
    if (inEffect === null)
      world.print(`proposal, from names alone: review it, and write it below \`tools\` of ${shown(server)} in mcp.yml`);
    if (inEffect === null) world.print(`  ${shown(tool.tool)}: ${shown(argumentMapText(proposal))}`);
    for (const { example, requests, refused } of examples) {
      world.print(`${shown(example)}`);
      for (const request of requests) world.print(`  ${shown(request)}`);
      if (refused !== null) world.print(`  ${world.paint.bad("refused")}: ${shown(refused)}`);
      else if (requests.length === 0) world.print("  nothing besides tool.invoke");
    }
  }
  return examples.some(({ refused }) => refused !== null) ? EXIT.error : EXIT.ok;
}

function mapIn(world: ServersWorld, text: string, options: Asked): ArgumentMap | null {
  const source = { name: "--map", text };
  const tree = world.servers.tree(source);
  const diagnostics = new Diagnostics();
  const map = tree === null ? null : readArgumentMap(tree, diagnostics);
  if (!options.json) for (const one of diagnostics.list) world.printError(renderDiagnostic(one, source, world.paint));
  return map;
}

interface ExampleResult {
  readonly example: string;
  readonly requests: readonly string[];
  readonly refused: string | null;
}

function exampleResult(map: ArgumentMap, example: string): ExampleResult {
  const read = parseJson(example);
  if (!read.ok || !isJsonObject(read.value))
    return { example, requests: [], refused: "the arguments are one JSON object" };
  const targets = mappedTargets(map, read.value);
  if (!targets.ok) return { example, requests: [], refused: targets.message };
  return { example, requests: targets.value.map(({ verb, target }) => `${verb} ${target}`), refused: null };
}
