// Each checker of tidy, with a violation planted in memory and its nearest lawful variant.
import { describe, expect, test } from "vitest";
import { checkFolders, checkSmallFiles, folderFilesMax, largeFolders, smallFiles, smallLines } from "./budgets.ts";
import { checkBrand, checkDirection, checkMint } from "./direction.ts";
import { checkLanguage } from "./language.ts";
import { checkPurity } from "./purity.ts";
import { isPureRoom, isRoom, knownBy, roomNames } from "./rooms.ts";
import { checkFailures, checkIndex, checkLength, checkPurpose, linesMax, linesWanted, longFiles } from "./shape.ts";
import { type Report, source } from "./source.ts";
import { checkWaits } from "./waits.ts";
import { checkWords } from "./words.ts";

/** [title, path, text, the finding; nothing if lawful] */
type Row = readonly [string, string, string, RegExp | undefined];

function holds(check: (sources: readonly ReturnType<typeof source>[]) => Report, rows: readonly Row[]): void {
  test.each(rows)("%s", (_title, path, text, says) => {
    const { looked, findings } = check([source(path, text)]);
    const said = findings.map((each) => each.what);
    if (says === undefined) {
      expect(said).toEqual([]);
    } else {
      expect(looked).toBe(1);
      expect(said).toEqual([expect.stringMatching(says)]);
    }
  });
}

describe("direction", () => {
  const tool = "src/runtime/tool/a.ts";
  const mcp = /runtime may not import mcp/;
  holds(checkDirection, [
    ["up the table", "src/core/gate/gate.ts", 'import { a } from "../authority/a.ts";', undefined],
    [
      "down the table",
      "src/core/authority/a.ts",
      'import { a } from "../gate/gate.ts";',
      /core\/authority may not import core\/gate/,
    ],
    ["within a room", "src/core/gate/gate.ts", 'import { a } from "./deep/a.ts";', undefined],
    ["out of a room and back", "src/core/gate/gate.ts", 'import { a } from "../gate/a.ts";', undefined],
    ["a type down the table", tool, 'import type { A } from "../../mcp/a.ts";', mcp],
    ["an inline type", tool, 'type A = import("../../mcp/a.ts").A;', mcp],
    ["an export from", tool, 'export * from "../../mcp/a.ts";', mcp],
    ["a bare import", tool, 'import "../../mcp/a.ts";', mcp],
    ["a dynamic import", tool, 'const a = await import("../../mcp/a.ts");', mcp],
    ["a template import", tool, "const a = await import(`../../mcp/a.ts`);", mcp],
    ["an old import", tool, 'import a = require("../../mcp/a.ts");', mcp],
    ["a reference", tool, '/// <reference path="../../mcp/a.ts" />\n', mcp],
    ["an import in a comment", tool, '// import "../../mcp/a.ts";', undefined],
    ["an import in a string", tool, "const a = 'import \"../../mcp/a.ts\"';", undefined],
    ["the runtime knows the gate", tool, 'import "../../core/gate/a.ts";', undefined],
    [
      "the gate does not know the runtime",
      "src/core/gate/a.ts",
      'import "../../runtime/tool/a.ts";',
      /core\/gate may not import runtime/,
    ],
    ["the log does not know agents", "src/log/a.ts", 'import "../agents/a.ts";', /log may not import agents/],
    ["the broker knows plans", "src/sandbox/network/a.ts", 'import "../plan/a.ts";', undefined],
    [
      "the broker does not know the daemon",
      "src/sandbox/network/a.ts",
      'import "../../daemon/a.ts";',
      /sandbox\/network may not import daemon/,
    ],
    ["an impure folder in a pure room", "src/log/keys/a.ts", 'import "../chain/a.ts";', undefined],
    [
      "a pure room does not know its impure folder",
      "src/log/chain/a.ts",
      'import "../keys/a.ts";',
      /log may not import log\/keys/,
    ],
    [
      "the store does not know the platform",
      "src/store/a.ts",
      'import "../platform/a.ts";',
      /store may not import platform/,
    ],
    [
      "our protocol does not know the daemon",
      "src/daemon/rpc/a.ts",
      'import "../session.ts";',
      /daemon\/rpc may not import daemon/,
    ],
    ["faces do not know faces", "src/mcp/a.ts", 'import "../cli/a.ts";', /mcp may not import cli/],
    ["faces do not know the platform", "src/cli/a.ts", 'import "../platform/a.ts";', /cli may not import platform/],
    ["main knows everything", "src/main/a.ts", 'import "../platform/a.ts"; import "../cli/a.ts";', undefined],
    ["nothing imports main", "src/cli/a.ts", 'import "../main/cli.ts";', /cli may not import main/],
    ["the door opens on the core", "src/index.ts", 'export * from "./core/gate/gate.ts";', undefined],
    ["the door opens on nothing else", "src/index.ts", 'export * from "./log/a.ts";', /index.ts may not import log/],
    ["an unknown room", "src/attic/a.ts", "export {};", /attic is not a room/],
    ["an unknown room in the core", "src/core/attic/a.ts", "export {};", /core is not a room/],
    ["an unknown file", "src/attic.ts", "export {};", /attic.ts is not a room/],
    ["out of src", "src/core/gate/a.ts", 'import "../../../test/a.ts";', /outside src/],
    ["by the package's own name", "src/core/gate/a.ts", 'import "ambit/node";', /around the table/],
    ["a fixture", "src/core/gate/a.ts", 'import "./testing/a.ts";', /for tests alone/],
    ["a fixture in a test", "src/core/gate/a.test.ts", 'import "./testing/a.ts";', undefined],
    ["a fixture looks anywhere", "src/core/authority/testing/a.ts", 'import "../../gate/a.ts";', undefined],
    ["a test looks anywhere", "src/core/authority/a.test.ts", 'import "../gate/a.ts";', undefined],
  ]);

  test("the table names only rooms of the table, and no pure room knows an impure one", () => {
    for (const room of roomNames) {
      for (const other of knownBy(room)) {
        expect(isRoom(other)).toBe(true);
        if (isPureRoom(room)) expect(isPureRoom(other)).toBe(true);
      }
    }
  });

  test("the table has no cycle", () => {
    const visit = (room: string, path: readonly string[]): void => {
      expect(path).not.toContain(room);
      for (const other of knownBy(room)) if (room !== "main") visit(other, [...path, room]);
    };
    for (const room of roomNames) visit(room, []);
  });
});

