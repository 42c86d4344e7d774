// Which processes belong to the session of a server: the client that started it and its children, so that no agent approves or
// widens for itself; and a person's controls, which apply to it.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { Fixture } from "../state/fixture.ts";
import { caveats, codeOf, LineClient } from "./line-client.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("keeper", ["memory.read", "memory.write"]);
  await fixture.begin();
});
afterAll(() => fixture?.remove());

/** Starts a server, waits until it is listed, and then runs a command of ours as its own child. */
const CLIENT = `
  const { spawn, spawnSync } = require("node:child_process");
  const [program, server, command] = process.argv.slice(1);
  const quote = (words) => words.map((word) => "'" + word.replaceAll("'", "'\\\\''") + "'").join(" ");
  // "script" is given one line to run.
  const behind = (before, own) =>
    before[0] === "script" ? [...before, quote(own), "/dev/null"] : [...before, ...own];
  const ambit = (words) => [process.execPath, program, ...JSON.parse(words)];
  const [first, ...words] = behind(JSON.parse(process.env.BETWEEN), ambit(server));
  const child = spawn(first, words, { stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\\n');
  const act = () => {
    const [own, ...line] = behind(JSON.parse(process.env.BEFORE ?? "[]"), ambit(command));
    const ran = spawnSync(own, line, { encoding: "utf8" });
    process.stdout.write(ran.stdout + ran.stderr);
    child.stdin.end();
    process.exitCode = ran.status;
    if (process.env.BETWEEN.includes("script")) child.kill();
  };
  let told = "";
  child.stdout.on("data", function listed(part) {
    told += part;
    // A terminal repeats what is written to it first.
    if (!told.includes('"result"')) return;
    child.stdout.off("data", listed).resume();
    if (process.env.ENDED !== "1") return act();
    child.once("close", act);
    child.stdin.end();
  });
`;

/** Runs what follows on a new pseudo-terminal, and prints its output. */
const PTY = `
  use POSIX;
  open my $near, "+<", "/dev/ptmx" or die; my $number = pack "i", 0; ioctl $near, 0x40045431, $number;
  ioctl $near, 0x80045430, $number; my $name = "/dev/pts/" . unpack "i", $number;
  my $child = fork // die;
  if (!$child) {
    POSIX::setsid(); open STDIN, "+<", $name or die; open STDOUT, ">&STDIN"; open STDERR, ">&STDIN"; close $near; exec @ARGV;
  }
  while (sysread $near, my $text, 4096) { syswrite STDOUT, $text }
  waitpid $child, 0; exit($? >> 8);
`;

/** A launcher with pipes of its own on both sides. */
const RELAY = `
  const { spawn } = require("node:child_process");
  const [first, ...words] = process.argv.slice(1);
  const child = spawn(first, words, { stdio: ["pipe", "pipe", "inherit"] });
  process.stdin.pipe(child.stdin);
  child.stdout.pipe(process.stdout);
  child.on("close", (status) => process.exit(status ?? 1));
`;
const SYSTEM = "exit(system(@ARGV) >> 8)";

