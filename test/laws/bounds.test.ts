// Laws 12, 18, 21 and 22: parsing is idempotent, every decision terminates, nothing is not everything, and no reserved character
// is accepted.
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { argvPatternText, parseArgv, parseArgvPattern, parseProgram } from "../../src/core/authority/axes/argv.ts";
import {
  destinationText,
  hostPatternText,
  parseHost,
  parseHostEntry,
  parseHostPattern,
} from "../../src/core/authority/axes/destination.ts";
import {
  namePatternText,
  nameText,
  parseName,
  parseNamePattern,
  parseTool,
  parseToolPattern,
  toolPatternText,
} from "../../src/core/authority/axes/name.ts";
import {
  parsePath,
  parsePathPatterns,
  parseRoot,
  pathPatternText,
  pathText,
} from "../../src/core/authority/axes/path.ts";
import { ANY, type Value } from "../../src/core/authority/axes/scope.ts";
import { parseUrl } from "../../src/core/authority/axes/url.ts";
import type { Chain } from "../../src/core/authority/chain.ts";
import { compile } from "../../src/core/authority/compiled.ts";
import { judge } from "../../src/core/authority/judge.ts";
import { meetChain, meetGrants } from "../../src/core/authority/meet.ts";
import { DEEP, globMatches, literal, ONE, type Segment } from "../../src/core/authority/patterns/segment.ts";
import { type Sequence, segmentsOf, sequenceMatches } from "../../src/core/authority/patterns/sequence.ts";
import { within } from "../../src/core/authority/witness/within.ts";
import { parseRange, rangeText } from "../../src/core/base/address.ts";
import type { Result } from "../../src/core/base/result.ts";
import { PATH_SETTINGS, PROTECTED, TO_ASCII } from "./alphabet.ts";
import { authorityOf, grantOf, grants, linkOf, moment, PLAIN_MOMENT, VERBS, verbOf } from "./arbitraries.ts";
import { CORE } from "./implementation.ts";
import { casesReached, casesWanted, findViolation, LAW_TIMEOUT, type Law, LONG, QUOTAS } from "./law.ts";
import { requestNear } from "./requests.ts";
import { oneOf } from "./source.ts";

vi.setConfig({ testTimeout: LAW_TIMEOUT });

/** Random texts of the characters that matter to each parser. */
function made(pieces: readonly string[]): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 }).map((list) => list.join(""));
}

const PATH_PIECES = ["/", "a", "b", "..", ".", "~", "*", "**", "/", "{a,b}", "//", " ", "é"];
const HOST_PIECES = [
  "a",
  "x",
  ".",
  "*",
  "+.",
  "com",
  "1",
  "-",
  "_",
  "A",
  "0x7f",
  "[",
  "]",
  ":",
  "::1",
  "10.0.0.1",
  "/8",
];
const RANGE_PIECES = ["10.0.0.1", "0.0.0.0", "::1", "::", "[::1]", "/8", "/32", "/", ":", "0x7f", ".1", "a"];
const NAME_PIECES = ["a", "/", ".", "*", "**", "db-", "builtin:", "tool:", "fs_read", "-", " "];
const ARGV_PIECES = ["git", " ", "*", "**", "'a b'", '"x\\"y"', "-c", ":*", "log", "  ", "a*b"];
const URL_PIECES = [
  "http://",
  "https://",
  "x.com",
  "/",
  ":80",
  ":443",
  "@",
  "[::1]",
  "?q",
  "#f",
  "a.",
  "10.0.0.1",
  "\\",
  "HTTP://",
];

interface Reader<T> {
  readonly title: string;
  readonly pieces: readonly string[];
  readonly read: (text: string) => Result<T>;
  /** The value printed as text again. */
  readonly write: (value: T) => string;
}

function reader<T>(
  title: string,
  pieces: readonly string[],
  read: (text: string) => Result<T>,
  write: (value: T) => string,
): Reader<unknown> {
  return { title, pieces, read, write: write as (value: unknown) => string };
}

const first = <T>(result: Result<readonly T[]>): Result<T> =>
  result.ok ? { ok: true, value: result.value[0] as T } : result;