describe("mint", () => {
  const mints = 'import { mint } from "../../core/gate/warrant-mint.ts";';
  holds(checkMint, [
    ["the gate", "src/core/gate/gate.ts", 'import { mint } from "./warrant-mint.ts";', undefined],
    ["a tool", "src/runtime/tool/a.ts", mints, /imports the mint/],
    ["a tool's test", "src/runtime/tool/a.test.ts", mints, /imports the mint/],
    ["main", "src/main/compose.ts", 'import { mint } from "../core/gate/warrant-mint.ts";', /imports the mint/],
    [
      "a roundabout path",
      "src/runtime/tool/a.ts",
      'import "./../../core/./notation/../gate/warrant-mint.ts";',
      /imports the mint/,
    ],
    [
      "a test across rooms",
      "test/forge/a.test.ts",
      'import "../../src/core/gate/warrant-mint.ts";',
      /imports the mint/,
    ],
    [
      "the mint's own test",
      "src/core/gate/warrant-mint.test.ts",
      'import { mint } from "./warrant-mint.ts";',
      undefined,
    ],
    [
      "a neighbour of the mint",
      "src/runtime/tool/a.ts",
      'import { mint } from "../../core/gate/warrant-mints.ts";',
      undefined,
    ],
  ]);
});

describe("brand", () => {
  holds(checkBrand, [
    ["the mint", "src/core/gate/warrant-mint.ts", 'import { mark } from "./warrant-brand.ts";', undefined],
    ["the recogniser", "src/core/gate/warrant.ts", 'import { isMarked } from "./warrant-brand.ts";', undefined],
    ["another file of the room", "src/core/gate/a.ts", 'export * from "./warrant-brand.ts";', /imports the brand/],
    ["a test", "test/forge/a.test.ts", 'import "../../src/core/gate/warrant-brand.ts";', /imports the brand/],
  ]);
});

