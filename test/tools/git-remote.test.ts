// fetch and push of the `git` tool against a real server over HTTPS, as a user calls it: the broker adds the credential, and only
// for its own host.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/base/json.ts";
import { CERTIFICATE, KEY } from "../broker/certificate.ts";
import { ownAddress } from "../broker/fixture.ts";
import { NamesOutside } from "../broker/names-outside.ts";
import { root } from "../e2e/ambit.ts";
import { prepareState } from "../house/daemon-state.ts";
import { writeAgent } from "../house/files.ts";
import { serveGit } from "../house/git-server.ts";
import { removeState } from "../house/remove-state.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-git-tool-")));
const project = join(base, "project");
const bare = join(base, "served", "demo.git");
const names = new NamesOutside();
const address = ownAddress(4);
const [USER, TOKEN] = ["me", "another-token-hard-to-guess"];
const credential = `Basic ${Buffer.from(`${USER}:${TOKEN}`).toString("base64")}`;
const shown = new Set<string>();
const served = { folder: join(base, "served"), user: USER, token: TOKEN, shown };
const CONNECT = "net.connect{hosts=[git.example.test],ports=[443],private=[git.example.test=127.0.0.0/8]}";
let server: Server | undefined;
/** Before the server answers. */
let onRequest = (): void => undefined;

/** Port 443 needs root; elsewhere there is nothing to test with, and the test says so. */
const isRoot = process.getuid?.() === 0;

function host(...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("git", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

beforeAll(async () => {
  if (!isRoot) {
    console.warn("git over HTTPS was not tried: port 443 needs root");
    return;
  }
  prepareState(join(base, "state"), join(base, "config"));
  host("init", "--quiet", "--bare", "--initial-branch=main", bare);
  host("-C", bare, "config", "http.receivepack", "true");
  host("init", "--quiet", "--initial-branch=main", project);
  host("-C", project, "config", "user.name", "Ann");
  host("-C", project, "config", "user.email", "ann@example.test");
  host("-C", project, "config", "http.sslCAInfo", join(project, "authority.pem"));
  host("-C", project, "remote", "add", "origin", "https://git.example.test/demo.git");
  host("-C", project, "remote", "add", "elsewhere", "https://other.example.test/demo.git");
  for (const folder of [base, project]) writeFileSync(join(folder, "authority.pem"), CERTIFICATE);
  host("-C", project, "commit", "--quiet", "--allow-empty", "--message=first");
  server = createServer({ cert: CERTIFICATE, key: KEY }, (request, response) => {
    onRequest();
    serveGit(served, request, response);
  }).listen(443, address);
  await once(server, "listening");
  for (const name of ["git.example.test", "other.example.test"]) names.names.set(name, [[address]]);
  const resolver = await names.start();
  mkdirSync(join(base, "config", "ambit"), { recursive: true });
  writeFileSync(
    join(base, "config", "ambit", "config.yml"),
    `resolver: ${JSON.stringify(resolver)}\ncertificates: [${JSON.stringify(join(base, "authority.pem"))}]\nsecrets:\n  git-token: { from: "file:${join(base, "token")}", hosts: [git.example.test], username: ${USER} }\n`,
  );
  writeFileSync(join(base, "token"), TOKEN, { mode: 0o600 });
  mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
  writeAgent(project, "puller", "proc.exec", "fs.read", "fs.write", CONNECT);
  writeAgent(
    project,
    "pusher",
    "proc.exec",
    "fs.read",
    "fs.write",
    CONNECT,
    "secret.use{names=[git-token],hosts=[git.example.test]}",
  );
  expect((await ambit("trust", "--yes")).status).toBe(0);
}, 60_000);
afterAll(() => {
  server?.close();
  if (isRoot) names.stop();
  removeState(base);
});

async function ambit(...words: readonly string[]): Promise<{ readonly status: number | null; readonly out: string }> {
  const folders = { HOME: base, XDG_STATE_HOME: join(base, "state"), XDG_CONFIG_HOME: join(base, "config") };
  const child = spawn(process.execPath, [join(root, "bin", "ambit"), ...words], {
    cwd: project,
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env["PATH"], NO_COLOR: "1", ...folders },
  });
  let out = "";
  child.stdout.on("data", (text: Buffer) => {
    out += text;
  });
  const [status] = (await once(child, "close")) as [number | null];
  return { status, out };
}

async function git(id: string, input: JsonObject): Promise<unknown> {
  const { out } = await ambit("call", id, "git", JSON.stringify(input), "--json");
  const answer = JSON.parse(out) as { readonly result?: unknown };
  return answer.result ?? answer;
}

test.runIf(isRoot)(
  "push and fetch, with the credential for its host alone",
  async () => {
    expect(await git("pusher", { command: "push", name: "main" })).toMatchObject({
      refs: [{ from: "main", to: "main", outcome: "new" }],
    });
    expect(host("-C", bare, "log", "--format=%s", "main")).toBe("first\n");
    expect([...shown]).toEqual([credential]);
    expect(await git("pusher", { command: "push", name: "main" })).toMatchObject({ refs: [{ outcome: "same" }] });
    host("-C", bare, "branch", "topic", "main");
    expect(await git("puller", { command: "fetch" })).toMatchObject({ notes: expect.stringMatching(/topic/) });
    expect(host("-C", project, "rev-parse", "origin/topic")).toBe(host("-C", bare, "rev-parse", "main"));
  },
  120_000,
);

test.runIf(isRoot)(
  "without a grant for the credential there is no push, nothing hangs, and no other host is reached",
  async () => {
    shown.clear();
    expect(await git("puller", { command: "push", name: "main" })).toMatchObject({
      ending: { kind: "exited", status: 128 },
    });
    expect(await git("pusher", { command: "fetch", remote: "elsewhere" })).toMatchObject({
      ending: { kind: "exited", status: 128 },
      denials: [{ code: "scope_violation", request: expect.stringMatching(/net\.connect other\.example\.test/) }],
    });
    expect([...shown]).toEqual([]);
  },
  120_000,
);

test.runIf(isRoot)(
  "a grant that is taken away while git runs gives it no credential",
  async () => {
    shown.clear();
    onRequest = () => writeAgent(project, "pusher", "proc.exec", "fs.read", "fs.write", CONNECT);
    host("-C", project, "commit", "--quiet", "--allow-empty", "--message=second");
    expect(await git("pusher", { command: "push", name: "main" })).toMatchObject({
      ending: { kind: "exited", status: 128 },
    });
    expect([...shown]).toEqual([]);
  },
  120_000,
);
