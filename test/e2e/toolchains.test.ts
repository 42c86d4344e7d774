// Programs and package managers as people meet them first: what is missing, what is read-only, what was ended, and what
// `npm install` needs after `ambit init --preset coder`.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../house/until.ts";
import { expectValue, Fixture } from "../state/fixture.ts";

let fixture: Fixture;
let registry: Server;
let port = 0;

/** One package, as a registry serves it. */
function packed(folder: string): Buffer {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "left", version: "1.0.0" }));
  const { status, stdout } = spawnSync("tar", ["cz", "--transform", "s,^,package/,", "package.json"], { cwd: folder });
  if (status !== 0) throw new Error("tar failed");
  return stdout;
}

beforeAll(async () => {
  fixture = await Fixture.make();
  const folder = mkdtempSync(join(fixture.base, "package-"));
  const tarball = packed(folder);
  rmSync(folder, { recursive: true });
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  registry = createServer((request, response) => {
    const dist = { tarball: `http://localhost:${port}/left.tgz`, integrity };
    const about = {
      name: "left",
      "dist-tags": { latest: "1.0.0" },
      versions: { "1.0.0": { name: "left", version: "1.0.0", dist } },
    };
    if (request.url === "/left.tgz") response.end(tarball);
    else if (request.url === "/left") response.end(JSON.stringify(about));
    else response.writeHead(404).end("{}");
  }).listen(0, "127.0.0.1");
  await once(registry, "listening");
  port = (registry.address() as { port: number }).port;
  fixture.write("project/.ambit/agents/dev.md", "---\nsandbox: .\n---\n");
  fixture.write("project/package.json", '{ "name": "x", "version": "1.0.0" }\n');
  expect((await fixture.ambit("init", "--preset", "coder", "--yes")).status).toBe(0);
  await fixture.begin();
}, 120_000);

afterAll(async () => {
  registry?.close();
  await fixture?.remove();
});

describe("someone runs a program", () => {
  test("that is not there: the folders that were searched are named", async () => {
    const ran = await fixture.ambit("exec", "dev", "--", "no-such-program");
    expect(ran.status).toBe(127);
    expect(ran.out).toContain('there is no program "no-such-program" in /usr/local/sbin, /usr/local/bin');
    expect((await fixture.ambit("exec", "dev", "--", "./none")).out).toContain('the sandbox has no program "./none"');
  });

  test("that writes in a read-only root: the option that makes it writable is named", async () => {
    const ran = await fixture.ambit("exec", "dev", "--root", "ro", "--", "touch", "x");
    expect([ran.status, ran.out.includes("`ambit exec --root rw`")]).toEqual([1, true]);
    const call = await fixture.ambit("call", "dev", "shell", '{"script": "touch x"}', "--json");
    expect(JSON.parse(call.out).result.hint).toContain("root `rw`");
    // Its failure is not ours to explain where the root is writable, and success needs no hint.
    expect((await fixture.ambit("exec", "dev", "--", "false")).out).not.toContain("read-only");
    expect((await fixture.ambit("exec", "dev", "--", "touch", "x")).status).toBe(0);
  });

  test("that needs the network, with `net.get` alone: the grant that programs need is named", async () => {
    expect((await fixture.ambit("agents", "grant", "dev", "net.get{hosts=[example.test]}", "--yes")).status).toBe(0);
    fixture.write(
      "project/lookup.cjs",
      'require("node:dns").lookup("example.test", (error) => { console.error(error?.code); process.exit(3); });\n',
    );
    const ran = await fixture.ambit("exec", "dev", "--", "node", "lookup.cjs");
    expect([ran.status, ran.out.includes("programs reach only hosts of `net.connect`")]).toEqual([3, true]);
    const call = await fixture.ambit("call", "dev", "shell", '{"script": "node lookup.cjs"}', "--json");
    expect(JSON.parse(call.out).result.hint).toContain("`net.connect{hosts=[example.com],ports=[443]}`");
    // An edit of a person's own through ambit needs no second review, and no command says so.
    for (const words of [["status"], ["trust", "--yes"]])
      expect((await fixture.ambit(...words)).out).not.toMatch(/changed since/);
  });
});

describe("someone ends a program that runs", () => {
  const running = async (): Promise<boolean> => {
    const { sessions } = expectValue(await fixture.control("daemon.status", {}));
    return sessions.some((session) => session.running > 0);
  };

  test.each([
    ["stop", ["stop", "dev"], "ambit stop dev"],
    ["freeze", ["freeze"], "ambit freeze"],
  ] as const)("with %s: the command that ended it is named, here and in the log", async (_, words, by) => {
    const program = fixture.ambit("exec", "dev", "--", "sleep", "600");
    await until(running, "the program runs");
    expect((await fixture.ambit(...words)).status).toBe(0);
    const { status, out } = await program;
    expect([status, out]).toEqual([137, `ambit: killed by \`${by}\`\n`]);
    expect((await fixture.ambit("log")).out).toContain("outcome: ended person");
    if (words[0] === "freeze") expect((await fixture.ambitAtTerminal("thaw")).status).toBe(0);
  });
});

test("someone runs `npm install` after `init --preset coder`: one grant, one approval, and the package lands", async () => {
  const install = ["exec", "coder", "--", "npm", "install", "left", "--registry", `http://localhost:${port}`];
  const grant = `net.connect{hosts=[localhost],ports=[${port}]}`;
  expect((await fixture.ambitAtTerminal("agents", "grant", "coder", grant, "--yes")).status).toBe(0);
  const withheld = await fixture.ambit(...install);
  expect([withheld.status, withheld.out.includes("root=rw -- npm install")]).toEqual([125, true]);
  expect((await fixture.ambitAtTerminal("approve", "--yes")).status).toBe(0);
  const ran = await fixture.ambit(...install);
  expect([ran.status, ran.out]).toEqual([0, expect.stringContaining("added 1 package")]);
  expect(existsSync(join(fixture.project, "node_modules", "left", "package.json"))).toBe(true);
  expect(JSON.parse(readFileSync(join(fixture.project, "package.json"), "utf8")).dependencies).toEqual({
    left: "^1.0.0",
  });
}, 120_000);