const READERS: readonly Reader<unknown>[] = [
  reader(
    "a path",
    PATH_PIECES,
    (text) => parsePath(text, PATH_SETTINGS),
    ({ segments }) => pathText(segments),
  ),
  reader("a root", PATH_PIECES, (text) => parseRoot(text, PATH_SETTINGS), pathText),
  reader("a path pattern", PATH_PIECES, (text) => first(parsePathPatterns(text, [], PATH_SETTINGS)), pathPatternText),
  reader("a host", HOST_PIECES, (text) => parseHost(text, TO_ASCII), destinationText),
  reader("a host pattern", HOST_PIECES, (text) => parseHostPattern(text, TO_ASCII), hostPatternText),
  reader("an address or a range", RANGE_PIECES, parseRange, rangeText),
  reader("a name", NAME_PIECES, parseName, ({ segments }) => nameText(segments)),
  reader("a name pattern", NAME_PIECES, parseNamePattern, namePatternText),
  reader("a tool", NAME_PIECES, parseTool, ({ segments }) => `${segments[0]}:${segments.slice(1).join(".")}`),
  reader("a tool pattern", NAME_PIECES, parseToolPattern, toolPatternText),
  reader("a command pattern", ARGV_PIECES, parseArgvPattern, argvPatternText),
  reader(
    "an address of a page",
    URL_PIECES,
    (text) => parseUrl(text, TO_ASCII),
    ({ scheme, host, port, rest }) => `${scheme}://${destinationText(host)}:${port}${rest}`,
  ),
];

let texts = 0;

describe("parsers", () => {
  test.each(READERS)("law 12: parsing $title twice equals parsing it once", ({ pieces, read, write }) => {
    let accepted = 0;
    fc.assert(
      fc.property(made(pieces), (text) => {
        texts++;
        const once = read(text);
        if (!once.ok) return;
        accepted++;
        const spelled = write(once.value);
        const twice = read(spelled);
        expect(twice, `${JSON.stringify(text)} became ${JSON.stringify(spelled)}`).toEqual(once);
      }),
      { numRuns: 400 },
    );
    expect(accepted).toBeGreaterThan(5);
  });

  const RAW: readonly (readonly [string, (text: string) => { readonly ok: boolean }])[] = [
    ...READERS.map(({ title, read }) => [title, read] as const),
    ["a program", parseProgram],
    ["a host entry", (text) => parseHostEntry(text, TO_ASCII)],
    ["an argument of a command", (text) => parseArgv(["git", text])],
    ["a program of a command", (text) => parseArgv([text])],
  ];

  test.each(RAW)("law 22: %s contains no reserved character", (_title, read) => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom("\uE000", "\uE001", "\0"), fc.string(), (before, reserved, after) => {
        texts++;
        expect(read(before + reserved + after).ok).toBe(false);
      }),
      { numRuns: 100 },
    );
  });
});

/** A list that counts how often it is read. */
function counted<T>(list: readonly T[], work: { reads: number }): readonly T[] {
  return new Proxy(list, {
    get(target, key, receiver) {
      work.reads++;
      return Reflect.get(target, key, receiver);
    },
  });
}

const total: Law = (_, source) => {
  const verb = oneOf(source, VERBS);
  const list = grants(source, verb, 1, 3);
  const other = requestNear(source, oneOf(source, VERBS), []);
  const strange: readonly Value[] = [
    undefined,
    0,
    "",
    segmentsOf([]),
    { name: null, address: { family: 4, number: 0n } },
    { kind: "json", value: {} },
    Number.NaN,
    -1,
    ...other.values,
  ];
  const values = verb.axes.map(() => oneOf(source, strange));
  const decision = judge(authorityOf(list), { verb, values }, moment(source));
  return ["allow", "ask", "deny"].includes(decision.outcome) ? null : "no outcome";
};