describe("purity", () => {
  const at = "src/core/authority/a.ts";
  holds(checkPurity, [
    ["UTF-8", at, "export const a = new TextEncoder().encode(btoa('b'));", undefined],
    ["a global that is not declared", at, "export const a = new TextEncoderStream();", /ambient TextEncoderStream/],
    ["node", at, 'import { join } from "node:path";', /imports node:path/],
    ["node without its prefix", at, 'import { join } from "path";', /imports path/],
    ["a type of node", at, 'import type { Stats } from "node:fs";', /imports node:fs/],
    ["a package", at, 'import { parse } from "yaml";', /imports the package yaml/],
    ["a computed import", at, "const a = await import(`./${1}.ts`);", /computed name/],
    ["a neighbour", at, 'import { parse } from "./yaml.ts";', undefined],
    ["process", at, "const a = process.env;", /ambient process/],
    ["a parameter called process", at, "const a = (process: string) => process.length;", undefined],
    ["an import called process", at, 'import { process } from "./a.ts"; export const b = process;', undefined],
    ["a property called process", at, "const a = { process: 1 }; const b = a.process;", undefined],
    ["a shorthand process", at, "const a = { process };", /ambient process/],
    ["a shorthand of our own", at, "const process = 1; const a = { process };", undefined],
    ["process used before another scope's own", at, "{ const process = 1; } const a = process;", /ambient process/],
    ["console", at, 'console.log("a");', /ambient console/],
    ["Date", at, "const a = new Date(0);", /ambient Date/],
    ["Date as a type", at, "type A = Date;", undefined],
    ["a date spelled in text", at, 'const a = "Date"; // Date', undefined],
    ["setTimeout", at, "setTimeout(() => 1, 1);", /ambient setTimeout/],
    ["fetch", at, 'const a = fetch("a");', /ambient fetch/],
    [
      "a fetch passed as a parameter",
      at,
      'const a = (net: { fetch(url: string): string }) => net.fetch("a");',
      undefined,
    ],
    ["globalThis", at, "const a = globalThis;", /ambient globalThis/],
    ["Buffer", at, "const a = Buffer;", /ambient Buffer/],
    ["URL", at, 'const a = new URL("a");', /ambient URL/],
    ["performance", at, "const a = performance.now();", /ambient performance/],
    ["crypto", at, "const a = crypto;", /ambient crypto/],
    ["require", at, "const a = require;", /ambient require/],
    [
      "a global declared to quiet the compiler",
      at,
      "declare const process: string; const a = process;",
      /ambient process/,
    ],
    [
      "a global declared among the globals",
      at,
      "declare global { var process: 1 } const a = process;",
      /ambient process/,
    ],
    ["our own name re-exported", at, "const fetch = 1; export { fetch };", undefined],
    ["another module's name re-exported", at, 'export { fetch } from "./a.ts";', undefined],
    ["a class that extends a global", at, "class A extends EventTarget {}", /ambient EventTarget/],
    ["a class that extends Error", at, "class A extends Error {}", undefined],
    ["a default from a global", at, "const a = ({ now = Date }) => now;", /ambient Date/],
    ["a global re-exported", at, "export { fetch };", /ambient fetch/],
    ["typeof a global", at, 'const a = typeof window === "undefined";', /ambient window/],
    ["a global in a template", at, "const a = `${location}`;", /ambient location/],
    ["eval", at, 'const a = eval("1");', /ambient eval/],
    ["code from text", at, 'const a = new Function("1");', /ambient Function/],
    ["the locale", at, "const a = new Intl.Collator();", /ambient Intl/],
    ["Math.random", at, "const a = Math.random();", /Math.random/],
    ["Math.random by a string", at, 'const a = Math["random"]();', /Math.random/],
    ["Math taken apart", at, "const { random } = Math;", /Math.random/],
    ["Math.max", at, "const a = Math.max(1, 2);", undefined],
    ["import.meta", at, "const a = import.meta.url;", /import.meta/],
    [
      "the language",
      at,
      "const a = new Map([[Symbol.iterator, undefined]]); const b = JSON.stringify([NaN]);",
      undefined,
    ],
    ["labels", at, "const a = () => { process: for (;;) { break process; } };", undefined],
    ["around", "src/sandbox/plan/a.ts", "const a = process;", /ambient process/],
    ["the door", "src/index.ts", "const a = process;", /ambient process/],
    ["outside", "src/platform/a.ts", 'import "node:fs"; const a = process;', undefined],
    ["a pure room's test", "src/core/authority/a.test.ts", 'import "node:fs"; const a = process;', undefined],
  ]);

  test("a name declared in one file does not hide the global from another", () => {
    const { findings } = checkPurity([
      source(at, "const process = 1;"),
      source("src/core/authority/b.ts", "const b = process;"),
    ]);
    expect(findings.map((each) => each.path)).toEqual(["src/core/authority/b.ts"]);
  });

  test.each(roomNames.filter((room) => isPureRoom(room) && room !== "index.ts"))("%s is pure", (room) => {
    expect(checkPurity([source(`src/${room}/a.ts`, "const a = Date;")]).findings).toHaveLength(1);
  });
});

