// git that a client of `ambit run` starts, against a real server over HTTPS: the broker adds the kept secret outside the sandbox,
// for its host alone and as long as the record grants it.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CERTIFICATE, KEY } from "../broker/certificate.ts";
import { ownAddress } from "../broker/fixture.ts";
import { NamesOutside } from "../broker/names-outside.ts";
import { endDaemon, prepareState } from "../house/daemon-state.ts";
import { writeAgent } from "../house/files.ts";
import { serveGit } from "../house/git-server.ts";
import { removeState } from "../house/remove-state.ts";
import { until } from "../house/until.ts";
import { type Ran, root } from "./ambit.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-run-git-")));
const project = join(base, "project");
const names = new NamesOutside();
const address = ownAddress(5);
const TOKEN = "kept-token-hard-to-guess";
const BASIC = `Basic ${Buffer.from(`x-access-token:${TOKEN}`).toString("base64")}`;
const shown = new Set<string>();
const served = { folder: join(base, "served"), user: "x-access-token", token: TOKEN, shown };
let server: Server | undefined;

/** Port 443 needs root; elsewhere there is nothing to test with, and the test says so. */
const isRoot = process.getuid?.() === 0;

beforeAll(async () => {
  if (!isRoot) {
    console.warn("git over HTTPS was not tried: port 443 needs root");
    return;
  }
  prepareState(join(base, "state"), join(base, "config"));
  for (const name of ["demo.git", "closed.git"]) {
    host("init", "--quiet", "--bare", "--initial-branch=main", join(base, "served", name));
    host("-C", join(base, "served", name), "config", "http.receivepack", "true");
  }
  host("init", "--quiet", "--initial-branch=main", project);
  host("-C", project, "remote", "add", "origin", "https://git.example.test/closed.git");
  host("-C", project, "remote", "add", "shell", "git@git.example.test:demo.git");
  host("-C", project, "remote", "add", "elsewhere", "https://other.example.test/closed.git");
  writeFileSync(join(project, ".gitignore"), ".ambit\n*.pem\ngo\nready\n");
  host("-C", project, "add", ".");
  host("-C", project, "-c", "user.name=a", "-c", "user.email=a@example.test", "commit", "--quiet", "-m", "first");
  writeFileSync(join(base, "authority.pem"), CERTIFICATE);
  server = createServer({ cert: CERTIFICATE, key: KEY }, (request, response) => {
    if (request.headers.cookie !== undefined) shown.add(`cookie ${request.headers.cookie}`);
    const moved = /^\/(moved|away)\.git(.*)$/.exec(request.url ?? "");
    const target = moved?.[1] === "moved" ? "/closed.git" : "https://other.example.test/closed.git";
    if (moved !== null) return void response.writeHead(301, { location: `${target}${moved[2]}` }).end();
    // A host that sends back what it was sent.
    if (request.url?.startsWith("/echo") !== true) return serveGit(served, request, response);
    const { authorization } = request.headers;
    if (authorization === undefined) return void response.writeHead(401).end();
    response.writeHead(200, { "content-type": "text/plain" }).end(`0123456789 ${authorization}`);
  }).listen(443, address);
  await once(server, "listening");
  for (const name of ["git.example.test", "other.example.test"]) names.names.set(name, [[address]]);
  mkdirSync(join(base, "config", "ambit"), { recursive: true });
  const config = { resolver: await names.start(), certificates: [join(base, "authority.pem")] };
  writeFileSync(join(base, "config", "ambit", "config.yml"), JSON.stringify(config));
  const hosts = "hosts=[git.example.test,other.example.test]";
  const near = "private=[git.example.test=127.0.0.0/8,other.example.test=127.0.0.0/8]";
  const connect = `net.connect{${hosts},ports=[443],${near}}`;
  const grants = ["proc.exec{root=live}", "fs.read", "fs.write", connect];
  const use = "secret.use{names=[forge],tools=[git],hosts=[git.example.test]}";
  for (const name of ["pusher", "brief"]) writeAgent(project, name, ...grants, use);
  writeAgent(project, "puller", ...grants);
  writeAgent(project, "unreached", "proc.exec{root=live}", "fs.read", "fs.write", use);
  expect((await ambit(["trust", "--yes"])).status).toBe(0);
  const stored = await ambit(["secrets", "set", "forge", "--tool", "git", "--host", "git.example.test"], `${TOKEN}\n`);
  expect(stored).toMatchObject({ status: 0 });
}, 120_000);
afterAll(() => {
  server?.close();
  if (isRoot) names.stop();
  removeState(base);
});

