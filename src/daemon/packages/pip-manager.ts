// pip as a package manager: it downloads wheels alone, and installs them by their digests into a virtual environment, without network.
// INVARIANT: pip starts no other program, so no build and no checkout runs code of a package.
import { lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bareName, requestText } from "../../core/notation/servers/package-request.ts";
import { type Answer, refusal } from "../../core/ports/daemon/exchange.ts";
import type { ResolvedPackage } from "../../gateway/resolved-package.ts";
import { readWheels, type Wheel, wheelPrograms } from "../../gateway/wheels.ts";
import { type PackageManager, STAGE_HOME } from "./package-manager.ts";
import { PACKAGE } from "./package-store.ts";
import { fileDigest } from "./tree-digest.ts";

const WHEELS = "wheels";
const REQUIREMENTS = "requirements.txt";
/** A link to the folder that pip is in: the environment of the package has no pip of its own. */
const PIP = "pip";
const wheelBytesMax = 1_073_741_824;
const recordBytesMax = 16_777_216;
const linesMax = 6;
const errorCharactersMax = 2_000;

/** No settings of the person's or the machine's. */
const ENVIRONMENT = [["PIP_CONFIG_FILE", "/dev/null"]] as const;

const PREPARE = `import os, pip, sys, venv
venv.create(sys.argv[1], symlinks=True)
os.symlink(os.path.dirname(os.path.dirname(pip.__file__)), sys.argv[2])
`;

/** `--only-binary` does not hold for a package that names an archive by its address; this does. */
const NO_PROGRAM = "ambit lets pip start no program";
const GUARDED = `import runpy, sys
PROGRAMS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty"}
def guard(event, _):
    if event in PROGRAMS:
        raise PermissionError("${NO_PROGRAM}")
sys.addaudithook(guard)
sys.path.append(sys.argv[1])
sys.argv = ["pip", *sys.argv[2:]]
runpy.run_module("pip", run_name="__main__", alter_sys=True)
`;

const COMMON: readonly string[] = [
  ...["--no-cache-dir", "--disable-pip-version-check", "--no-input", "--no-color", "--progress-bar=off"],
];
const DOWNLOAD: readonly string[] = [
  ...["-I", "-c", GUARDED, `${STAGE_HOME}/${PIP}`, "download", ...COMMON, "--only-binary=:all:"],
  ...["--retries=1", "--timeout=30", `--dest=${STAGE_HOME}/${WHEELS}`],
];
const INSTALL: readonly string[] = [
  ...["-I", "-c", GUARDED, `${STAGE_HOME}/${PIP}`, "install", ...COMMON, "--no-index", "--only-binary=:all:"],
  ...["--no-deps", "--require-hashes", "--ignore-installed", "--no-warn-script-location"],
  ...[`--find-links=${STAGE_HOME}/${WHEELS}`, `--requirement=${STAGE_HOME}/${REQUIREMENTS}`],
];

export const PYPI: PackageManager = {
  missing: {
    message: "Python is not installed where sandboxes find programs",
    fix: "sudo apt install python3-pip, and try again",
  },
  others: "its dependencies resolve to different files, or Python has another version",
  runScripts: null,
  async resolve(stage) {
    const { folder, package: request, registry } = stage;
    const paths = [`${STAGE_HOME}/${PACKAGE}`, `${STAGE_HOME}/${PIP}`];
    const run = (program: string, words: readonly string[], reachesRegistry = false): Promise<Answer<object>> =>
      stage.run({ argv: [program, ...words], reachesRegistry, environment: ENVIRONMENT });
    const prepared = await run("python3", ["-I", "-c", PREPARE, ...paths]);
    if (!prepared.ok) return prepared;
    const downloaded = await run("python3", [...DOWNLOAD, `--index-url=${registry}`, requestText(request)], true);
    if (!downloaded.ok) return downloaded;
    const libraries = readdirSync(join(folder, PACKAGE, "lib"));
    const [python = ""] = libraries;
    if (libraries.length !== 1 || !/^python\d\.\d+$/.test(python))
      return refusal("not_available", "Python made an environment that is not understood");
    const read = readWheels(await wheelsIn(join(folder, WHEELS)), request, python);
    if (!read.ok) return refusal("not_available", read.message);
    const { requirements, record, ...resolved } = read.value;
    writeFileSync(join(folder, REQUIREMENTS), requirements);
    const installed = await run(`${STAGE_HOME}/${PACKAGE}/bin/python3`, INSTALL);
    if (!installed.ok) return installed;
    return programsIn(join(folder, PACKAGE, "lib", python, "site-packages", record), resolved, bareName(request));
  },
  problem(said) {
    if (/No module named '?pip'?/.test(said))
      return { message: "pip is not installed for the Python of this machine", fix: PYPI.missing.fix };
    if (said.includes(NO_PROGRAM))
      return {
        message:
          "it needs a package that has to be built or checked out, which would run its code: only wheels are installed",
        fix: INSTALL_YOURSELF,
      };
    const [, host, port] = /\bHTTPS?ConnectionPool\(host='([^']+)', port=(\d+)\): Max retries/.exec(said) ?? [];
    if (host !== undefined) return { message: `pip could not connect to ${host}:${port}`, fix: null };
    const broken = /^WARNING: Retrying .* after connection broken by '(.*?)': /m.exec(said)?.[1];
    if (broken !== undefined)
      return { message: `pip could not connect: ${broken.slice(0, errorCharactersMax)}`, fix: null };
    const [, wanted = "it", versions = ""] = /requirement ([^\s(]+).*\(from versions: ([^)]*)\)/.exec(said) ?? [];
    if (versions === "none")
      return {
        message: `the index has no wheel of ${wanted} for this machine and its Python: it is not there, or it is published as source alone, whose build would run its code`,
        fix: INSTALL_YOURSELF,
      };
    const lines = said.split("\n").flatMap((line) => {
      const text = line.trim();
      return /^(?:ERROR|WARNING|[\w.]+(?:Error|Exception))\b/.test(text) ? [text.replace(/^ERROR: /, "")] : [];
    });
    return lines.length === 0
      ? null
      : {
          message: `pip could not fetch it: ${lines.slice(-linesMax).join("; ").slice(0, errorCharactersMax)}`,
          fix: null,
        };
  },
};

const INSTALL_YOURSELF = "install it yourself, and add its program with `--runtime FOLDER`";

/** Measured here: what pip says about its files is not asked. */
async function wheelsIn(folder: string): Promise<readonly Wheel[]> {
  const wheels: Wheel[] = [];
  let bytes = 0;
  for (const file of readdirSync(folder)) {
    bytes += lstatSync(join(folder, file)).size;
    if (bytes > wheelBytesMax) throw new Error("the package is too large");
    const digest = await fileDigest(join(folder, file));
    wheels.push({ file, digest: digest.toString("hex"), integrity: `sha256-${digest.toString("base64")}` });
  }
  return wheels;
}

function programsIn(
  record: string,
  resolved: Omit<ResolvedPackage, "programs">,
  name: string,
): Answer<ResolvedPackage> {
  const found = statSync(record, { throwIfNoEntry: false });
  if (found === undefined || found.size > recordBytesMax)
    return refusal("not_available", `pip wrote no record of ${name} that can be read`);
  return { ok: true, value: { ...resolved, programs: wheelPrograms(readFileSync(record, "utf8")) } };
}