describe("shape", () => {
  const lines = (count: number): string => "// a line\n".repeat(count);
  holds(checkLength, [
    ["as long as allowed", "src/core/gate/a.ts", lines(linesMax), undefined],
    ["one line longer", "src/core/gate/a.ts", lines(linesMax + 1), /has 401 lines/],
    ["one line longer, without its end", "src/core/gate/a.ts", `${lines(linesMax)}//`, /has 401 lines/],
    ["a test, one line longer", "src/core/gate/a.test.ts", lines(linesMax + 1), /has 401 lines/],
  ]);

  test("files over the preferred length are named", () => {
    const sources = [
      source("src/core/gate/a.ts", lines(linesWanted)),
      source("src/core/gate/b.ts", lines(linesWanted + 1)),
    ];
    expect(longFiles(sources)).toEqual(["src/core/gate/b.ts (151)"]);
  });

  holds(checkPurpose, [
    ["a line", "src/core/gate/a.ts", "// Decides what may happen.\nexport {};", undefined],
    ["a block", "src/core/gate/a.ts", "/**\n * Decides what may happen.\n */\nexport {};", undefined],
    ["code first", "src/core/gate/a.ts", "export {};\n// Decides what may happen.", /purpose/],
    ["an empty line first", "src/core/gate/a.ts", "\n// Decides what may happen.", /purpose/],
    ["an empty comment", "src/core/gate/a.ts", "//\nexport {};", /purpose/],
    ["a ruler", "src/core/gate/a.ts", "// ---- ----\nexport {};", /purpose/],
    ["one word", "src/core/gate/a.ts", "// Gate\nexport {};", /purpose/],
    ["a directive to a tool", "src/core/gate/a.ts", "// biome-ignore lint: for now\nexport {};", /purpose/],
    ["nothing", "src/core/gate/a.ts", "", /purpose/],
    ["a test needs none", "src/core/gate/a.test.ts", "export {};", undefined],
  ]);

  holds(checkIndex, [
    ["the door", "src/index.ts", "", undefined],
    ["a room's index", "src/core/gate/index.ts", "", /no door/],
    ["a deep index", "src/core/gate/deep/index.ts", "", /no door/],
    ["another name", "src/core/gate/indexes.ts", "", undefined],
  ]);
});

describe("failures", () => {
  const at = "src/core/gate/a.ts";
  const failed = (members: string): string => `type A = { readonly ok: true } | { readonly ok: false; ${members} };`;
  holds(checkFailures, [
    ["a message alone", at, failed("readonly message: string"), /is a Failure/],
    ["with a code", at, failed('readonly code: "late"; readonly message: string'), /is a CodedFailure/],
    ["with a fix", at, failed("readonly message: string; readonly fix: string | null"), /is a FixableFailure/],
    ["with something of its own", at, failed("readonly message: string; readonly line: number"), undefined],
    ["narrowed by Extract", at, "type A = Extract<B, { readonly ok: false }>;", undefined],
    ["their own file", "src/core/base/result.ts", failed("readonly message: string"), undefined],
    ["a test", "src/core/gate/a.test.ts", failed("readonly message: string"), undefined],
  ]);
});

