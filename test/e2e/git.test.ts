// git inside the sandbox against a real server over HTTPS: clone, commit, fetch, push with a credential that the broker
// adds outside, and one line about what protected names forbid.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CERTIFICATE, KEY } from "../broker/certificate.ts";
import { ownAddress } from "../broker/fixture.ts";
import { NamesOutside } from "../broker/names-outside.ts";
import { prepareState } from "../house/daemon-state.ts";
import { writeAgent } from "../house/files.ts";
import { serveGit } from "../house/git-server.ts";
import { removeState } from "../house/remove-state.ts";
import { type Ran, root } from "./ambit.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-git-")));
prepareState(join(base, "state"), join(base, "config"));
const project = join(base, "project");
const names = new NamesOutside();
const address = ownAddress(3);
const TOKEN = "a-token-hard-to-guess";
const USER = "me";
let server: Server;
/** The credentials the server received: never another than the one. */
const shown = new Set<string>();
const served = { folder: join(base, "served"), user: USER, token: TOKEN, shown };

/** Port 443 needs root; elsewhere there is nothing to test with, and the test says so. */
const isRoot = process.getuid?.() === 0;

beforeAll(async () => {
  if (!isRoot) {
    console.warn("git over HTTPS was not tried: port 443 needs root");
    return;
  }
  const bare = join(base, "served", "demo.git");
  host("init", "--quiet", "--bare", "--initial-branch=main", bare);
  host("-C", bare, "config", "http.receivepack", "true");
  mkdirSync(join(base, "seed"));
  host("-C", join(base, "seed"), "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(base, "seed", "README"), "first\n");
  host("-C", join(base, "seed"), "add", "README");
  host(
    "-C",
    join(base, "seed"),
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@example.test",
    "commit",
    "--quiet",
    "-m",
    "first",
  );
  host("-C", join(base, "seed"), "push", "--quiet", bare, "main");
  host("clone", "--quiet", "--bare", bare, join(base, "served", "closed.git"));
  server = createServer({ cert: CERTIFICATE, key: KEY }, (request, response) =>
    serveGit(served, request, response),
  ).listen(443, address);
  await once(server, "listening");
  names.names.set("git.example.test", [[address]]);
  names.names.set("other.example.test", [[address]]);
  const resolver = await names.start();
  mkdirSync(join(base, "config", "ambit"), { recursive: true });
  writeFileSync(
    join(base, "config", "ambit", "config.yml"),
    [
      `resolver: ${JSON.stringify(resolver)}`,
      `certificates: [${JSON.stringify(join(base, "authority.pem"))}]`,
      "secrets:",
      `  git-token: { from: env:THE_TOKEN, hosts: [git.example.test], username: ${USER} }`,
      "",
    ].join("\n"),
  );
  mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
  for (const folder of [base, project]) writeFileSync(join(folder, "authority.pem"), CERTIFICATE);
  const connect = `net.connect{hosts=[git.example.test],ports=[443],private=[git.example.test=127.0.0.0/8]}`;
  const grants = ["proc.exec", "proc.eval", "fs.read", "fs.write", connect];
  writeAgent(project, "pusher", ...grants, "secret.use{names=[git-token],hosts=[git.example.test]}");
  writeAgent(project, "puller", ...grants);
  expect(await ambit("trust", "--yes")).toMatchObject({ status: 0 });
});
afterAll(() => {
  server?.close();
  if (isRoot) names.stop();
  removeState(base);
});

function host(...words: readonly string[]): void {
  const { status, stderr } = spawnSync("git", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

async function ambit(...words: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, [join(root, "bin", "ambit"), ...words], {
    cwd: project,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      NO_COLOR: "1",
      THE_TOKEN: TOKEN,
      XDG_STATE_HOME: join(base, "state"),
      XDG_CONFIG_HOME: join(base, "config"),
    },
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (text: Buffer) => {
    out += text;
  });
  child.stderr.on("data", (text: Buffer) => {
    err += text;
  });
  const [status] = (await once(child, "close")) as [number | null];
  return { status, out, err };
}

/** The person's own clone, in place of the files that landed. */
function cloned(): void {
  rmSync(join(project, "demo"), { recursive: true });
  host("clone", "--quiet", join(base, "served", "demo.git"), join(project, "demo"));
  host("-C", join(project, "demo"), "remote", "set-url", "origin", "https://git.example.test/demo.git");
}

const TRUSTING = ["-c", "http.sslCAInfo=authority.pem"];
const git = (id: string, ...words: readonly string[]): Promise<Ran> =>
  ambit("exec", id, "--", "git", ...TRUSTING, ...words);

test.runIf(isRoot)(
  "clone, commit, fetch and push work; the secret is sent to its host alone and is in no file",
  async () => {
    // A clone lands with our own git config: programs that its config names would run for the person.
    expect(await git("pusher", "clone", "--quiet", "https://git.example.test/demo.git")).toEqual({
      status: 0,
      out: "",
      err: expect.stringContaining("demo/.git/config  self_modification: git configuration"),
    });
    expect(readFileSync(join(project, "demo", "README"), "utf8")).toBe("first\n");
    expect(readFileSync(join(project, "demo", ".git", "config"), "utf8")).not.toContain("remote");
    host("-C", join(project, "demo"), "diff", "--quiet", "HEAD");
    cloned();
    writeFileSync(join(project, "demo", "README"), "second\n");
    const committed = await ambit(
      "exec",
      "pusher",
      "--shell",
      "--",
      "cd demo && git commit --quiet -am second && git log --format='%s %an'",
    );
    expect(committed).toMatchObject({ status: 0, err: "" });
    expect(committed.out).toMatch(/^second .+\nfirst a\n$/);
    const trusting = ["-C", "demo", "-c", "http.sslCAInfo=../authority.pem"];
    const pushed = await ambit("exec", "pusher", "--", "git", ...trusting, "push", "--quiet", "origin", "main");
    expect(pushed).toEqual({ status: 0, out: "", err: "" });
    const log = spawnSync("git", ["-C", join(base, "served", "demo.git"), "log", "--format=%s", "main"], {
      encoding: "utf8",
    });
    expect(log.stdout).toBe("second\nfirst\n");
    const fetched = await ambit(
      "exec",
      "pusher",
      "--shell",
      "--",
      "cd demo && git -c http.sslCAInfo=../authority.pem fetch origin",
    );
    expect(fetched.status).toBe(0);
    expect(await git("pusher", "ls-remote", CLOSED)).toMatchObject({
      status: 0,
      out: expect.stringContaining("refs/heads/main"),
    });
    expect([...shown]).toEqual([`Basic ${Buffer.from(`${USER}:${TOKEN}`).toString("base64")}`]);
    const told = await ambit("log", "--verb", "secret.use", "--json");
    expect(told.out).toMatch(/"outcome":"allow"/);
    expect(told.out).toMatch(/secret\.use git-token[^"]*git\.example\.test/);
    const kept = spawnSync("grep", ["-rlaF", TOKEN, base], { encoding: "utf8" });
    expect(kept.stdout).toBe("");
    rmSync(join(project, "demo"), { recursive: true });
  },
);

const CLOSED = "https://git.example.test/closed.git";
const RELAY = "curl -s http://198.18.0.2:1/git.example.test/closed.git/info/refs?service=git-upload-pack";

test.runIf(isRoot).each<[string, readonly string[]]>([
  ["another program", ["--", "sh", "-c", RELAY]],
  ["a shell command line", ["--shell", "--", RELAY.replace("?", "\\?")]],
  ["git in a shell command line", ["--shell", "--", `git ls-remote ${CLOSED}`]],
  ["a git that a program starts", ["--", "sh", "-c", `git ls-remote ${CLOSED}`]],
  ["a program that git starts by an alias", ["--", "git", "-c", `alias.x=!${RELAY}`, "x"]],
])("the secret is not used for %s, and the log says so", async (_title, words) => {
  const counted = async (): Promise<number> =>
    (await ambit("log", "--code", "secret_refused", "--json")).out.split("secret_refused").length;
  const before = await counted();
  const { out, err } = await ambit("exec", "pusher", ...words);
  expect(`${out}${err}`).toContain("ambit: a git secret is only available to `git fetch`, `git push` and similar");
  expect(out).not.toMatch(/refs\/heads/);
  expect(await counted()).toBeGreaterThan(before);
});

test.runIf(isRoot)("without a grant for the secret there is no push, and no other host is reached", async () => {
  shown.clear();
  expect((await git("puller", "clone", "--quiet", "https://git.example.test/demo.git")).status).toBe(0);
  cloned();
  const pushed = await ambit(
    "exec",
    "puller",
    "--shell",
    "--",
    "cd demo && git -c http.sslCAInfo=../authority.pem push origin main:other",
  );
  expect(pushed.status).not.toBe(0);
  expect([...shown]).toEqual([]);
  const other = await git("puller", "ls-remote", "https://other.example.test/demo.git");
  expect(other.status).not.toBe(0);
  expect(other.err).toMatch(/Could not resolve host/);
  expect(other.err).toMatch(/denied while running: net\.connect other\.example\.test:\S+ {2}scope_violation/);
  rmSync(join(project, "demo"), { recursive: true });
});

test.runIf(isRoot)(
  "git's settings and hooks change inside and never in the project, and the report says so",
  async () => {
    host("-C", project, "init", "--quiet");
    const added = await git("pusher", "remote", "add", "elsewhere", "https://elsewhere.example.test/x.git");
    expect(added.status).toBe(0);
    expect(added.err).toMatch(
      /git \.git\/config {2}self_modification: git configuration, hooks and private state never land/,
    );
    const hooked = await ambit("exec", "pusher", "--shell", "--", "echo x > .git/hooks/pre-commit");
    expect(hooked.err).toMatch(/git \.git\/hooks\/pre-commit {2}self_modification/);
    expect(existsSync(join(project, ".git", "hooks", "pre-commit"))).toBe(false);
    const config = readFileSync(join(project, ".git", "config"), "utf8");
    expect(config).not.toContain("elsewhere");
    const person = ["-C", project, "-c", "user.name=a", "-c", "user.email=a@example.test"];
    host(...person, "add", "authority.pem");
    host(...person, "commit", "--quiet", "-m", "first");
    const linked = await ambit("exec", "pusher", "--", "git", "worktree", "add", "-q", "-b", "side", "wt");
    expect(linked.err).toMatch(
      /git \.git\/worktrees\/wt\/\S+ {2}self_modification: a worktree made inside stays there/,
    );
    writeFileSync(join(project, "authority.pem"), "changed");
    host(...person, "stash", "--quiet");
    const popped = await ambit("exec", "pusher", "--", "git", "stash", "pop", "-q");
    expect(popped.err).toMatch(/git \.git\/refs\/stash {2}self_modification: a dropped stash stays in your repository/);
  },
);
