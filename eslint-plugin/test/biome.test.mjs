// The Biome plugin under the real program, over one file for each row.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CLEAN, FOUND } from "./cases.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const program = join(here, "../../node_modules/@biomejs/biome/bin/biome");
const options = existsSync(program) ? {} : { skip: "biome is not installed" };
const mine = ({ only = ["biome"] }) => only.includes("biome");

const rows = [
  ...FOUND.filter(mine).map((row) => ({ ...row, isFound: true })),
  ...CLEAN.filter(mine).map((row) => ({ ...row, isFound: false })),
];
const nameOf = (row, at) => `case-${String(at).padStart(3, "0")}.${row.typescript === true ? "ts" : "mjs"}`;

let folder = "";
let found = new Map();

before(async () => {
  if (options.skip !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), "ambit-grit-"));
  const config = {
    root: true,
    plugins: [join(here, "../ambient-authority.grit")],
    linter: { rules: { preset: "none" } },
    assist: { enabled: false },
    formatter: { enabled: false },
  };
  writeFileSync(join(folder, "biome.json"), JSON.stringify(config));
  for (const [at, row] of rows.entries()) writeFileSync(join(folder, nameOf(row, at)), `${row.code}\n`);
  const args = [program, "lint", "--reporter=json", "--max-diagnostics=none", "."];
  const output = await new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 64_000_000 }, (_error, stdout, stderr) =>
      stdout.includes("{") ? resolve(stdout) : reject(new Error(stderr)),
    );
  });
  const { diagnostics } = JSON.parse(output.slice(output.indexOf("{")));
  found = Map.groupBy?.(diagnostics, placeOf) ?? grouped(diagnostics);
});

after(() => {
  if (folder !== "") rmSync(folder, { recursive: true, force: true });
});

function placeOf({ location }) {
  const path = location?.path;
  return String(path?.file ?? path ?? "").split("/").at(-1);
}

function grouped(diagnostics) {
  const all = new Map();
  for (const one of diagnostics) all.set(placeOf(one), [...(all.get(placeOf(one)) ?? []), one]);
  return all;
}

for (const [at, row] of rows.entries())
  test(`${row.isFound ? "is found" : "is left alone"}: ${row.code}`, options, () => {
    const own = found.get(nameOf(row, at)) ?? [];
    assert.equal(own.length > 0, row.isFound, JSON.stringify(own.map(({ description, message }) => description ?? message)));
    for (const one of own) assert.equal(one.category, "plugin", JSON.stringify(one));
  });