describe("budgets", () => {
  const files = (count: number, folder: string): readonly ReturnType<typeof source>[] =>
    Array.from({ length: count }, (_, at) => source(`${folder}/a${at}.ts`, ""));
  const said = ({ findings }: Report): readonly string[] => findings.map(({ path, what }) => `${path} ${what}`);

  test("a folder holds as many source files as allowed, and not one more", () => {
    const full = files(folderFilesMax, "src/core/gate");
    expect(said(checkFolders(full))).toEqual([]);
    expect(said(checkFolders([...full, source("src/core/gate/b.ts", "")]))).toEqual([
      `src/core/gate has ${folderFilesMax + 1} source files, more than ${folderFilesMax}`,
    ]);
    const apart = [
      "src/core/gate/b.test.ts",
      "src/core/gate/testing/b.ts",
      "src/core/gate/deep/b.ts",
      "test/gate/b.ts",
    ];
    expect(said(checkFolders([...full, ...apart.map((path) => source(path, ""))]))).toEqual([]);
  });

  test.each(Object.entries(largeFolders))("%s has a budget of its own", (folder, max) => {
    expect(max).toBeGreaterThan(folderFilesMax);
    expect(said(checkFolders(files(max, folder)))).toEqual([]);
    expect(said(checkFolders(files(max + 1, folder)))).toHaveLength(1);
  });

  const lines = (count: number): string => "// a line\n".repeat(count);
  const importer = source("src/core/gate/big.ts", `import { a } from "./a.ts";\n${lines(smallLines)}`);
  const small = source("src/core/gate/a.ts", lines(smallLines - 1));

  test("a small file with a single importer counts", () => {
    expect(smallFiles([importer, small])).toEqual([[small.path, importer.path]]);
    expect(said(checkSmallFiles([importer, small], 1))).toEqual([]);
    expect(said(checkSmallFiles([importer, small], 0))).toEqual([
      expect.stringMatching(/^src 1 files under 60 lines have a single importer, more than 0/),
    ]);
  });

  test("a type or a file loaded late is imported, too", () => {
    for (const text of ['import type { A } from "./a.ts";', 'const a = await import("./a.ts");'])
      expect(smallFiles([source("src/core/gate/b.ts", `${text}\n${lines(smallLines)}`), small])).toHaveLength(1);
  });

  test.each([
    ["one line longer", [importer, source(small.path, lines(smallLines))]],
    ["two importers", [importer, small, source("src/core/gate/b.ts", importer.text)]],
    ["no importer", [small]],
    ["a test is not an importer", [small, source("src/core/gate/b.test.ts", importer.text)]],
    ["a test's own file", [source("src/core/gate/b.test.ts", importer.text), source("test/gate/a.ts", "")]],
  ])("%s: does not count", (_title, sources) => {
    expect(smallFiles(sources)).toEqual([]);
  });
});

describe("language", () => {
  const at = "src/core/gate/gate.ts";
  const users = "src/sandbox/plan/start/etc.ts";
  holds(checkLanguage, [
    ["a comment", at, "// The daemon drops whoever says nothing.", /says "whoever"/],
    ["a comment with a technical noun", at, "// The daemon drops idle connections.", undefined],
    ["a message", at, 'const a = "Nobody listens";', /says "Nobody"/],
    ["a name", at, "const somebody = 1;", /says "somebody"/],
    ["a name that contains one", at, "const somebodyElse = 1;", undefined],
    ["the user of the system", users, 'const a = user === "nobody";', undefined],
    ["the user of the system, and a process", users, 'const a = "nobody"; // as nobody else', /says "nobody"/],
    ["the user of the system, in another file", at, 'const a = user === "nobody";', /says "nobody"/],
    ["a test beside its source", "src/core/gate/gate.test.ts", "// whoever", /says "whoever"/],
    ["a title", "test/state/a.test.ts", 'test("nobody is called", () => {});', /says "nobody"/],
    ["a title with a technical noun", "test/state/a.test.ts", 'test("without a connection", () => {});', undefined],
    ["a benchmark", "bench/main.ts", "// for anybody", /says "anybody"/],
    ["C", "native/run.c", "// Reaps whoever is dead.", /says "whoever"/],
    ["the list of the words", "test/tidy/language.ts", "// whoever", undefined],
  ]);
});

