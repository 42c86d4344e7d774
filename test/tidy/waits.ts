// Timed waits in tests: a test waits for an event or a state. A duration that is itself the point has one place, with its reason.
import ts from "typescript";
import { importsOf } from "./imports.ts";
import { examine, type Finding, findingAt, isTest, nodesOf, type Report, type Source } from "./source.ts";

const PLACE = "test/house/pause.ts";

export function checkWaits(sources: readonly Source[]): Report {
  return examine(
    sources,
    (source) => (isTest(source) || source.path.startsWith("test/")) && source.path !== PLACE,
    (source) => [...timerImports(source), ...waits(source)],
  );
}

function timerImports(source: Source): readonly Finding[] {
  return importsOf(source)
    .filter(({ target }) => target.kind === "node" && target.name.replace(/^node:/, "") === "timers/promises")
    .map(({ node }) => findingAt(source, node, `imports timers as promises; ${advice}`));
}

const advice = `wait with \`until\`, or with \`pause\` of ${PLACE} and its reason`;

function waits(source: Source): readonly Finding[] {
  return nodesOf(source.tree)
    .filter(ts.isCallExpression)
    .filter((call) => isThreadWait(call) || isTimedPromise(call))
    .map((call) => findingAt(source, call, `waits for a duration; ${advice}`));
}

function isThreadWait({ expression }: ts.CallExpression): boolean {
  return (
    ts.isPropertyAccessExpression(expression) &&
    expression.name.text === "wait" &&
    ts.isIdentifier(expression.expression) &&
    expression.expression.text === "Atomics"
  );
}

/** `new Promise((done) => setTimeout(done, 50))`: the promise is resolved by a timer. */
function isTimedPromise(call: ts.CallExpression): boolean {
  const [callback] = call.arguments;
  if (!ts.isIdentifier(call.expression) || call.expression.text !== "setTimeout") return false;
  if (callback === undefined || !ts.isIdentifier(callback)) return false;
  for (let node: ts.Node = call; node.parent !== undefined; node = node.parent) {
    if (!ts.isNewExpression(node.parent) || !ts.isIdentifier(node.parent.expression)) continue;
    const [executor] = node.parent.arguments ?? [];
    if (node.parent.expression.text !== "Promise" || executor !== node) continue;
    const [resolve] = ts.isArrowFunction(executor) ? executor.parameters : [];
    return resolve?.name.getText(call.getSourceFile()) === callback.text;
  }
  return false;
}