describe("decisions terminate", () => {
  test("law 18: a value of any kind gives a decision", () => {
    expect(findViolation(total, CORE, 2_000)).toBeNull();
  });

  const hostile: readonly (readonly [string, Sequence])[] = [
    ["ten deep stars", Array.from({ length: 21 }, (_, at) => (at % 2 === 0 ? DEEP : literal("a")))],
    ["two hundred deep stars", Array.from({ length: 401 }, (_, at) => (at % 2 === 0 ? DEEP : ONE))],
    [
      "a hundred globs after deep stars",
      Array.from(
        { length: 200 },
        (_, at): Segment => (at % 2 === 0 ? DEEP : { kind: "glob", parts: ["", "a", "a", ""] }),
      ),
    ],
  ];
  const path = Array.from({ length: 500 }, () => "a");

  test.each(hostile)(
    "law 18: matching %s reads each position of the pattern a few times per segment",
    (_title, pattern) => {
      const work = { reads: 0 };
      const value = { segments: counted([...path, "b"], work), guarded: null };
      sequenceMatches(counted([...pattern, literal("z")], work), value);
      expect(work.reads).toBeLessThanOrEqual(6 * (pattern.length + 2) * (path.length + 2));
    },
  );

  test("law 18: ten hostile patterns in an index terminate too", () => {
    const list = Array.from({ length: 20 }, (_, at) =>
      grantOf(verbOf("fs.read"), [
        { kind: "sequences", of: [[...(hostile[at % 3] as readonly [string, Sequence])[1], literal(`z${at}`)]] },
      ]),
    );
    const decision = judge(authorityOf(list), { verb: verbOf("fs.read"), values: [segmentsOf(path)] }, PLAIN_MOMENT);
    expect(decision.outcome).toBe("deny");
  });

  test("law 18: a glob with many stars on a long text terminates", () => {
    expect(globMatches([...Array.from({ length: 200 }, () => "a"), "b"], "a".repeat(20_000))).toBe(false);
  });

  test("law 18: containment of hostile patterns is refused instead of computed", () => {
    const wild = grantOf(verbOf("fs.read"), [{ kind: "sequences", of: [hostile[1]?.[1] as Sequence] }]);
    expect(within([wild], authorityOf([wild]), { protectedPaths: PROTECTED, delegating: false })).toEqual({
      kind: "unknown",
      grant: 0,
    });
  });

  test("law 18: a meet too large to write out is reported as such", () => {
    const pattern = (text: string): Sequence =>
      Array.from({ length: 41 }, (_, at) => (at % 2 === 0 ? DEEP : literal(text)));
    const [left, right] = ["a", "b"].map((text) =>
      grantOf(verbOf("fs.read"), [{ kind: "sequences", of: [pattern(text)] }]),
    );
    expect(meetGrants([left as never], [right as never])).toEqual({ grants: [], complete: false });
  });
});

describe("nothing is not everything", () => {
  const request = { verb: verbOf("task.schedule"), values: [] };

  test("law 21: a chain without links does not have the type of a chain", () => {
    // @ts-expect-error the meet of nothing would be everything
    const none: Chain = [];
    expect(none).toHaveLength(0);
  });

  test("law 21: an authority without chains, and a link without grants, cover nothing", () => {
    expect(judge([], request, PLAIN_MOMENT)).toEqual({ outcome: "deny", code: "capability_absent", at: null });
    expect(judge([[compile(linkOf([]))]], request, PLAIN_MOMENT).outcome).toBe("deny");
    expect(meetChain([compile(linkOf([]))]).grants).toEqual([]);
  });

  test("law 21: an empty scope covers nothing, not even an unset value", () => {
    const verb = verbOf("memory.read");
    for (const value of [undefined, segmentsOf([]), segmentsOf(["a"])]) {
      expect(
        judge(authorityOf([grantOf(verb, [{ kind: "sequences", of: [] }])]), { verb, values: [value] }, PLAIN_MOMENT)
          .outcome,
      ).toBe("deny");
      expect(judge(authorityOf([grantOf(verb, [ANY])]), { verb, values: [value] }, PLAIN_MOMENT).outcome).toBe("allow");
    }
  });
});

test("the cases were run", () => {
  expect(casesReached() + texts).toBeGreaterThanOrEqual(QUOTAS.bounds);
});

test("all files of laws together run fifty thousand cases, and a million in a long run", () => {
  const files = Object.keys(QUOTAS).filter((file) => file !== "bounds") as (keyof typeof QUOTAS)[];
  const cases = files.reduce((sum, file) => sum + casesWanted(file), 0);
  expect(cases).toBeGreaterThanOrEqual(LONG ? 1_000_000 : 50_000);
});
