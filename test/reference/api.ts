// The API report: every name that the package's entry points export, its kind, and one line about it.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Door {
  /** As an application imports it. */
  readonly name: string;
  readonly file: string;
}

interface ApiName {
  readonly name: string;
  readonly kind: string;
  readonly line: string;
}

interface ApiDoor extends Door {
  readonly names: readonly ApiName[];
}

/** The entry points that package.json names, as the sources they are built from. */
function doors(): readonly Door[] {
  const { name, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly name: string;
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  return Object.entries(exports).flatMap(([door, target]) =>
    typeof target === "string"
      ? []
      : [
          {
            name: door === "." ? name : `${name}${door.slice(1)}`,
            file: join(root, target.types.replace(/^\.\/dist\//, "src/").replace(/\.d\.ts$/, ".ts")),
          },
        ],
  );
}

export function apiDoors(): readonly ApiDoor[] {
  return doors().map((door) => {
    const names = [...exportsOf(door.file)].map(([name, declaration]) => describe(name, declaration));
    if (names.length === 0) throw new Error(`${door.file} exports nothing`);
    return { ...door, names: names.sort((left, right) => (left.name < right.name ? -1 : 1)) };
  });
}

type Declaration =
  | ts.FunctionDeclaration
  | ts.ClassDeclaration
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.VariableStatement;

const parsed = new Map<string, ts.SourceFile>();

function sourceOf(file: string): ts.SourceFile {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2023, true);
  parsed.set(file, source);
  return source;
}

/** The exports of a file, by exported name, with the declaration in whichever of our files has it. */
function exportsOf(file: string): ReadonlyMap<string, Declaration> {
  const found = new Map<string, Declaration>();
  for (const statement of sourceOf(file).statements) {
    if (isDeclaration(statement)) {
      if (statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true)
        for (const name of namesOf(statement)) if (!found.has(name)) found.set(name, statement);
    } else if (ts.isExportDeclaration(statement)) {
      const { moduleSpecifier, exportClause } = statement;
      // Names exported apart from their declaration are not followed: `declared` reports them.
      if (moduleSpecifier === undefined) continue;
      const from = join(dirname(file), (moduleSpecifier as ts.StringLiteral).text);
      if (exportClause === undefined) for (const [name, one] of exportsOf(from)) found.set(name, one);
      else if (ts.isNamedExports(exportClause))
        for (const { name, propertyName } of exportClause.elements)
          found.set(name.text, declared(from, propertyName ?? name));
    }
  }
  return found;
}

function declared(file: string, { text }: ts.ModuleExportName): Declaration {
  const declaration = exportsOf(file).get(text);
  if (declaration === undefined) throw new Error(`${file} does not export ${text}`);
  return declaration;
}

function isDeclaration(statement: ts.Statement): statement is Declaration {
  return (
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isVariableStatement(statement)
  );
}

function namesOf(statement: Declaration): readonly string[] {
  return ts.isVariableStatement(statement)
    ? statement.declarationList.declarations.map(({ name }) => name.getText())
    : [statement.name?.text ?? "default"];
}

function describe(name: string, declaration: Declaration): ApiName {
  const [comment] = ts.getJSDocCommentsAndTags(declaration);
  const text = ts.getTextOfJSDocComment(comment?.comment) ?? "";
  const [sentence = ""] = text.replace(/\s+/g, " ").split(/(?<=[.:]) (?=[A-Z])/);
  return { name, kind: kindOf(declaration), line: sentence === "" ? shapeOf(declaration) : sentence };
}

function kindOf(declaration: Declaration): string {
  if (ts.isFunctionDeclaration(declaration)) return "function";
  if (ts.isClassDeclaration(declaration)) return "class";
  return ts.isVariableStatement(declaration) ? "constant" : "type";
}

const shapeCharactersMax = 100;

/** For an undocumented name: its parameters, its members or its type. */
function shapeOf(declaration: Declaration): string {
  const text = shapeText(declaration)
    .replace(/\s+/g, " ")
    .replace(/^ ?\| /, "")
    .trim();
  return `\`${text.length > shapeCharactersMax ? `${text.slice(0, shapeCharactersMax - 2)} …` : text}\``;
}

function shapeText(declaration: Declaration): string {
  if (ts.isFunctionDeclaration(declaration)) {
    const parameters = declaration.parameters.map(({ name }) => name.getText()).join(", ");
    return `(${parameters}) => ${declaration.type?.getText() ?? "void"}`;
  }
  if (ts.isInterfaceDeclaration(declaration))
    return `{ ${declaration.members.map((member) => member.name?.getText() ?? "…").join(", ")} }`;
  if (ts.isTypeAliasDeclaration(declaration)) return declaration.type.getText();
  if (ts.isVariableStatement(declaration))
    return declaration.declarationList.declarations[0]?.type?.getText() ?? "a value";
  return declaration.members
    .flatMap((member) => (isPublicMethod(member) ? [`${member.name?.getText()}()`] : []))
    .join(", ");
}

function isPublicMethod(member: ts.ClassElement): boolean {
  return ts.isMethodDeclaration(member) && !ts.isPrivateIdentifier(member.name);
}

export function apiLines(found: readonly ApiDoor[]): readonly string[] {
  const all = new Set(found.flatMap(({ names }) => names.map(({ name }) => name)));
  return [
    "What the package exports. Everything else is internal and may change in any version ([releases](../releases.md)).",
    "How to use it: [library](library.md) and [the context](../guides/context.md).",
    "",
    `${all.size} names: ${found.map(({ name, names }) => `\`${name}\` ${names.length}`).join(", ")}.`,
    "",
    ...found.flatMap(({ name, names }) => [
      `## ${name}`,
      "",
      "| name | kind | about |",
      "|---|---|---|",
      ...names.map((one) => `| \`${one.name}\` | ${one.kind} | ${one.line.replaceAll("|", "\\|")} |`),
      "",
    ]),
  ];
}
