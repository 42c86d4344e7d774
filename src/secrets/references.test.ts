// References to values stored elsewhere: read when used, within limits, and never through a shell.
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseReference, type ReferenceEnvironment, referencedBytesMax, resolveReference } from "./references.ts";

let folder = "";
let fixture: ReferenceEnvironment = { environment: {}, home: null, programs: [], millisecondsMax: 30_000 };

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-references-"));
  fixture = {
    environment: { TOKEN: "from-the-environment", EMPTY: "", PATH: process.env["PATH"] },
    home: folder,
    programs: ["/usr/bin", "/bin"],
    millisecondsMax: 30_000,
  };
  writeFileSync(join(folder, "token"), "from-a-file\n", { mode: 0o600 });
  writeFileSync(join(folder, "open"), "from-a-file\n");
  chmodSync(join(folder, "open"), 0o644);
  writeFileSync(join(folder, "large"), "x".repeat(referencedBytesMax + 1), { mode: 0o600 });
});

afterAll(() => rmSync(folder, { recursive: true }));

async function read(text: string): Promise<string> {
  const reference = parseReference(text.replaceAll("FOLDER", folder));
  if (reference === null) return "not a reference";
  const found = await resolveReference(reference, fixture);
  return found.ok ? `value ${found.value.toString()}` : found.message.replaceAll(folder, "FOLDER");
}

test.each([
  ["env:TOKEN", "value from-the-environment"],
  ["env:MISSING", "the variable MISSING is not set"],
  ["env:EMPTY", "it is empty"],
  ["file:FOLDER/token", "value from-a-file"],
  ["file:~/token", "value from-a-file"],
  ["file:FOLDER/open", "FOLDER/open is readable by others: it must have mode 0600"],
  ["file:FOLDER/missing", "FOLDER/missing cannot be read (ENOENT)"],
  ["file:FOLDER", "FOLDER is not a file"],
  ["file:FOLDER/large", "it has more than 65536 bytes"],
  ["cmd:printf %s hello-from-a-program", "value hello-from-a-program"],
  ['cmd:printf %s "two words"', "value two words"],
  ["cmd:printf %s $HOME;$(id)", "value $HOME;$(id)"],
  ["cmd:false", "/usr/bin/false exited with status 1"],
  ["cmd:FOLDER/nothing", "FOLDER/nothing cannot be run (ENOENT)"],
  ["cmd:head -c 100000 /dev/zero", "/usr/bin/head printed more than 65536 bytes"],
  ["cmd:true", "it is empty"],
])("%s: %s", async (text, expected) => {
  expect(await read(text)).toBe(expected);
});

test.each([
  "",
  "env:",
  "env:A B",
  "env:1",
  "file:",
  "file:relative",
  "cmd:",
  "cmd: ",
  'cmd:"open',
  "http://x",
  "token",
  "cmd:a\0b",
])("%j is not a reference", (text) => {
  expect(parseReference(text)).toBe(null);
});

test("text that looks like a shell line is not run by a shell", async () => {
  const trace = join(folder, "trace");
  expect(await read(`cmd:printf %s x > ${trace}`)).toContain("value ");
  expect(existsSync(trace)).toBe(false);
});
