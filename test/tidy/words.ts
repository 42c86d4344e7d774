// Words that say nothing about a thing, and names that are only a participle, in the names we give: files, and whatever code
// declares. Names given by others (a property of a library's value) are exempt; a foreign format's key is written in quotes, and
// so is a string.
import ts from "typescript";
import { examine, type Finding, findingAt, nodesOf, type Report, type Source } from "./source.ts";

const banned: ReadonlySet<string> = new Set(
  ["leash", "jail", "util", "world"].flatMap((word) => [word, `${word}s`]).concat("ctx", "opts"),
);

/** Names that a protocol gives. */
const foreign: ReadonlySet<string> = new Set(["openWorldHint"]);

/** Types are named by what they are: `CallOptions`, not `Asked`. */
const participles: ReadonlySet<string> = new Set(["Asked", "Gathered", "Held", "Kept", "Told", "Wanted"]);
/** Words with these endings that are nouns or verbs. */
const plainWords = /^(?:embed|feed|need|seed|ping|string|sibling|heading|ceiling)$/;

export function checkWords(sources: readonly Source[]): Report {
  return examine(
    sources,
    () => true,
    (source) => [...wordsOfPath(source), ...wordsOfNames(source), ...participlesOf(source)],
  );
}

/** Why a name is refused, or nothing. */
export function refusedName(name: string): string | undefined {
  if (foreign.has(name)) return undefined;
  const words = wordsOf(name);
  const word = words.find((each) => banned.has(each));
  if (word !== undefined) return `${name} holds the banned word "${word}"`;
  if (words.length > 1 && words[0] === "safe") return `${name} begins with "safe"`;
  if (words[0]?.startsWith("validate")) return `${name} begins with "validate"`;
  return undefined;
}

function wordsOfPath(source: Source): readonly Finding[] {
  return source.path.split("/").flatMap((part) => {
    const why = refusedName(part.replace(/(\.test)?\.ts$/, ""));
    return why === undefined ? [] : [{ path: source.path, line: 1, what: `is named so that ${why}` }];
  });
}

function wordsOfNames(source: Source): readonly Finding[] {
  const findings: Finding[] = [];
  for (const node of nodesOf(source.tree)) {
    if (!(ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) || !isNameGiven(node)) continue;
    const why = refusedName(node.text);
    if (why !== undefined) findings.push(findingAt(source, node, why));
  }
  return findings;
}

/** Functions that other files call, and types, whose whole name is a participle: a reader cannot tell what they do or are. */
function participlesOf(source: Source): readonly Finding[] {
  return source.tree.statements.flatMap((node) => {
    if (ts.isFunctionDeclaration(node) && node.name !== undefined && isExported(node)) {
      const { text } = node.name;
      const isParticiple = /^[a-z]+(?:ed|ing)$/.test(text) && !plainWords.test(text);
      return isParticiple ? [findingAt(source, node, `${text} does not say what the function does`)] : [];
    }
    if (!ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node)) return [];
    return participles.has(node.name.text)
      ? [findingAt(source, node, `${node.name.text} does not say what it is`)]
      : [];
  });
}

function isExported(node: ts.FunctionDeclaration): boolean {
  return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}

/** Whether a name is given here: any declaration, a key of a literal, the local side of an import or binding. */
function isNameGiven(node: ts.Identifier | ts.PrivateIdentifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) || ts.isMetaProperty(parent) || ts.isJsxAttribute(parent)) return false;
  if (ts.isTypePredicateNode(parent)) return false;
  if (ts.isLabeledStatement(parent)) return parent.label === node;
  return (parent as ts.Node & { readonly name?: ts.Node }).name === node;
}

/** The words of a name in lower case: `IPv6AddressOf_all` is ip, v6, address, of, all (more or less). */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}
