// Random scripts: whatever the tool runs, a real shell in a sandbox of its own does the same with the same text.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/base/json.ts";
import { sizeFor } from "../house/long.ts";
import { removeState } from "../house/remove-state.ts";
import { type ProgramsFixture, programsFixture, shellIn } from "./programs-fixture.ts";

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

const INPUTS: readonly string[] = ["in", "a b", "c*d", "src/e.ts", "src/.f", "[g]"];

function fresh(): string {
  const folder = join(fixture.folder, "case");
  removeState(folder);
  mkdirSync(join(folder, "src"), { recursive: true });
  for (const name of INPUTS) writeFileSync(join(folder, name), `${name}\nsecond\n`);
  return folder;
}

interface ShellOutput {
  readonly ending: { readonly kind: string; readonly status?: number };
  readonly stdout: string;
}

async function outcome(input: JsonObject): Promise<unknown> {
  const folder = fresh();
  const said = await fixture.call("shell", { ...input, in: "case" });
  if (!("value" in said)) return said;
  const { ending, stdout } = said.value as unknown as ShellOutput;
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => [name, readFileSync(join(folder, name), "utf8")]);
  return { status: ending.kind === "unstarted" ? 1 : ending.status, stdout, files };
}

const piece = fc.constantFrom(
  ...["a", "b=c", "-x", "'q r'", "'$PWD'", '"d  e"', '"$PWD"', "$PWD/x", "${PWD}", "\\*", "\\ ", "'*'", '"\\$a\\\\b"'],
  ...["*", "s*/", "src/*", "[ac]*", "'c*'*", "?n", "no*pe", "src/.*", "''", '""', "é", "a'b'\"c\"", "}", "b~", "c#"],
);
const word = fc.array(piece, { minLength: 1, maxLength: 2 }).map((pieces) => pieces.join(""));
const program = fc.oneof(
  fc.array(word, { maxLength: 3 }).map((words) => ["printf '<%s>\\n'", ...words].join(" ")),
  fc.constantFrom("true", "false", "cat", "wc -c", "tr a-z A-Z", "sort -r", "ls nope 2>/dev/null", "head -c 3"),
);
/**
 * Numbered by position, so that no two commands of a pipeline write one file; hidden, so that no pattern matches it while it is
 * written.
 */
const redirection = fc.constantFrom(
  "",
  "",
  "",
  " < in",
  " <'a b'",
  " > OUT",
  " >> OUT",
  " > OUT 2>&1",
  " 2> OUT",
  " < gone",
);
const command = fc.tuple(program, redirection);
const script = fc
  .array(fc.tuple(command, fc.constantFrom(" | ", "|", " && ", "||", " ; ", "\n", ";")), { minLength: 1, maxLength: 5 })
  .map((list) =>
    list
      .map(
        ([[words, file], sign], at) => `${words}${file.replace("OUT", `.out${at}`)}${at < list.length - 1 ? sign : ""}`,
      )
      .join(""),
  )
  // On a terminal, input without a writer stays open; here it is empty for both sides.
  .filter((text) => !text.includes("/dev/null"));

const scripts = sizeFor(60, 1_000);

test(
  "a random script",
  async () => {
    let ran = 0;
    await fc.assert(
      fc.asyncProperty(script, async (text) => {
        const ours = await outcome({ script: text });
        // A refusal is always correct here; what runs must give the same result.
        if (typeof ours === "object" && ours !== null && "denied" in ours) return;
        ran++;
        expect(ours).toEqual(await outcome({ argv: ["bash", "-c", text], root: "rw" }));
      }),
      { numRuns: scripts },
    );
    expect(ran).toBeGreaterThan(0.3 * scripts);
  },
  sizeFor(120_000, 1_200_000),
);