async function ranByClient(
  server: readonly string[],
  command: readonly string[],
  more: Readonly<Record<string, string>> = {},
  between: readonly string[] = [],
  terminal: readonly string[] = [],
): Promise<{ readonly status: number | null; readonly out: string }> {
  const words = ["-e", CLIENT, join(root, "bin", "ambit"), JSON.stringify(server), JSON.stringify(command)];
  const quoted = [process.execPath, ...words].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const [program = process.execPath, ...options] = terminal;
  const child = spawn(program, terminal.length === 0 ? words : [...options, quoted, "/dev/null"], {
    cwd: fixture.project,
    env: { ...fixture.environment, ...more, BETWEEN: JSON.stringify(between) },
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

  const GRANT = ["agents", "grant", "keeper", "obs.query", "--yes"];
  const NODE = `const { spawn } = require("node:child_process"); const [first, ...words] = process.argv.slice(1);`;

  test.each([
    ["stops its agent", ["stop", "keeper"]],
    ["freezes everything", ["freeze"]],
  ])("of an agent %s: narrowing is allowed to every process", async (_, command) => {
    const { status, out } = await ranByClient(SERVE, command);
    expect([status, out.includes("control_refused")]).toEqual([0, false]);
    expect((await fixture.ambitAtTerminal("thaw")).status).toBe(0);
  });

  test.each<[string, readonly string[]]>([
    ["nothing", []],
    ["a shell", ["/bin/sh", "-c", '"$@"; exit $?', "sh"]],
    ["a shell in a shell", ["/bin/sh", "-c", '/bin/sh -c \'"$@"; exit $?\' sh "$@"; exit $?', "sh"]],
    ["timeout", ["timeout", "60"]],
    ["nice and env", ["nice", "env"]],
    ["a process session of its own", ["setsid", "--wait"]],
    ["perl", ["perl", "-e", "exit(system(@ARGV) >> 8)", "--"]],
    ["a Node launcher", [process.execPath, "-e", `${NODE} spawn(first, words, { stdio: "inherit" });`]],
    [
      "a detached Node launcher",
      [process.execPath, "-e", `${NODE} spawn(first, words, { stdio: "inherit", detached: true });`],
    ],
    ["three wrappers", ["timeout", "60", "perl", "-e", "exit(system(@ARGV) >> 8)", "--", "setsid", "--wait"]],
  ])("of an agent grants nothing with %s in between", async (_, between) => {
    for (const detached of [[], ["setsid", "--wait"]]) {
      const { status, out } = await ranByClient(SERVE, GRANT, { BEFORE: JSON.stringify(detached) }, between);
      expect(out).toContain("control_refused");
      expect(out).toMatch(/session s_\w+ \(agent keeper, mcp/);
      expect(out).toContain("ambit stop keeper");
      expect(status).not.toBe(0);
    }
  });

  test("of an agent grants nothing by a process that it leaves behind", async () => {
    const behind = '"$@" > "$OUT" 2>&1; echo $? > "$OUT.status"';
    const wait =
      'for i in $(seq 300); do test -s "$OUT.status" && break; sleep 0.1; done; cat "$OUT"; exit $(cat "$OUT.status")';
    for (const [at, leave] of ["setsid -f", "perl -e 'exit if fork; exec @ARGV' --"].entries()) {
      const line = `${leave} /bin/sh -c "$BEHIND" sh "$@"; ${wait}`;
      const { status, out } = await ranByClient(SERVE, GRANT, {
        ...{ BEFORE: JSON.stringify(["/bin/sh", "-c", line, "sh"]), BEHIND: behind },
        OUT: join(fixture.project, `left-behind-${at}`),
      });
      expect(out).toContain("control_refused");
      expect(status).not.toBe(0);
    }
  });

  test("of an agent grants nothing at the terminal it runs in", async () => {
    const { out } = await ranByClient(SERVE, GRANT, {}, [], ["script", "-qec"]);
    expect(out).toContain("control_refused");
    expect(out).toContain("has the same terminal as");
  });

  const THROUGH: readonly (readonly [string, readonly string[]])[] = [
    ["nothing", []],
    ["timeout", ["timeout", "60"]],
    ["a Node launcher that relays", [process.execPath, "-e", RELAY]],
    [
      "two launchers and a process session",
      ["setsid", "--wait", process.execPath, "-e", RELAY, "perl", "-e", SYSTEM, "--"],
    ],
    ["a terminal of its own", ["script", "-qefc"]],
  ];

  test.each(THROUGH)(
    "of an agent grants nothing at a terminal that it creates, with %s between it and its server",
    async (_, between) => {
      for (const terminal of [
        ["script", "-qec"],
        ["perl", "-e", PTY, "--"],
        ["timeout", "60", "perl", "-e", PTY, "--"],
      ]) {
        const { status, out } = await ranByClient(SERVE, GRANT, { BEFORE: JSON.stringify(terminal) }, between);
        expect(out).toContain("control_refused");
        expect(out).toMatch(/was started by the client of session s_\w+ \(agent keeper, mcp, process \d+\)/);
        expect(out).toContain("ambit stop keeper");
        expect(status).not.toBe(0);
      }
    },
    120_000,
  );

  test("of an agent grants nothing at a terminal that it creates and leaves behind", async () => {
    const behind = '"$@" > "$OUT" 2>&1; echo $? > "$OUT.status"';
    const wait =
      'for i in $(seq 300); do test -s "$OUT.status" && break; sleep 0.1; done; cat "$OUT"; exit $(cat "$OUT.status")';
    const line = `setsid -f perl -e "$PTY" -- /bin/sh -c "$BEHIND" sh "$@"; ${wait}`;
    const { status, out } = await ranByClient(SERVE, GRANT, {
      ...{ BEFORE: JSON.stringify(["/bin/sh", "-c", line, "sh"]), BEHIND: behind, PTY },
      OUT: join(fixture.project, "left-behind-at-terminal"),
    });
    expect(out).toContain("control_refused");
    expect(status).not.toBe(0);
  });

  test.each([
    ["script", "-qec"],
    ["perl", "-e", PTY, "--"],
  ])(
    "that has a terminal for its person, as an editor has (%s), leaves it to them once the session has ended",
    async (...terminal) => {
      const before = { BEFORE: JSON.stringify(terminal) };
      await ranByClient(SERVE, ["agents", "revoke", "keeper", "obs.query", "--yes"]);
      expect((await ranByClient(SERVE, GRANT, before)).out).toContain("control_refused");
      expect(await ranByClient(SERVE, GRANT, { ...before, ENDED: "1" })).toMatchObject({ status: 0 });
      for (const narrowing of [["freeze"], ["stop", "keeper"]])
        expect((await ranByClient(SERVE, narrowing, before)).status).toBe(0);
      expect((await fixture.ambitAtTerminal("thaw")).status).toBe(0);
    },
  );

  test("whose session has ended is an ordinary script, also for another daemon", async () => {
    const after = { ENDED: "1" };
    expect(await ranByClient(SERVE, GRANT, after)).toMatchObject({ status: 0 });
    await fixture.killDaemon();
    await fixture.startDaemon();
    expect(await ranByClient(SERVE, GRANT, after)).toMatchObject({ status: 0 });
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
    const client = new LineClient(fixture, ["--agent", "keeper"]);
    await client.initialize();
    expect((await client.call("memory_get", { key: "a" })).isError ?? false).toBe(false);
    expect((await fixture.ambit("stop", "keeper")).out).not.toContain("error");
    for (let again = 0; again < 2; again++)
      expect(codeOf(await client.call("memory_get", { key: "a" }))).toBe("revoked");
    await client.end();
  });

  test("stops a server without an agent by its name", async () => {
    const client = new LineClient(fixture, [], { environment: { AMBIT_CAVEATS: caveats({}) } });
    await client.names();
    expect((await fixture.ambit("stop", "anonymous")).status).toBe(0);
    expect(codeOf(await client.call("fs_list", {}))).toBe("revoked");
    await client.end();
    expect((await fixture.ambit("stop", "anonymous")).out).toContain("unknown_agent");
  });

  test("who freezes everything stops every call, and thaws it again", async () => {
    const client = new LineClient(fixture, ["--agent", "keeper"]);
    await client.initialize();
    expect(await client.names()).toContain("memory_get");
    expect((await fixture.ambit("freeze")).out).not.toContain("error");
    expect(codeOf(await client.call("memory_get", { key: "a" }))).toBe("frozen");
    expect((await fixture.ambitAtTerminal("thaw")).out).not.toContain("error");
    expect((await client.call("memory_get", { key: "a" })).isError ?? false).toBe(false);
    await client.end();
  });

  test("is still one for a server whose only ancestor is the first process", async () => {
    const server = [process.execPath, join(root, "bin", "ambit"), "mcp", "serve", "--agent", "keeper"];
    const child = spawn("perl", ["-e", "exit if fork; select(undef, undef, undef, 0.3); exec @ARGV", "--", ...server], {
      cwd: fixture.project,
      env: fixture.environment,
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
    await new Promise((listed) => child.stdout.once("data", listed));
    const frozen = await fixture.ambit("freeze");
    const thawed = await fixture.ambitAtTerminal("thaw");
    child.stdin.end();
    expect([frozen.out, thawed.out].join()).not.toContain("error");
  });

  test("who runs it at a shell on a terminal is still a person there", async () => {
    const ambit = `${process.execPath} ${join(root, "bin", "ambit")}`;
    const list = `printf '%s\\n' '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`;
    const line = `${list} | ${ambit} mcp serve --agent keeper; ${ambit} freeze && ${ambit} thaw && echo as-before`;
    const child = spawn("script", ["-qec", line, "/dev/null"], {
      cwd: fixture.project,
      env: { ...fixture.environment, SHELL: "/bin/sh", TERM: "dumb" },
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

  test("finds every call in the log, by the session's protocol and agent", async () => {
    const client = new LineClient(fixture, ["--agent", "keeper", "--user", "ann"]);
    const { structuredContent } = await client.call("obs_append", { text: "x" });
    await client.end();
    const written = await fixture.log({ kind: "decision", user: "ann" });
    expect(written.map(({ id }) => id)).toContain(structuredContent["id"]);
  });
});
