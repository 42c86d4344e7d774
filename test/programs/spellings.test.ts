// The table of risky options against the real programs, with spellings made at random: bundled letters, glued and separate values,
// shortened long options. Whatever spelling makes the installed program run a file or write one is guarded, so no star matches it.
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { guardArgv } from "../../src/core/authority/axes/argv.ts";
import { removeState } from "../house/remove-state.ts";
import { runProgram } from "./real-program.ts";

const effectsMin = 3;

/** An option that has an effect; `EVIL` in its value is a program that leaves the marker, `MARKER` the marker itself. */
interface Effect {
  readonly long?: string;
  readonly letter?: string;
  readonly value: string;
}

interface Program {
  readonly name: string;
  /** Words between the program and the option. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Letters without a value that may be bundled with others. */
  readonly flags: string;
  readonly effects: readonly Effect[];
}

const PROGRAMS: readonly Program[] = [
  {
    ...{ name: "tar", before: ["-c"], after: ["-f", "out.tar", "f"], flags: "vhpS" },
    effects: [
      { long: "use-compress-program", letter: "I", value: "EVIL" },
      { long: "to-command", value: "EVIL" },
      { long: "checkpoint-action", value: "exec=EVIL" },
      { long: "new-volume-script", letter: "F", value: "EVIL" },
      { long: "rmt-command", value: "EVIL" },
    ],
  },
  {
    ...{ name: "tar", before: ["-x"], after: ["-f", "in.tar"], flags: "vp" },
    effects: [
      { long: "use-compress-program", letter: "I", value: "EVIL" },
      { long: "to-command", value: "EVIL" },
    ],
  },
  {
    ...{ name: "sort", before: [], after: ["f"], flags: "nrubfs" },
    effects: [{ long: "output", letter: "o", value: "MARKER" }],
  },
  {
    ...{ name: "sed", before: [], after: ["f"], flags: "nsurEz" },
    effects: [
      { long: "expression", letter: "e", value: "wMARKER" },
      { long: "expression", letter: "e", value: "1eEVIL" },
      { long: "file", letter: "f", value: "script.sed" },
    ],
  },
  {
    ...{ name: "make", before: [], after: [], flags: "skiBw" },
    effects: [
      { long: "eval", letter: "E", value: "$(shell EVIL)" },
      { long: "file", letter: "f", value: "evil.mk" },
      { long: "makefile", value: "evil.mk" },
    ],
  },
  {
    ...{ name: "node", before: [], after: ["main.cjs"], flags: "" },
    effects: [
      { long: "require", letter: "r", value: "./evil.cjs" },
      { long: "import", value: "./evil.cjs" },
      { long: "eval", letter: "e", value: "require('./evil.cjs')" },
      { long: "print", letter: "p", value: "require('./evil.cjs')" },
    ],
  },
  {
    ...{ name: "git", before: ["grep"], after: ["line"], flags: "nilwh" },
    effects: [{ long: "open-files-in-pager", letter: "O", value: "EVIL" }],
  },
  {
    ...{ name: "git", before: ["diff"], after: ["HEAD~1"], flags: "pabw" },
    effects: [{ long: "output", value: "MARKER" }],
  },
  {
    ...{ name: "git", before: ["archive"], after: ["HEAD"], flags: "v" },
    effects: [{ long: "output", letter: "o", value: "MARKER" }],
  },
  {
    ...{ name: "git", before: ["difftool"], after: ["HEAD~1"], flags: "y" },
    effects: [{ long: "extcmd", letter: "x", value: "EVIL" }],
  },
  {
    ...{ name: "git", before: [], after: ["status"], flags: "" },
    effects: [{ letter: "c", value: "core.fsmonitor=EVIL" }],
  },
  {
    ...{ name: "awk", before: [], after: ["{}", "f"], flags: "" },
    effects: [{ long: "file", letter: "f", value: "evil.awk" }],
  },
];

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-spellings-"));
  write("evil", `#!/bin/sh\ntouch ${folder}/marker\nexit 0\n`);
  chmodSync(join(folder, "evil"), 0o755);
  write("f", "line\n");
  write("script.sed", `w ${folder}/marker\n`);
  write("evil.mk", `all:\n\t${folder}/evil\n`);
  write("Makefile", "all:\n\t@true\n");
  write("evil.cjs", `require("node:fs").writeFileSync(${JSON.stringify(`${folder}/marker`)}, "");`);
  write("main.cjs", "");
  write("evil.awk", `BEGIN { system("${folder}/evil") }\n`);
  run(["tar", "-cf", "in.tar", "f"]);
  run(["git", "init", "-q", "."]);
  for (const text of ["line one\n", "line two\n"]) {
    write("f", text);
    run(["git", "add", "f"]);
    run(["git", "commit", "-qm", text.trim()]);
  }
});

afterAll(() => removeState(folder));

function write(path: string, text: string): void {
  writeFileSync(join(folder, path), text);
}

function run(argv: readonly string[]): string {
  return runProgram(argv, { folder });
}

/** Words that may or may not give the program this option, in ways a program's own reader accepts or refuses. */
function spelling({ flags }: Program, { long, letter, value }: Effect): fc.Arbitrary<readonly string[]> {
  const bundle = fc.subarray([...flags], { maxLength: Math.min(3, flags.length) }).map((letters) => letters.join(""));
  const shorts =
    letter === undefined
      ? []
      : [
          bundle.map((letters) => [`-${letters}${letter}${value}`]),
          bundle.map((letters) => [`-${letters}${letter}`, value]),
          bundle.map((letters) => [...(letters === "" ? [] : [`-${letters}`]), `-${letter}`, value]),
        ];
  const longs =
    long === undefined
      ? []
      : [
          fc.integer({ min: 1, max: long.length }).map((length) => [`--${long.slice(0, length)}=${value}`]),
          fc.integer({ min: 1, max: long.length }).map((length) => [`--${long.slice(0, length)}`, value]),
          fc.constant([`--${long.replaceAll("-", "_")}=${value}`]),
          fc.constant([`-${long}`, value]),
        ];
  return fc.oneof(...shorts, ...longs);
}

describe("a random spelling that has an effect is guarded", () => {
  test.each(PROGRAMS.map((one) => [[one.name, ...one.before].join(" "), one] as const))("%s", (_, program) => {
    const words = program.effects.map((effect) => spelling(program, effect));
    let effects = 0;
    fc.assert(
      fc.property(fc.oneof(...words), fc.boolean(), (option, isAfter) => {
        const placed = isAfter ? [...program.after, ...option] : [...option, ...program.after];
        const argv = [program.name, ...program.before, ...placed].map((word) =>
          word.replace("EVIL", `${folder}/evil`).replace("MARKER", `${folder}/marker`),
        );
        const before = new Set(readdirSync(folder));
        const said = run(argv);
        const isRun = existsSync(join(folder, "marker"));
        for (const name of readdirSync(folder)) if (!before.has(name)) rmSync(join(folder, name), { recursive: true });
        if (!isRun) return;
        effects++;
        expect(guardArgv(argv).guarded, `${argv.join(" ")}: ${said}`).toContain(true);
      }),
      { numRuns: 60 },
    );
    // A test in which no program ran or wrote anything proves nothing.
    expect(effects).toBeGreaterThan(effectsMin);
  });
});
