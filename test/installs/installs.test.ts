// The packed package as people install it: by npm and pnpm, on every supported Node line, where no compiler is to be found; where
// the tests run as root, also for an ordinary user, who installs it or finds it installed by root. Run by `npm run test:installs`,
// which installs the Node versions and pnpm; packages come from the registry that npm is set to.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { type Reader, walkFirstFiveMinutes, walkOpening, walkProgram } from "../e2e/first-five-minutes.ts";
import { prepareState } from "../house/daemon-state.ts";
import { ORDINARY } from "../house/ordinary-user.ts";
import { ownFolder } from "../house/own-folder.ts";
import { isRunning } from "../house/processes.ts";

const COMPILERS = /^(.*-)?(cc|gcc|g\+\+|c\+\+|c89|c99|clang|clang\+\+|cpp|tcc|make|cmake|ld|as)(-[\d.]+)?$/;

/** A registry may be known only by the certificates that the person's environment names. */
const CERTIFICATES = process.env["AMBIT_REGISTRY_CERTIFICATES"] ?? "";

/** An installation asks a registry, which may be slow. */
const installMillisecondsMax = 600_000;
const isRoot = process.getuid?.() === 0;

const own = ownFolder("ambit-installs-");
chmodSync(own, 0o755);
const programs = join(own, "programs");
const tools = join(root, "test", "installs", "node_modules");
let archive = "";

beforeAll(() => {
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", own], { cwd: root });
  archive = join(own, String(readdirSync(own).find((name) => name.endsWith(".tgz"))));
  mkdirSync(programs);
  for (const folder of ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].filter((path) => existsSync(path)))
    for (const name of readdirSync(folder).filter((one) => !COMPILERS.test(one) && !/^(node|npm|npx|pnpm)$/.test(one)))
      if (!existsSync(join(programs, name))) symlinkSync(join(folder, name), join(programs, name));
});

interface Installer {
  readonly title: string;
  readonly node: string;
  /** Installs the archive for everybody who has this prefix; returns the folder of its commands. */
  readonly install: (prefix: string, reader: Reader) => string;
  /** Who installs it, and who uses it; undefined is the user of the tests. */
  readonly installer?: number;
  readonly uid?: number;
}

/** The programs of the three supported lines; the first is the one that runs the tests. */
const nodes: Readonly<Record<string, string>> = {
  [process.version]: process.execPath,
  22: join(tools, `node-22-linux-${process.arch}`, "bin", "node"),
  24: join(tools, `node-24-linux-${process.arch}`, "bin", "node"),
};

