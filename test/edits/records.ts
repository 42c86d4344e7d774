// Random records: every way of writing a list of grants, with shorthands around it and text that must not be changed.
import fc from "fast-check";

export interface RandomRecord {
  readonly text: string;
  /** Lines outside all grants; each must be found again as it was, in the same order. */
  readonly foreign: readonly string[];
  /** The specs it was made of. */
  readonly specs: readonly string[];
}

/** A verb with lists of entries by key, so that it can be written as a spec or as a map. */
interface Written {
  readonly verb: string;
  readonly lists: readonly (readonly [key: string, entries: readonly string[]])[];
  readonly rest: readonly (readonly [key: string, value: string])[];
}

const some = (entries: readonly string[]): fc.Arbitrary<readonly string[]> =>
  fc.subarray([...entries], { minLength: 1 });
const maybe = <T>(one: fc.Arbitrary<readonly T[]>): fc.Arbitrary<readonly T[]> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant([] as readonly T[]) }, { weight: 1, arbitrary: one });

const HOSTS = ["a.example", "b.example", "*.github.com", "api.github.com", "10.0.0.0/8"];
const PORTS = ["80", "443", "8000-8100"];

type Lists = Written["lists"];
const list = (key: string, entries: readonly string[]): fc.Arbitrary<Lists> =>
  some(entries).map((found) => [[key, found]]);
const both = (...parts: readonly fc.Arbitrary<Lists>[]): fc.Arbitrary<Lists> =>
  fc.tuple(...parts).map((found) => found.flat());

const SHAPES: readonly (readonly [string, fc.Arbitrary<Lists>])[] = [
  ["records.read", maybe(list("classes", ["inbox", "note", "log"]))],
  ["records.update", maybe(list("classes", ["inbox", "note", "log"]))],
  ["memory.write", maybe(list("keys", ["a", "b/*", "b/**"]))],
  ["obs.query", fc.constant([])],
  ["net.get", both(list("hosts", HOSTS), maybe(list("ports", PORTS)))],
  ["net.connect", both(list("hosts", HOSTS), list("ports", PORTS))],
  ["fs.read", both(fc.constant([]), maybe(list("paths", ["src/**", "src/a", "docs/*", "{x,y}/z"])))],
  ["fs.write", maybe(list("paths", ["src/**", "out"]))],
  ["proc.exec", both(maybe(list("cmds", ["git", "rg"])), maybe(list("patterns", ["npm test", "git log **"])))],
  ["tool.invoke", list("tools", ["send_mail", "web_fetch", "builtin:**"])],
];

const CONDITIONS = [
  ["ask", "true"],
  ["calls", "5"],
  ["expires", "2099-01-01T00:00:00Z"],
] as const;

const written: fc.Arbitrary<Written> = fc.oneof(
  ...SHAPES.map(([verb, lists]) =>
    fc.record({
      verb: fc.constant(verb),
      lists,
      rest: fc
        .tuple(
          fc.boolean(),
          fc.oneof(
            { weight: 5, arbitrary: fc.constant(null) },
            { weight: 1, arbitrary: fc.constantFrom(...CONDITIONS) },
          ),
        )
        .map(([isRooted, condition]) => [
          ...(isRooted && /^(fs|proc)/.test(verb) ? [["in", "/work/sub"] as const] : []),
          ...(condition === null ? [] : [condition]),
        ]),
    }),
  ),
);

