// Pure rooms: nothing from Node, no packages, no ambient authority. Names are resolved, not matched: a parameter called `process`
// is not the global, and a global is one whatever it is called.
import { readFileSync } from "node:fs";
import ts from "typescript";
import { importsOf } from "./imports.ts";
import { isPureRoom, roomOf } from "./rooms.ts";
import { examine, type Finding, findingAt, isTest, nodesOf, type Report, type Source } from "./source.ts";

/** The platform globals that the compiler declares for pure rooms. */
export const platformGlobals: readonly string[] = declaredNames(
  readFileSync(new URL("../../types/pure-globals.d.ts", import.meta.url), "utf8"),
);

/**
 * All that a pure room may use without importing it: the parts of the language that give the same result everywhere. Absent on
 * purpose: Date, Intl, globalThis, eval, Function, WeakRef, FinalizationRegistry, Atomics, SharedArrayBuffer.
 */
const language: ReadonlySet<string> = new Set([
  ...["undefined", "NaN", "Infinity", "arguments"],
  ...[
    "Object",
    "Array",
    "String",
    "Number",
    "Boolean",
    "BigInt",
    "Symbol",
    "RegExp",
    "JSON",
    "Math",
    "Reflect",
    "Proxy",
  ],
  ...["Map", "Set", "WeakMap", "WeakSet", "Promise", "Iterator"],
  ...["Error", "TypeError", "RangeError", "SyntaxError", "AggregateError"],
  ...["ArrayBuffer", "DataView", "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array"],
  ...["Int32Array", "Uint32Array", "BigInt64Array", "BigUint64Array", "Float32Array", "Float64Array"],
  ...["parseInt", "parseFloat", "isNaN", "isFinite"],
  ...platformGlobals,
  ...["encodeURIComponent", "decodeURIComponent", "encodeURI", "decodeURI"],
]);

function declaredNames(text: string): readonly string[] {
  const { statements } = ts.createSourceFile("pure-globals.d.ts", text, ts.ScriptTarget.ES2023);
  return statements.map((one) => {
    if ((ts.isClassDeclaration(one) || ts.isFunctionDeclaration(one)) && one.name !== undefined) return one.name.text;
    throw new Error("pure-globals.d.ts may declare only classes and functions");
  });
}

export function checkPurity(sources: readonly Source[]): Report {
  const isMeant = (source: Source) => isPureRoom(roomOf(source.path)) && !isTest(source);
  const checker = resolver(sources.filter(isMeant));
  return examine(sources, isMeant, (source) => [...impureImports(source), ...ambientNames(source, checker)]);
}

function impureImports(source: Source): readonly Finding[] {
  return importsOf(source).flatMap(({ node, target }) => {
    switch (target.kind) {
      case "file":
        return [];
      case "node":
        return [findingAt(source, node, `imports ${target.name} in a pure room`)];
      case "package":
        return [findingAt(source, node, `imports the package ${target.name} in a pure room`)];
      case "computed":
        return [findingAt(source, node, "imports by a computed name in a pure room")];
      default:
        return target satisfies never;
    }
  });
}

function ambientNames(source: Source, checker: ts.TypeChecker): readonly Finding[] {
  const findings: Finding[] = [];
  for (const node of nodesOf(source.tree)) {
    if (ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword) {
      findings.push(findingAt(source, node, "uses import.meta in a pure room"));
    }
    if (!ts.isIdentifier(node) || !isValueReference(node) || isDeclaredHere(node, checker)) continue;
    if (!language.has(node.text)) {
      findings.push(findingAt(source, node, `uses the ambient ${node.text} in a pure room`));
    } else if (node.text === "Math" && !isHarmlessMath(node)) {
      findings.push(findingAt(source, node, "uses Math other than as Math.<name>, or Math.random, in a pure room"));
    }
  }
  return findings;
}

/** Whether an identifier refers to a value by its own name: not a property name, not a declaration, not part of a type. */
function isValueReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPartOfTypeNode(node) || isInType(node)) return false;
  if (ts.isPropertyAccessExpression(parent) || ts.isMetaProperty(parent)) return parent.name !== node;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (ts.isImportSpecifier(parent) || ts.isImportClause(parent) || ts.isNamespaceImport(parent)) return false;
  if (ts.isExportSpecifier(parent))
    return parent.parent.parent.moduleSpecifier === undefined && (parent.propertyName ?? parent.name) === node;
  if (ts.isNamespaceExport(parent)) return false;
  if (ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent)) return false;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  const named = parent as ts.Node & { readonly name?: ts.Node };
  return named.name !== node;
}

function isInType(node: ts.Node): boolean {
  for (let at: ts.Node = node; at.parent !== undefined; at = at.parent) {
    if (ts.isInterfaceDeclaration(at) || ts.isTypeAliasDeclaration(at) || ts.isTypeParameterDeclaration(at))
      return true;
    if (ts.isTypeNode(at) && !ts.isExpressionWithTypeArguments(at)) return true;
    if (ts.isHeritageClause(at) && at.token === ts.SyntaxKind.ImplementsKeyword) return true;
    if (ts.isStatement(at) || ts.isFunctionLike(at)) return false;
  }
  return false;
}

function isDeclaredHere(node: ts.Identifier, checker: ts.TypeChecker): boolean {
  return (symbolOf(node, checker)?.declarations ?? []).some(
    (each) => each.getSourceFile() === node.getSourceFile() && !isDeclaredOnly(each),
  );
}

function symbolOf(node: ts.Identifier, checker: ts.TypeChecker): ts.Symbol | undefined {
  const { parent } = node;
  if (ts.isShorthandPropertyAssignment(parent)) return checker.getShorthandAssignmentValueSymbol(parent);
  if (ts.isExportSpecifier(parent)) return checker.getExportSpecifierLocalTargetSymbol(parent);
  return checker.getSymbolAtLocation(node);
}

/** `declare` gives a global a type without giving it a value, so it does not make it ours. */
function isDeclaredOnly(node: ts.Node): boolean {
  const isDeclare = (each: ts.ModifierLike): boolean => each.kind === ts.SyntaxKind.DeclareKeyword;
  return (
    (ts.canHaveModifiers(node) && (node.modifiers ?? []).some(isDeclare)) ||
    (node.parent !== undefined && isDeclaredOnly(node.parent))
  );
}

function isHarmlessMath(node: ts.Identifier): boolean {
  const { parent } = node;
  return ts.isPropertyAccessExpression(parent) && parent.expression === node && parent.name.text !== "random";
}

/** Resolves names within each file alone: no library and no imports are read, so only what a file declares is known. */
function resolver(sources: readonly Source[]): ts.TypeChecker {
  const byPath = new Map(sources.map((source) => [source.path, source.tree]));
  const host: ts.CompilerHost = {
    getSourceFile: (path) => byPath.get(path),
    getDefaultLibFileName: () => "none.d.ts",
    writeFile: () => undefined,
    getCurrentDirectory: () => "",
    getCanonicalFileName: (path) => path,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => "\n",
    fileExists: (path) => byPath.has(path),
    readFile: () => undefined,
  };
  const program = ts.createProgram({
    rootNames: [...byPath.keys()],
    options: {
      noLib: true,
      noResolve: true,
      types: [],
      target: ts.ScriptTarget.ES2023,
      moduleDetection: ts.ModuleDetectionKind.Force,
    },
    host,
  });
  return program.getTypeChecker();
}