/** Of the npm of the person who runs the tests: the home of an installation is empty. */
function setting(name: string): string {
  return execFileSync("npm", ["config", "get", name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}

const npmProgram = execFileSync("npm", ["root", "--global"], {
  encoding: "utf8",
  stdio: ["ignore", "pipe", "ignore"],
}).trim();

function npm(prefix: string, reader: Reader): string {
  const words = ["install", "--global", "--prefix", prefix, "--no-audit", "--no-fund", "--prefer-offline", archive];
  run("node", [join(npmProgram, "npm", "bin", "npm-cli.js"), ...words], reader);
  return join(prefix, "bin");
}

function pnpm(prefix: string, { environment, ...reader }: Reader): string {
  const commands = join(prefix, "commands");
  const folders = { PNPM_HOME: commands, XDG_DATA_HOME: join(prefix, "data"), XDG_CACHE_HOME: join(prefix, "cache") };
  const words = ["add", "--global", "--prefer-offline", `--global-bin-dir=${commands}`, archive];
  const path = `${commands}${delimiter}${environment["PATH"]}`;
  run("node", [join(tools, "pnpm", "bin", "pnpm.cjs"), ...words], {
    ...reader,
    environment: { ...environment, ...folders, PATH: path },
  });
  return commands;
}

const installers: readonly Installer[] = [
  ...Object.entries(nodes).map(([version, node]) => ({ title: `npm on Node ${version}`, node, install: npm })),
  { title: "pnpm on Node 24", node: String(nodes[24]), install: pnpm },
  ...(isRoot
    ? [
        { title: "npm on Node 20 by root, for a user", node: process.execPath, install: npm, uid: ORDINARY },
        ...[npm, pnpm].map((install) => ({
          title: `${install.name} on Node 22 by a user`,
          node: String(nodes[22]),
          install,
          installer: ORDINARY,
          uid: ORDINARY,
        })),
      ]
    : []),
];

function run(program: string, words: readonly string[], { environment, uid }: Reader): string {
  const { status, stdout, stderr } = spawnSync(program, words, {
    cwd: own,
    encoding: "utf8",
    env: environment,
    timeout: installMillisecondsMax,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  expect(status, `${program} ${words.join(" ")}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

describe.each(installers)("installed by $title, without a compiler", ({ title, node, install, installer, uid }) => {
  const home = join(own, title.replaceAll(/[^a-z\d]+/gi, "-"));
  const environment: NodeJS.ProcessEnv = {
    PATH: [join(home, "node"), programs].join(delimiter),
    HOME: home,
    NO_COLOR: "1",
    TZ: "UTC",
    XDG_STATE_HOME: join(home, "state"),
    XDG_CONFIG_HOME: join(home, "config"),
    npm_config_registry: setting("registry"),
    // The cache of the person who runs the tests is no other user's.
    npm_config_cache: installer === undefined ? setting("cache") : join(home, "cache"),
    ...(CERTIFICATES === "" ? {} : { NODE_EXTRA_CA_CERTS: CERTIFICATES }),
  };
  const user = uid === undefined ? {} : { uid };
  let reader: Reader = { ...user, environment };

  beforeAll(() => {
    mkdirSync(join(home, "node"), { recursive: true });
    mkdirSync(join(home, "prefix", "commands"), { recursive: true });
    symlinkSync(node, join(home, "node", "node"));
    prepareState(join(home, "state"), join(home, "config"));
    if (uid !== undefined) execFileSync("chown", ["-hR", `${uid}:${uid}`, home]);
    if (installer !== uid) execFileSync("chown", ["-hR", "0:0", join(home, "prefix")]);
    const commands = install(join(home, "prefix"), installer === undefined ? { environment } : reader);
    reader = { ...user, environment: { ...environment, PATH: [commands, environment["PATH"]].join(delimiter) } };
  }, installMillisecondsMax);

  test("no compiler is on the path, and the command is the installed one", () => {
    expect(
      spawnSync("bash", ["-c", "command -v cc || command -v gcc || command -v make"], { env: reader.environment })
        .status,
    ).not.toBe(0);
    expect(program().startsWith(home) || program().includes("/.pnpm/"), program()).toBe(true);
    expect(run("ambit", ["--version"], reader)).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test("the opening, the first five minutes and the program of the README work as printed", () => {
    walkOpening(reader);
    walkFirstFiveMinutes(reader);
    walkProgram(reader, dirname(dirname(program())));
  });

  test("the log verifies, and uninstall ends the daemon", () => {
    expect(run("ambit", ["audit", "verify"], reader)).toMatch(/^intact /);
    const { pid } = JSON.parse(run("ambit", ["daemon", "status", "--json"], reader)) as { readonly pid: number };
    expect(isRunning(pid)).toBe(true);
    run("ambit", ["uninstall", "--yes"], reader);
    expect(isRunning(pid)).toBe(false);
  });

  /** The installed file: pnpm's command is a script that names it. */
  function program(): string {
    const found = run("bash", ["-c", "command -v ambit"], reader).trim();
    const named = /"\$basedir\/([^"]*\/bin\/ambit)"/.exec(readFileSync(found, "latin1"))?.[1];
    return realpathSync(named === undefined ? found : join(dirname(found), named));
  }
});