describe("waits", () => {
  const at = "test/state/a.test.ts";
  holds(checkWaits, [
    ["a promise of a timer", at, "await new Promise((done) => setTimeout(done, 50));", /waits for a duration/],
    ["the same, beside its source", "src/core/gate/a.test.ts", "new Promise((go) => setTimeout(go));", /waits for a/],
    ["a fixture", "test/state/fixture.ts", "new Promise((go) => { setTimeout(go, 5); });", /waits for a duration/],
    ["a blocked thread", at, "Atomics.wait(cells, 0, 0, 20);", /waits for a duration/],
    ["timers as promises", at, 'import { setTimeout as pause } from "node:timers/promises";', /timers as promises/],
    ["a timer that ends a child", at, "const late = setTimeout(() => child.kill(), 50);", undefined],
    ["a timer in a promise of something else", at, "new Promise((done) => { setTimeout(stop, 5); });", undefined],
    ["with a reason", at, 'await pause(50, "the clock has moved");', undefined],
    ["the place itself", "test/house/pause.ts", "Atomics.wait(cells, 0, 0, 20);", undefined],
  ]);
});

describe("words", () => {
  const at = "src/core/gate/a.ts";
  holds(checkWords, [
    ["a constant", at, "const leash = 1;", /"leash"/],
    ["a plural", at, "const worlds = 1;", /"worlds"/],
    ["a part of a name", at, "const fileWorldTable = 1;", /"world"/],
    ["in capitals", at, "const FILE_WORLD = 1;", /"world"/],
    ["a type", at, "type WorldTable = 1;", /"world"/],
    ["a parameter", at, "const a = (ctx: string) => 1;", /"ctx"/],
    ["a taken-apart parameter", at, "const a = ({ b: opts }: { b: string }) => 1;", /"opts"/],
    ["a property of a type", at, "type A = { jail: 1 };", /"jail"/],
    ["a key", at, "const a = { leash: 1 };", /"leash"/],
    ["a key in quotes", at, 'const a = { "leash": 1 };', undefined],
    ["a method", at, "class A { util() {} }", /"util"/],
    ["a private name", at, "class A { #util = 1; }", /"util"/],
    ["a class", at, "class GateUtil {}", /"util"/],
    ["an import", at, 'import { util } from "a";', /"util"/],
    ["a renamed import", at, 'import { util as broker } from "a";', undefined],
    ["an ordinary word", at, "const permission = 1; class Helper {}", undefined],
    ["a library's property", at, "const a = program.opts();", undefined],
    ["a string", at, 'const a = "world";', undefined],
    ["a name of a protocol", at, "const a = { openWorldHint: true };", undefined],
    ["a comment", at, "// world\nconst a = 1;", undefined],
    ["a longer word", at, "const utility = 1; const worldly = 2; const options = 3; const jailer = 4;", undefined],
    ["safe and more", at, "const safePath = 1;", /begins with "safe"/],
    ["a type safe and more", at, "type SafePath = 1;", /begins with "safe"/],
    ["safe alone", at, "const safe = 1;", undefined],
    ["safe inside", at, "const isSafeInteger = 1; const safety = 2;", undefined],
    ["validate", at, "const validate = 1;", /begins with "validate"/],
    ["validate and more", at, "function validateRecord() {}", /begins with "validate"/],
    ["valid", at, "const valid = 1;", undefined],
    ["a function that is only a participle", at, "export function asked() {}", /asked does not say what/],
    ["the same with -ing", at, "export async function keeping() {}", /keeping does not say what/],
    ["a participle with its noun", at, "export function askedRequests() {}", undefined],
    ["a participle inside one file", at, "function asked() {}", undefined],
    ["a noun with that ending", at, "export function ceiling() {}", undefined],
    ["a type that is only a participle", at, "interface Told {}", /Told does not say what it is/],
    ["a type with its noun", at, "interface ToldAgent {}", undefined],
    ["a file", "src/core/gate/gate-world.ts", "", /"world"/],
    ["a test file", "src/core/gate/util.test.ts", "", /"util"/],
    ["a folder", "src/core/gate/utils/a.ts", "", /"utils"/],
    ["a lawful file", "src/core/gate/managed.ts", "", undefined],
    ["a test's own names", "test/forge/a.test.ts", "const ctx = 1;", /"ctx"/],
  ]);
});
