// The packed package as people install it: by npm and pnpm, on every supported Node line, where no compiler is to be found. Run by
// `npm run test:installs`, which installs the Node versions and pnpm; packages come from the registry that npm is set to.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { walkFirstFiveMinutes } from "../e2e/first-five-minutes.ts";
import { prepareState } from "../house/daemon-state.ts";
import { ownFolder } from "../house/own-folder.ts";

const COMPILERS = /^(.*-)?(cc|gcc|g\+\+|c\+\+|c89|c99|clang|clang\+\+|cpp|tcc|make|cmake|ld|as)(-[\d.]+)?$/;

/** A registry may be known only by the certificates that the person's environment names. */
const CERTIFICATES = process.env["NODE_EXTRA_CA_CERTS"];

const own = ownFolder("ambit-installs-");
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
  readonly install: (prefix: string, environment: NodeJS.ProcessEnv) => string;
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

function npm(prefix: string, env: NodeJS.ProcessEnv): string {
  const words = ["install", "--global", "--prefix", prefix, "--no-audit", "--no-fund", "--prefer-offline", archive];
  run("node", [join(npmProgram, "npm", "bin", "npm-cli.js"), ...words], env);
  return join(prefix, "bin");
}

function pnpm(prefix: string, env: NodeJS.ProcessEnv): string {
  const commands = join(prefix, "commands");
  mkdirSync(commands, { recursive: true });
  const folders = { PNPM_HOME: commands, XDG_DATA_HOME: join(prefix, "data"), XDG_CACHE_HOME: join(prefix, "cache") };
  const words = ["add", "--global", "--prefer-offline", `--global-bin-dir=${commands}`, archive];
  run("node", [join(tools, "pnpm", "bin", "pnpm.cjs"), ...words], {
    ...env,
    ...folders,
    PATH: `${commands}${delimiter}${env["PATH"]}`,
  });
  return commands;
}

const installers: readonly Installer[] = [
  ...Object.entries(nodes).map(([version, node]) => ({ title: `npm on Node ${version}`, node, install: npm })),
  { title: "pnpm on Node 24", node: String(nodes[24]), install: pnpm },
];

function run(program: string, words: readonly string[], env: NodeJS.ProcessEnv): string {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd: own, encoding: "utf8", env, timeout: 120_000 });
  expect(status, `${program} ${words.join(" ")}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

describe.each(installers)("installed by $title, without a compiler", ({ title, node, install }) => {
  const home = join(own, title.replaceAll(/[^a-z\d]+/gi, "-"));
  const bare: NodeJS.ProcessEnv = {
    PATH: [join(home, "node"), programs].join(delimiter),
    HOME: home,
    NO_COLOR: "1",
    TZ: "UTC",
    XDG_STATE_HOME: join(home, "state"),
    XDG_CONFIG_HOME: join(home, "config"),
    npm_config_registry: setting("registry"),
    npm_config_cache: setting("cache"),
    ...(CERTIFICATES === undefined ? {} : { NODE_EXTRA_CA_CERTS: CERTIFICATES }),
  };
  let environment = bare;

  beforeAll(() => {
    mkdirSync(join(home, "node"), { recursive: true });
    symlinkSync(node, join(home, "node", "node"));
    const commands = install(join(home, "prefix"), bare);
    prepareState(join(home, "state"), join(home, "config"));
    environment = { ...bare, PATH: [commands, bare["PATH"]].join(delimiter) };
  });

  test("no compiler is on the path, and the command is the installed one", () => {
    expect(
      spawnSync("bash", ["-c", "command -v cc || command -v gcc || command -v make"], { env: environment }).status,
    ).not.toBe(0);
    const found = run("bash", ["-c", "realpath $(command -v ambit)"], environment);
    expect(found.startsWith(home) || found.includes("/.pnpm/"), found).toBe(true);
    expect(run("ambit", ["--version"], environment)).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test("the first five minutes of the README work as printed", () => walkFirstFiveMinutes(environment));

  test("the log verifies, and uninstall ends the daemon", () => {
    expect(run("ambit", ["audit", "verify"], environment)).toMatch(/^intact /);
    run("ambit", ["uninstall", "--yes"], environment);
  });
});
