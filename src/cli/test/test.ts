// `ambit test [agents...]`: runs the tests that records bring, and says which of them no longer hold. It is about the text: a fresh
// clone, where nothing is trusted and so nothing granted, gives the same status.

import type { LoadedAgent, LoadResult } from "../../agents/disk/loaded-agent.ts";
import { place } from "../../core/notation/source.ts";
import { trustLine } from "../can/untrusted.ts";
import type { CliPorts } from "../ports.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { progressOf } from "../terminal/progress.ts";
import { renderDiagnostic } from "../terminal/render.ts";

export function test(ports: CliPorts, names: readonly string[], options: { readonly json: boolean }): ExitCode {
  const wanted = names.length > 0 ? names : ports.agentIds();
  const loaded: LoadedAgent[] = [];
  let broken = false;
  for (const one of loadAll(ports, wanted, options)) {
    if (one.ok) loaded.push(one.value);
    else {
      broken = true;
      ports.printError(`${ports.paint.bad("error")}: ${one.message}${one.fix === null ? "" : `\n  fix: ${one.fix}`}`);
    }
  }
  const rows = loaded.flatMap(({ agent, source }) =>
    agent.tests.map(({ test: one, passed, got }) => ({
      agent: agent.id,
      passed,
      want: one.code === null ? one.outcome : `${one.outcome} (${one.code})`,
      got,
      request: one.request,
      file: source.name,
      ...place(source, one.span.start),
    })),
  );
  const failed = rows.filter((row) => !row.passed).length;
  if (options.json) ports.print(jsonLine({ tests: rows, passed: rows.length - failed, failed }));
  else print(ports, loaded, rows.length, failed, broken);
  if (broken) return EXIT.error;
  if (loaded.some(({ agent }) => agent.refused && agent.tests.length === 0)) return EXIT.invalidPolicy;
  return failed > 0 ? EXIT.error : EXIT.ok;
}

function loadAll(
  ports: CliPorts,
  names: readonly string[],
  options: { readonly json: boolean },
): readonly LoadResult[] {
  return progressOf(ports, options).over("testing agents", (step) =>
    names.map((name, at) => {
      step(at, names.length);
      return ports.loadAgent(name);
    }),
  );
}

/** `broken`: there are agents, or one was named, and it was said why one of them cannot be read. */
function print(ports: CliPorts, loaded: readonly LoadedAgent[], total: number, failed: number, broken: boolean): void {
  const { paint } = ports;
  for (const { agent, source, trust } of loaded) {
    for (const diagnostic of agent.diagnostics) ports.printError(renderDiagnostic(diagnostic, source, paint));
    const line = trustLine(agent.id, trust);
    if (line !== null) ports.printError(`${paint.warn("warning")}: ${line}`);
    for (const { test: one, passed, got } of agent.tests) {
      const mark = passed ? paint.good("✓") : paint.bad("✗");
      ports.print(
        `${mark} ${visibleText(agent.id)}  ${one.outcome}  ${visibleText(one.request)}${passed ? "" : `  ${paint.bad(`got ${got}`)}`}`,
      );
    }
    if (agent.tests.length === 0) ports.print(paint.dim(`- ${visibleText(agent.id)}  has no tests`));
  }
  if (loaded.length === 0 && !broken) ports.print("no agents here; name a file, or create one: ambit agents new <id>");
  else if (loaded.length > 0) ports.print(`${total - failed} passed, ${failed} failed`);
}