function word(entry: string): string {
  return /[ :{]/.test(entry) ? JSON.stringify(entry) : entry;
}

export function specText({ verb, lists, rest }: Written): string {
  const pairs = [
    ...rest.filter(([key]) => key === "in").map(([key, value]) => `${key}=${value}`),
    ...lists.map(([key, entries]) => `${key}=[${entries.map(word).join(",")}]`),
    ...rest.filter(([key]) => key !== "in").map(([key, value]) => (key === "ask" ? "ask" : `${key}=${value}`)),
  ];
  return pairs.length === 0 ? verb : `${verb}{${pairs.join(",")}}`;
}

/** Numbers are numbers in YAML too; text is quoted in one of three ways. */
function yamlEntry(entry: string, quote: number): string {
  if (/^\d+$/.test(entry)) return entry;
  const isPlain = /^[a-z][a-z0-9./_-]*$/.test(entry);
  return quote === 0 && isPlain ? entry : quote === 1 ? `'${entry}'` : JSON.stringify(entry);
}

type Style = { readonly form: number; readonly quote: number; readonly comment: boolean };

function mapLines({ verb, lists, rest }: Written, { form, quote, comment }: Style, mark: () => string): string[] {
  const values = rest.map(([key, value]) => `${key}: ${/[:]/.test(value) ? JSON.stringify(value) : value}`);
  const flow = (entries: readonly string[]): string => `[${entries.map((one) => yamlEntry(one, quote)).join(", ")}]`;
  if (lists.length + rest.length === 0) return [form === 2 ? `${verb}:` : `{ ${verb}: {} }`];
  if (form === 2)
    return [`${verb}: { ${[...lists.map(([key, entries]) => `${key}: ${flow(entries)}`), ...values].join(", ")} }`];
  return [
    `${verb}:`,
    ...lists.flatMap(([key, entries]) => [
      `    ${key}:${comment ? ` # ${key}` : ""}`,
      ...entries.map((one) => `      - ${yamlEntry(one, quote)}`),
    ]),
    ...values.map((value) => `    ${value}`),
    ...(comment ? [`    # ${mark()}`] : []),
  ];
}

const style: fc.Arbitrary<Style> = fc.record({
  form: fc.constantFrom(0, 1, 2, 3),
  quote: fc.constantFrom(0, 1, 2),
  comment: fc.boolean(),
});

export const spec: fc.Arbitrary<string> = written.map(specText);

export const record: fc.Arbitrary<RandomRecord> = fc
  .record({
    items: fc.array(fc.tuple(written, style), { maxLength: 5 }),
    shape: fc.constantFrom("block", "block", "block", "flow", "flow lines", "line", "missing"),
    indent: fc.constantFrom("", "  ", "    "),
    shorthands: fc.subarray([
      "access: rw",
      "access: r",
      "sandbox: .",
      "extends: ambit:reader@1",
      "extends: [ambit:coder@1]",
    ]),
    at: fc.nat(3),
    isWindows: fc.boolean(),
    hasMark: fc.boolean(),
    body: fc.constantFrom("", "\n", "\nYou help. \n---\ncapabilities: [net.get]\n", "no break at the end"),
  })
  .map(({ items, shape, indent, shorthands, at, isWindows, hasMark, body }) => {
    const foreign: string[] = [];
    const mark = (): string => {
      foreign.push(`keep ${foreign.length} `);
      return foreign.at(-1) as string;
    };
    const keys = new Map(shorthands.map((line) => [line.split(":")[0] as string, line]));
    const blocks: string[][] = [...keys.values()].map((line) => [line]);
    blocks.splice(at, 0, listLines(items, shape, indent, mark));
    const lines = blocks.flatMap((block, index) => [
      `title${index}:  "x"  # ${mark()}`,
      ...block,
      ...(index % 2 === 0 ? [`# ${mark()}`] : []),
    ]);
    const end = isWindows ? "\r\n" : "\n";
    const whole = ["---", `id: a   `, ...lines, "---"].join(end) + end + body.replaceAll("\n", end);
    return { text: (hasMark ? "\uFEFF" : "") + whole, foreign, specs: items.map(([one]) => specText(one)) };
  });

function listLines(
  items: readonly (readonly [Written, Style])[],
  shape: string,
  indent: string,
  mark: () => string,
): string[] {
  const specs = items.map(([one]) => specText(one));
  if (shape === "missing") return [];
  if (items.length === 0) return [shape === "block" ? "capabilities: # none" : "capabilities: [ ]"];
  const quoted = items.map(([one, { quote }]) => {
    const text = specText(one);
    return quote === 1 && !text.includes("'") ? `'${text}'` : JSON.stringify(text);
  });
  if (shape === "line") return [`capabilities: ${JSON.stringify(specs.join(", "))} # line`];
  if (shape === "flow") return [`capabilities: [${quoted.join(", ")}] # flow`];
  if (shape === "flow lines")
    return ["capabilities: [", ...quoted.map((one, index) => `  ${one}, # item ${index}`), "  ]"];
  return [
    "capabilities:   # all of it",
    ...items.flatMap(([one, how], index) => {
      const lines = how.form < 2 ? [quoted[index] as string] : mapLines(one, how, () => `in ${index}`);
      const [first = "", ...more] = lines;
      return [
        ...(how.comment ? [`${indent}# ${mark()}`] : []),
        `${indent}- ${first}${how.comment ? "  # why" : ""}`,
        ...more.map((line) => `${indent}${line}`),
      ];
    }),
  ];
}
