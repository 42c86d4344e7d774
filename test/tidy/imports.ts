// The imports of a file, in every form the language has, read from its syntax tree.
import { posix } from "node:path";
import ts from "typescript";
import { nodesOf, type Source } from "./source.ts";

export type Import = {
  readonly node: ts.Node;
  readonly target:
    | { readonly kind: "file"; readonly path: string }
    | { readonly kind: "node"; readonly name: string }
    | { readonly kind: "package"; readonly name: string }
    | { readonly kind: "computed" };
};

/** Several rules ask for the imports of the same file. */
const known = new WeakMap<Source, readonly Import[]>();

export function importsOf(source: Source): readonly Import[] {
  const imports = known.get(source) ?? readImports(source);
  known.set(source, imports);
  return imports;
}

function readImports(source: Source): readonly Import[] {
  const imports: Import[] = [];
  for (const node of nodesOf(source.tree)) {
    const specifier = specifierOf(node);
    if (specifier !== undefined) imports.push({ node, target: targetOf(source.path, specifier) });
  }
  for (const reference of [...source.tree.referencedFiles, ...source.tree.typeReferenceDirectives]) {
    imports.push({ node: source.tree, target: targetOf(source.path, reference.fileName) });
  }
  return imports;
}

/** The module a node imports: its text, "computed" if it is made at run time, nothing if it imports none. */
function specifierOf(node: ts.Node): string | { readonly computed: true } | undefined {
  if (ts.isImportDeclaration(node)) return textOf(node.moduleSpecifier);
  if (ts.isExportDeclaration(node)) return node.moduleSpecifier && textOf(node.moduleSpecifier);
  if (ts.isExternalModuleReference(node)) return textOf(node.expression);
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) ? textOf(node.argument.literal) : { computed: true };
  if (ts.isCallExpression(node)) {
    const asks =
      node.expression.kind === ts.SyntaxKind.ImportKeyword ||
      (ts.isIdentifier(node.expression) && node.expression.text === "require");
    return asks ? textOf(node.arguments[0]) : undefined;
  }
  return undefined;
}

function textOf(node: ts.Node | undefined): string | { readonly computed: true } {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : { computed: true };
}

const nodeModules = new Set([
  "fs",
  "path",
  "os",
  "crypto",
  "child_process",
  "net",
  "http",
  "https",
  "url",
  "util",
  "process",
]);

function targetOf(from: string, specifier: string | { readonly computed: true }): Import["target"] {
  if (typeof specifier !== "string") return { kind: "computed" };
  if (/^\.{0,2}\//.test(specifier) || specifier === "." || specifier === "..") {
    return { kind: "file", path: posix.join(posix.dirname(from), specifier) };
  }
  if (specifier.startsWith("node:") || nodeModules.has(specifier.split("/")[0] ?? ""))
    return { kind: "node", name: specifier };
  return { kind: "package", name: specifier };
}
