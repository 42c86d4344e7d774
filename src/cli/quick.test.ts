// The short way to `can` reads words exactly as the command line does, or leaves them to it.
import { Command } from "commander";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type QuickCan, quickCan } from "./quick.ts";

/** As the command line declares it; null where it would say something else than run the command. */
function byCommander(argv: readonly string[]): QuickCan | null {
  const split = argv.indexOf("--");
  let read: QuickCan | null = null;
  const program = new Command("ambit").exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
  program
    .command("can")
    .argument("<agent>")
    .argument("<request...>")
    .option("--json", "", false)
    .action((agent: string, words: string[], { json }: { json: boolean }) => {
      read = { agent, words: [...words, ...(split < 0 ? [] : argv.slice(split))], json };
    });
  try {
    program.parse(split < 0 ? [...argv] : argv.slice(0, split), { from: "user" });
  } catch {
    return null;
  }
  return read;
}

describe("a plain can", () => {
  const rows: readonly (readonly [string, QuickCan | null])[] = [
    ["can scout fs.read a", { agent: "scout", words: ["fs.read", "a"], json: false }],
    ["can scout --json fs.read a", { agent: "scout", words: ["fs.read", "a"], json: true }],
    ["can --json scout task.schedule", { agent: "scout", words: ["task.schedule"], json: true }],
    ["can scout proc.exec -- git -C x", { agent: "scout", words: ["proc.exec", "--", "git", "-C", "x"], json: false }],
    ["can scout proc.exec -- git --json", { agent: "scout", words: ["proc.exec", "--", "git", "--json"], json: false }],
    ["can scout proc.exec --", { agent: "scout", words: ["proc.exec", "--"], json: false }],
    ["can scout", null],
    ["can scout -- fs.read", null],
    ["can scout fs.read a --help", null],
    ["can scout fs.read a -h", null],
    ["can scout fs.read -", null],
    ["can scout fs.read a --jsonn", null],
    ["can --help", null],
    ["cann scout fs.read a", null],
    ["test", null],
    ["", null],
  ];
  test.each(rows)("%s", (line, wanted) => {
    const argv = line === "" ? [] : line.split(" ");
    expect(quickCan(argv)).toEqual(wanted);
    if (wanted !== null) expect(byCommander(argv)).toEqual(wanted);
  });
});

test("whatever is read the short way is read so by the command line", () => {
  const word = fc.constantFrom(
    "can",
    "scout",
    "fs.read",
    "a b",
    "--json",
    "--",
    "-",
    "-h",
    "--help",
    "--json=x",
    "",
    "{}",
    "é",
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 7 }), (rest) => {
      const argv = ["can", ...rest];
      const quick = quickCan(argv);
      if (quick !== null) expect(quick).toEqual(byCommander(argv));
    }),
    { numRuns: 2000 },
  );
});
