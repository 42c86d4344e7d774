// Who belongs to the session of a server: the client that started it and what that one starts, so that no agent approves or widens
// for itself; and a person's buttons, which hold for it.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { World } from "../state/world.ts";
import { caveats, codeOf, LineClient } from "./line-client.ts";

let world: World;

beforeAll(async () => {
  world = await World.make();
  world.agent("keeper", ["memory.read", "memory.write"]);
  await world.begin();
});
afterAll(() => world?.remove());

/** Starts a server, waits until it is listed, and then runs a command of ours as its own child. */
const CLIENT = `
  const { spawn, spawnSync } = require("node:child_process");
  const [program, server, command] = process.argv.slice(1);
  const [first, ...words] = [...JSON.parse(process.env.BETWEEN), process.execPath, program, ...JSON.parse(server)];
  const child = spawn(first, words, { stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\\n');
  child.stdout.once("data", () => {
    const ran = spawnSync(process.execPath, [program, ...JSON.parse(command)], { encoding: "utf8" });
    process.stdout.write(ran.stdout + ran.stderr);
    child.stdin.end();
    process.exitCode = ran.status;
  });
`;

async function ranByClient(
  server: readonly string[],
  command: readonly string[],
  more: Readonly<Record<string, string>> = {},
  between: readonly string[] = [],
): Promise<{ readonly status: number | null; readonly out: string }> {
  const words = ["-e", CLIENT, join(root, "bin", "ambit"), JSON.stringify(server), JSON.stringify(command)];
  const child = spawn(process.execPath, words, {
    cwd: world.project,
    env: { ...world.environment, ...more, BETWEEN: JSON.stringify(between) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.on("data", (part: Buffer) => {
    out += part;
  });
  const status = await new Promise<number | null>((give) => child.on("close", give));
  return { status, out };
}

describe("a client", () => {
  const SERVE = ["mcp", "serve", "--agent", "keeper"];

  test.each([
    ["stops nobody", ["stop", "keeper"]],
    ["sees to no freeze", ["freeze"]],
    ["grants nothing", ["agents", "grant", "keeper", "obs.append", "--yes"]],
  ])("of an agent %s", async (_, command) => {
    const { status, out } = await ranByClient(SERVE, command);
    expect(out).toContain("control_refused");
    expect(status).not.toBe(0);
  });

  test.each([
    ["a shell", ["/bin/sh", "-c", '"$@"; exit $?', "sh"]],
    ["a shell in a shell", ["/bin/sh", "-c", '/bin/sh -c \'"$@"; exit $?\' sh "$@"; exit $?', "sh"]],
  ])("of an agent is no person because %s stands between", async (_, between) => {
    const { out } = await ranByClient(SERVE, ["freeze"], {}, between);
    expect(out).toContain("control_refused");
  });

  test("of an agent starts no server with grants of its own", async () => {
    const { status, out } = await ranByClient(SERVE, ["mcp", "serve", "--unconfined"]);
    expect([status, out.includes("control_refused")]).toEqual([4, true]);
  });

  test("without an agent may start its server again, and another agent's beside it", async () => {
    const brought = { AMBIT_CAVEATS: caveats({}) };
    expect(await ranByClient(["mcp", "serve"], ["mcp", "serve"], brought)).toMatchObject({ status: 0 });
    expect(await ranByClient(["mcp", "serve"], SERVE, brought)).toMatchObject({ status: 0 });
  });
});

describe("a person", () => {
  test("who ends a session has ended it: the server opens no other", async () => {
    const client = new LineClient(world, ["--agent", "keeper"]);
    await client.initialize();
    expect((await client.call("memory_get", { key: "a" })).isError ?? false).toBe(false);
    expect((await world.ambit("stop", "keeper")).out).not.toContain("error");
    for (let again = 0; again < 2; again++)
      expect(codeOf(await client.call("memory_get", { key: "a" }))).toBe("revoked");
    await client.end();
  });

  test("stops a server without an agent by the name it has", async () => {
    const client = new LineClient(world, [], { environment: { AMBIT_CAVEATS: caveats({}) } });
    await client.names();
    expect((await world.ambit("stop", "anonymous")).status).toBe(0);
    expect(codeOf(await client.call("fs_list", {}))).toBe("revoked");
    await client.end();
    expect((await world.ambit("stop", "anonymous")).out).toContain("unknown_agent");
  });

  test("who freezes everything stops every call, and thaws it again", async () => {
    const client = new LineClient(world, ["--agent", "keeper"]);
    await client.initialize();
    expect(await client.names()).toContain("memory_get");
    expect((await world.ambit("freeze")).out).not.toContain("error");
    expect(codeOf(await client.call("memory_get", { key: "a" }))).toBe("revoked");
    expect((await world.ambit("thaw")).out).not.toContain("error");
    expect((await client.call("memory_get", { key: "a" })).isError ?? false).toBe(false);
    await client.end();
  });

  test("is still one where a server has nobody above it but the first process", async () => {
    const server = [process.execPath, join(root, "bin", "ambit"), "mcp", "serve", "--agent", "keeper"];
    const child = spawn("perl", ["-e", "exit if fork; select(undef, undef, undef, 0.3); exec @ARGV", "--", ...server], {
      cwd: world.project,
      env: world.environment,
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
    await new Promise((listed) => child.stdout.once("data", listed));
    const frozen = await world.ambit("freeze");
    const thawed = await world.ambit("thaw");
    child.stdin.end();
    expect([frozen.out, thawed.out].join()).not.toContain("error");
  });

  test("who tries it at a shell on a terminal is still a person there", async () => {
    const ambit = `${process.execPath} ${join(root, "bin", "ambit")}`;
    const list = `printf '%s\\n' '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`;
    const line = `${list} | ${ambit} mcp serve --agent keeper; ${ambit} freeze && ${ambit} thaw && echo as-before`;
    const child = spawn("script", ["-qec", line, "/dev/null"], {
      cwd: world.project,
      env: { ...world.environment, SHELL: "/bin/sh", TERM: "dumb" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    child.stdout.on("data", (part: Buffer) => {
      out += part;
    });
    await new Promise((over) => child.on("close", over));
    expect(out).toContain('"name":"memory_get"');
    expect(out).toContain("as-before");
  });

  test("finds every call in the log, by the session's face and agent", async () => {
    const client = new LineClient(world, ["--agent", "keeper", "--user", "ann"]);
    const { structuredContent } = await client.call("obs_append", { text: "x" });
    await client.end();
    const written = await world.log({ kind: "decision", user: "ann" });
    expect(written.map(({ id }) => id)).toContain(structuredContent["id"]);
  });
});
