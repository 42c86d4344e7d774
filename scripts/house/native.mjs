// The native program, built from native/ with the system's own C compiler: for use, for tests with sanitizers, and as a fuzz
// target. Without a compiler a message is printed and setup continues: features that need the program are then refused.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "./child.mjs";
import { stampAt } from "./digest.mjs";
import { alone } from "./lock.mjs";
import { root, say } from "./root.mjs";

const sources = join(root, "native");
const folder = join(root, "dist", "native");
const told = join(folder, ".told");
const toldMillisecondsMax = 24 * 60 * 60_000;
const compilers = ["cc", "gcc", "clang"];
/** The processors a package has the program for, and Debian's compilers for those that are not this machine's. */
export const architectures = ["x64", "arm64"];
const crossCompilers = { x64: ["x86_64-linux-gnu-gcc"], arm64: ["aarch64-linux-gnu-gcc"] };
const compileMillisecondsMax = 5 * 60_000;

/** Some systems define the last one themselves, and defining it twice is an error. */
const language = ["-std=gnu17", "-D_GNU_SOURCE", "-U_FORTIFY_SOURCE"];
const warnings = [
  ...["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wshadow", "-Wconversion", "-Wformat=2", "-Wvla", "-Wcast-qual"],
  ...["-Wundef", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wnull-dereference"],
];
const hardening = [
  ...["-O2", "-fPIE", "-fstack-protector-strong", "-fno-strict-overflow", "-fno-delete-null-pointer-checks"],
  ...["-fdata-sections", "-ffunction-sections"],
];
const linking = ["-Wl,-z,relro,-z,now,-z,noexecstack", "-Wl,--gc-sections", "-s"];
const branches = { x64: ["-fcf-protection=full"], arm64: ["-mbranch-protection=standard"] };
const sanitizers = [
  "-O1",
  "-g",
  "-fno-omit-frame-pointer",
  "-fsanitize=address,undefined",
  "-fno-sanitize-recover=all",
];

/**
 * Each is tried in this order until one builds: a static program needs nothing of the sandbox it runs in and starts fastest, but
 * not every system has a static C library; and a newer compiler may have warnings that ours does not know.
 */
const attempts = [
  ["-D_FORTIFY_SOURCE=3", "-static-pie"],
  ["-D_FORTIFY_SOURCE=2", "-static-pie"],
  ["-D_FORTIFY_SOURCE=2", "-pie"],
  ["-D_FORTIFY_SOURCE=2", "-static-pie", "-Wno-error"],
  ["-D_FORTIFY_SOURCE=2", "-pie", "-Wno-error"],
];

const program = (architecture) => ({
  name: join(architecture, "ambit-native"),
  architecture,
  files: () => programFiles(),
  flags: () => attempts.map((attempt) => [...hardening, ...(branches[architecture] ?? []), ...attempt, ...linking]),
});

/** The build targets: the files of the program, those beside them, and the flags, by attempt. */
const kinds = {
  program: program(process.arch),
  sanitized: {
    name: "ambit-native-sanitized",
    architecture: process.arch,
    files: () => [...programFiles(), join("fuzz", "sanitizer.c")],
    flags: () => [sanitizers],
  },
  fuzz: {
    name: "ambit-native-fuzz",
    architecture: process.arch,
    files: () => [...programFiles().filter((file) => file !== "main.c"), ...cFiles("fuzz")],
    flags: () => [sanitizers],
  },
};

/** For setup: builds the program if it is missing, and never fails. */
export async function prepareNative() {
  if (process.platform !== "linux" || isBuilt(kinds.program) || isToldToday()) return;
  try {
    if ((await buildNative()) !== undefined) return;
    say("no C compiler (cc, gcc or clang) is installed; install one to have sandboxes, then run: npm run build");
  } catch (problem) {
    say(`${problem.message}\ngoing on without sandboxes`);
  }
  tell();
}

/** The program itself. Like the others: its path, or undefined if there is no compiler. */
export function buildNative() {
  return build(kinds.program);
}

/** For a package: it must be static, because the machine that it is installed on may have another C library. */
export async function buildStatic(architecture) {
  const path = await build(program(architecture));
  if (path !== undefined && readFileSync(path).includes("/ld-"))
    throw new Error(`${path} is not static: install the C library's static form`);
  return path;
}

/** With sanitizers, for tests. */
export function buildSanitized() {
  return build(kinds.sanitized);
}

/** The fuzz target. */
export function buildFuzz() {
  return build(kinds.fuzz);
}

/** The last message and its sources, so that a machine without a compiler does not print it at every run. */
function isToldToday() {
  if (stampAt(told) !== digestOf(kinds.program)) return false;
  return Date.now() - statSync(told).mtimeMs < toldMillisecondsMax;
}

function tell() {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(told, `${digestOf(kinds.program)}\n`);
  } catch {
    // A read-only checkout: then it is printed again next time.
  }
}

async function build(kind) {
  const path = join(folder, kind.name);
  if (isBuilt(kind)) return path;
  const compiler = await firstCompiler(kind.architecture);
  if (compiler === undefined) return undefined;
  // Alone, since a new dist may replace the old one; checked again, since the previous holder of the lock may have built it.
  await alone(async () => {
    if (!isBuilt(kind)) await compile(kind, compiler);
  });
  return path;
}

async function compile(kind, compiler) {
  // Taken before the sources are read: edits during the build are built next time.
  const digest = digestOf(kind);
  const path = join(folder, kind.name);
  mkdirSync(dirname(path), { recursive: true });
  const next = `${path}.next`;
  const files = kind.files().map((file) => join(sources, file));
  let problem = "";
  for (const flags of kind.flags()) {
    const argv = [compiler, ...language, ...warnings, `-I${sources}`, ...flags, ...files, "-o", next];
    const built = await run(argv, { env: { LC_ALL: "C" }, millisecondsMax: compileMillisecondsMax });
    if (built.ok) {
      // A process that runs the program meanwhile keeps the old one.
      renameSync(next, path);
      writeFileSync(`${path}.stamp`, `${digest}\n`);
      return;
    }
    problem = built.output;
  }
  rmSync(next, { force: true });
  throw new Error(`the native program does not build:\n${problem}`);
}

async function firstCompiler(architecture) {
  for (const compiler of architecture === process.arch ? compilers : crossCompilers[architecture]) {
    const answered = await run([compiler, "--version"], { millisecondsMax: 30_000 });
    if (answered.ok) return compiler;
  }
  return undefined;
}

function isBuilt(kind) {
  const path = join(folder, kind.name);
  return existsSync(path) && stampAt(`${path}.stamp`) === digestOf(kind);
}

/** Sources, headers and flags: what determines the program, as far as it is ours. */
function digestOf(kind) {
  const sum = createHash("sha256");
  const headers = readdirSync(sources).filter((file) => file.endsWith(".h"));
  sum.update(JSON.stringify([kind.architecture, language, warnings, kind.flags(), kind.files(), headers]));
  for (const file of [...kind.files(), ...headers].sort()) {
    const text = readFileSync(join(sources, file));
    sum.update(`${file}:${text.length}:`).update(text);
  }
  return sum.digest("hex");
}

function programFiles() {
  return cFiles("");
}

function cFiles(below) {
  const names = readdirSync(join(sources, below)).filter((file) => file.endsWith(".c"));
  return names.sort().map((file) => join(below, file));
}
