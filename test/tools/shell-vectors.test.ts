// The measured cases of the safe subset through the real tool: what is refused, and that everything else does what a real shell,
// in a sandbox of its own, does with the same text.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tick } from "../draft/fixture.ts";
import { removeState } from "../house/remove-state.ts";
import { type ProgramsFixture, programsFixture, shellIn } from "./programs-fixture.ts";

type Expected = "runs" | "invalid_input" | "unsupported_command";

const CASES: readonly (readonly [script: string, expected: Expected])[] = [
  ["echo hi", "runs"],
  ["echo 'a*b'", "runs"],
  ["echo file?.txt", "runs"],
  ["echo [ab]c", "runs"],
  ["a; b ; c", "runs"],
  ["a;", "runs"],
  ["a && b || c ; d", "runs"],
  ["a |", "invalid_input"],
  ["a | | b", "invalid_input"],
  ["a &", "unsupported_command"],
  ["a && & b", "unsupported_command"],
  ["echo $HOME", "runs"],
  ["echo ${HOME}", "runs"],
  ["echo $HOME/x", "runs"],
  ["echo foo$HOME", "runs"],
  ['echo "$HOME/x"', "runs"],
  ["echo '$HOME'", "runs"],
  ['echo "\\$HOME"', "runs"],
  ["echo $", "unsupported_command"],
  ["echo $?", "unsupported_command"],
  ["echo $$", "unsupported_command"],
  ["echo $@", "unsupported_command"],
  ["echo ${}", "unsupported_command"],
  ["echo ${HOME", "invalid_input"],
  ["echo $(id)", "unsupported_command"],
  ['echo "$(id)"', "unsupported_command"],
  ["echo $((1 + 2))", "unsupported_command"],
  ['echo "$((1 + 2))"', "unsupported_command"],
  ["echo `id`", "unsupported_command"],
  ['echo "`id`"', "unsupported_command"],
  ["(echo hi)", "unsupported_command"],
  ["echo hi)", "unsupported_command"],
  ["{ echo hi; }", "unsupported_command"],
  ["if true; then echo x; fi", "unsupported_command"],
  ["f() { echo x; }", "unsupported_command"],
  ["! true", "unsupported_command"],
  ["FOO=bar env", "unsupported_command"],
  ["export FOO=bar", "unsupported_command"],
  ["ls *$EXT", "unsupported_command"],
  ["echo hi > out", "runs"],
  ["echo hi >out", "runs"],
  ["cat < in", "runs"],
  ["cat <in >out", "runs"],
  ["cmd 2> err", "runs"],
  ["cmd 2>> err", "runs"],
  ["cmd 2>&1", "runs"],
  ["cmd 1> out", "runs"],
  ["cmd 1>> out", "runs"],
  ["cmd > out 2>&1", "runs"],
  ["cmd 1>&2", "unsupported_command"],
  ["cmd >& out", "unsupported_command"],
  ["cmd &> out", "unsupported_command"],
  ["cmd <& 3", "unsupported_command"],
  ["cmd 0<<EOF", "unsupported_command"],
  ["cat << EOF", "unsupported_command"],
  ["cat <<< word", "unsupported_command"],
  ["tee >(cat)", "invalid_input"],
  ["echo > *.log", "unsupported_command"],
  ["echo > $DIR/*.log", "unsupported_command"],
  [">", "invalid_input"],
  ["> out", "invalid_input"],
  ["echo > | b", "invalid_input"],
  ["echo > ''", "invalid_input"],
  ["head 2 > x", "runs"],
  ["echo 2>x", "runs"],
  ["echo a2>x", "runs"],
  ['echo "unterminated', "invalid_input"],
  ["echo 'unterminated", "invalid_input"],
  ["echo trailing\\", "invalid_input"],
  ["echo a\nb", "runs"],
  ["a\tb", "runs"],
  ['echo "a\\\\b"', "runs"],
  ['echo "a\nb"', "runs"],
  ["echo ''", "runs"],
  ['echo ""', "runs"],
  ["echo a'b'c", "runs"],
  ["echo ~", "unsupported_command"],
  ["echo ~/x", "unsupported_command"],
  ["echo {a,b}", "unsupported_command"],
  ["echo a{1..3}", "unsupported_command"],
  ["echo #comment", "unsupported_command"],
  ["# comment", "unsupported_command"],
  ["echo hi # comment", "unsupported_command"],
  ["echo a=b", "runs"],
  ["[ -f x ]", "unsupported_command"],
  ["[[ -f x ]]", "unsupported_command"],
  ["echo a|b", "runs"],
  ["echo a&&b", "runs"],
  ["echo **/*.rs", "runs"],
  ["$CMD arg", "unsupported_command"],
  ["echo \\", "invalid_input"],
  ["eval ls", "unsupported_command"],
  ["source x", "unsupported_command"],
  ["sudo rm -rf /", "runs"],
  ["echo é", "runs"],
  ['echo "日本 語"', "runs"],
];

let fixture: ProgramsFixture;
beforeAll(() => {
  fixture = programsFixture(
    ({ programs, files }) => [shellIn({ programs, files: files.calls })],
    "proc.exec",
    "fs.read",
    "fs.write",
  );
});
afterAll(() => fixture.close());

interface Ending {
  readonly kind: string;
  readonly status?: number;
  readonly signal?: number;
}

/** The exit status as a shell reports it. */
function statusOf({ kind, status, signal }: Ending): number | string {
  if (kind === "unstarted") return 127;
  return kind === "signalled" ? 128 + (signal ?? 0) : (status ?? kind);
}

/** The same files for both, at the same path: the value of PWD is part of the comparison. */
function fresh(): string {
  const folder = join(fixture.folder, "case");
  removeState(folder);
  mkdirSync(join(folder, "src"), { recursive: true });
  for (const name of ["in", "bc", "file1.txt", "x", "src/m.rs"]) writeFileSync(join(folder, name), `${name}\n`);
  return folder;
}

async function done(input: { readonly script: string } | { readonly argv: readonly string[]; readonly root: "rw" }) {
  const folder = fresh();
  // A file that changed in the clock tick in which a program starts would be a conflict.
  await tick();
  const said = await fixture.call("shell", { ...input, in: "case" });
  if (!("value" in said)) return "denied" in said ? said.denied : said.failed;
  const { ending, stdout } = said.value as unknown as { ending: Ending; stdout: string };
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => [name, readFileSync(join(folder, name), "utf8")]);
  return { status: statusOf(ending), stdout, files };
}

test.each(CASES)("%j %s", async (script, expected) => {
  const ours = await done({ script });
  if (expected !== "runs") {
    expect(ours).toBe(expected);
    return;
  }
  const theirs = await done({ argv: ["bash", "-c", script], root: "rw" });
  expect(withoutWords(ours)).toEqual(withoutWords(theirs));
});

/** Missing programs are reported in other words. */
function withoutWords(told: Awaited<ReturnType<typeof done>>): unknown {
  return JSON.parse(JSON.stringify(told).replace(/(shell|bash): .*?\\n/g, "")) as unknown;
}