function host(...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("git", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

function start(words: readonly string[], input: string): { readonly ran: Promise<Ran> } {
  const child = spawn(process.execPath, [join(root, "bin", "ambit"), ...words], {
    cwd: project,
    env: {
      ...{ PATH: "/usr/bin:/bin", HOME: base, NO_COLOR: "1" },
      ...{ XDG_STATE_HOME: join(base, "state"), XDG_CONFIG_HOME: join(base, "config") },
    },
  });
  child.stdin.end(input);
  let [out, err] = ["", ""];
  child.stdout.on("data", (text: Buffer) => {
    out += text;
  });
  child.stderr.on("data", (text: Buffer) => {
    err += text;
  });
  return { ran: once(child, "close").then(([status]) => ({ status: status as number | null, out, err })) };
}

function ambit(words: readonly string[], input = ""): Promise<Ran> {
  return start(words, input).ran;
}

/** What a client of this agent runs. */
function inside(agent: string, script: string): Promise<Ran> {
  return ambit(["run", agent, "sh", "-c", script]);
}

const COMMIT = "git commit --quiet --allow-empty";

test.runIf(isRoot)(
  "push and fetch of a client's git work by https and by ssh addresses, and the secret is nowhere inside",
  async () => {
    const search = [
      "printf 'protocol=https\\nhost=git.example.test\\n\\n' | git credential fill",
      `env | grep -c "$(printf '%s' ${TOKEN.split("").join('""')})"`,
      "cat /etc/gitconfig",
    ].join("; ");
    const ran = await inside(
      "pusher",
      `${COMMIT} -m second && git push --quiet origin main && git fetch --quiet origin && ` +
        `git push --quiet shell main && git ls-remote --heads origin; ${search}`,
    );
    expect(ran.out).toMatch(/^[0-9a-f]{40}\trefs\/heads\/main$/m);
    expect(`${ran.out}${ran.err}`).not.toMatch(/password|REDACTED/);
    for (const name of ["demo.git", "closed.git"])
      expect(host("-C", join(base, "served", name), "log", "--format=%s", "main")).toBe("second\nfirst\n");
    expect(host("-C", project, "rev-parse", "origin/main")).toBe(host("-C", project, "rev-parse", "main"));
    expect([...shown]).toEqual([BASIC]);
    const log = await ambit(["log", "--verb", "secret.use", "--json"]);
    expect(log.out).toMatch(/"outcome":"allow"/);
    expect(log.out).toMatch(/secret\.use forge[^"]*git\.example\.test/);
    expect(spawnSync("grep", ["-rlaF", TOKEN, base], { encoding: "utf8" }).stdout).toBe("");
  },
  120_000,
);

test.runIf(isRoot).each<[string, string, string, RegExp]>([
  ["without a grant of the secret", "puller", "git push origin main", /remote: ambit: secret\.use forge .* is denied/],
  [
    "to a host without a secret",
    "pusher",
    "git -c http.sslVerify=false fetch elsewhere",
    /ambit: other\.example\.test wants a credential/,
  ],
  ["to a host that is not granted", "unreached", "git fetch origin", /Could not resolve host: git\.example\.test/],
  [
    "with a path that is not git's",
    "pusher",
    "curl -s http://198.18.0.2:1/git.example.test/api/v4/user",
    /only fetch and push of git pass here/,
  ],
])("nothing is sent %s, and the output says why", async (_title, agent, line, said) => {
  shown.clear();
  const { out, err } = await inside(agent, line);
  expect(`${out}${err}`).toMatch(said);
  expect([...shown]).toEqual([]);
});

test.runIf(isRoot)("a redirect goes through the relay at its host, and without the secret elsewhere", async () => {
  shown.clear();
  const moved = await inside("pusher", "git ls-remote --heads https://git.example.test/moved.git");
  expect(moved.out).toMatch(/refs\/heads\/main/);
  expect([...shown]).toEqual([BASIC]);
  shown.clear();
  const away = await inside("pusher", "git -c http.sslVerify=false ls-remote https://git.example.test/away.git");
  expect(away.err).toMatch(/ambit: other\.example\.test wants a credential/);
  expect([...shown]).toEqual([]);
});

test.runIf(isRoot)(
  "credentials and cookies of a program are dropped, and a large push goes through in pieces",
  async () => {
    shown.clear();
    const address = "http://198.18.0.2:1/git.example.test/closed.git/info/refs?service=git-upload-pack";
    const own = await inside(
      "pusher",
      `curl -s -H 'Authorization: Bearer own' -H 'Cookie: own=1' '${address}' | head -c 30`,
    );
    expect(own.out).toContain("# service=git-upload-pack");
    const bytes = 4_000_000;
    const pushed = await inside(
      "pusher",
      `head -c ${bytes} /dev/urandom > big && git add big && ${COMMIT} -m big && git push --quiet origin main:big`,
    );
    expect(pushed.status).toBe(0);
    expect(host("-C", join(base, "served", "closed.git"), "cat-file", "-s", "big:big")).toBe(`${bytes}\n`);
    expect([...shown]).toEqual([BASIC]);
  },
);

test.runIf(isRoot)("what a host sends back of the secret does not arrive", async () => {
  const line = "http://198.18.0.2:1/git.example.test/echo.git/info/refs?service=git-upload-pack";
  const { out } = await inside("pusher", `curl -s '${line}'; echo; echo "ended $?"`);
  expect(out).toMatch(/ended/);
  expect(out).not.toMatch(/Basic|REDACTED|0123456789/);
});

test.runIf(isRoot)("a grant that is taken back while the client runs ends its use", async () => {
  const waits = "echo > ready; while ! test -e go; do sleep 0.1; done";
  const { ran } = start(
    ["run", "brief", "sh", "-c", `git ls-remote origin >/dev/null && ${waits}; git ls-remote origin`],
    "",
  );
  await until(() => existsSync(join(project, "ready")), "the client's first request");
  shown.clear();
  const record = join(project, ".ambit", "agents", "brief.md");
  writeFileSync(record, readFileSync(record, "utf8").replace(/^.*secret\.use.*\n/m, ""));
  writeFileSync(join(project, "go"), "");
  const { out, err } = await ran;
  expect(out).not.toMatch(/refs\/heads/);
  expect(err).toMatch(/secret\.use forge .* is denied/);
  expect([...shown]).toEqual([]);
});

test.runIf(isRoot)("a locked store gives no secret, and the output names the fix", async () => {
  shown.clear();
  endDaemon(join(base, "state"));
  chmodSync(join(base, "state", "ambit", "keys", "secrets.key"), 0o644);
  const { err } = await inside("pusher", "git fetch origin");
  expect(err).toMatch(/remote: ambit: the kept secret forge cannot be read: ambit secrets unlock \(secret_refused\)/);
  expect([...shown]).toEqual([]);
});
