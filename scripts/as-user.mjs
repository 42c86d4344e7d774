// Runs the user-dependent part of the tests as an ordinary user, where CI runs as root: folders that only root can remove,
// sockets and sandboxes that only root can make are found nowhere else. Arguments are files or folders of tests to run
// instead. Plain Node without dependencies.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./house/root.mjs";

const USER = "ambit-ci";
/** Tests that create, own or remove files, processes and sockets. */
const PARTS = [
  ...["src/platform", "src/store", "src/sandbox", "src/agents/disk", "src/daemon", "src/main"],
  ...[
    "test/daemon",
    "test/files",
    "test/native",
    "test/sandbox",
    "test/supervised",
    "test/secrets",
    "test/state/control.test.ts",
  ],
  ...["test/tools/hosts", "test/mcp/belonging.test.ts", "test/e2e/rows", "test/e2e/start", "test/e2e/readme"],
  // These start the command line as the user who runs them (test/house/callers.ts).
  ...["test/draft", "test/e2e/exec.test.ts", "test/programs/clean.test.ts", "test/attack/two"],
];
const named = process.argv.slice(2);

if (process.getuid?.() !== 0) {
  process.stderr.write("ambit: this is an ordinary user already, and the tests ran as one\n");
  process.exit(0);
}

const { uid, gid, home } = account() ?? made();
const folder = mkdtempSync(join(home, "checkout-"));
let status = 1;
try {
  copy(folder);
  execFileSync("chown", ["-R", `${uid}:${gid}`, folder]);
  // Npm runs scripts as the owner of the folder when started by root; as the user itself it has no choice.
  const words = [
    "--reuid",
    String(uid),
    "--regid",
    String(gid),
    "--init-groups",
    "npm",
    "test",
    "--",
    ...(named.length > 0 ? named : PARTS),
  ];
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    USER,
    LOGNAME: USER,
    ...(process.env.CI ? { CI: process.env.CI } : {}),
    ...(process.env.AMBIT_SEED ? { AMBIT_SEED: process.env.AMBIT_SEED } : {}),
  };
  status = spawnSync("setpriv", words, { cwd: folder, env, stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = status;

/** As the machine knows it; null if it does not. */
function account() {
  const { status: code, stdout } = spawnSync("getent", ["passwd", USER], { encoding: "utf8" });
  const [, , user, group, , path] = code === 0 ? stdout.trim().split(":") : [];
  return path === undefined ? null : { uid: Number(user), gid: Number(group), home: path };
}

function made() {
  execFileSync("useradd", ["--create-home", "--shell", "/bin/sh", USER], { stdio: "inherit" });
  const user = account();
  if (user === null) throw new Error(`the user ${USER} could not be created`);
  return user;
}

/** The current files, with what was installed and built. */
function copy(to) {
  const listed = execFileSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  for (const path of listed.split("\0").filter((one) => one !== "")) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    cpSync(join(root, path), join(to, path), { verbatimSymlinks: true, force: true });
  }
  for (const path of ["node_modules", "dist"]) execFileSync("cp", ["-a", join(root, path), to]);
  chmodSync(to, 0o755);
}
