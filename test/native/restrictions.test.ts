// What a command in a sandbox has given up permanently: capabilities, Landlock, seccomp, limits, executable memory.
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PayloadWriter } from "../../src/sandbox/plan/start/frame.ts";
import { bytes, type Outcome, type Owner, PROJECT, type Ready, sendTemporary, start } from "./owner.ts";
import { users, variants } from "./program.ts";

/** Landlock bits: execute, read a file, list a folder; everything the version knows. */
const [EXECUTE, READ_FILE, READ_DIR] = [1n, 4n, 8n];
const READ = READ_FILE | READ_DIR;
const allFiles = (version: number): bigint =>
  version >= 5 ? 0xffffn : version >= 3 ? 0x7fffn : version >= 2 ? 0x3fffn : 0x1fffn;
const [CPU, CORE, OPEN_FILES] = [0, 4, 7];

/** One call is refused with EPERM, everything else allowed: `personality`, which `setarch` calls. */
const PERSONALITY = process.arch === "arm64" ? 92 : 135;
const instruction = (code: number, yes: number, no: number, value: number): Uint8Array =>
  new PayloadWriter().u16(code).u8(yes).u8(no).u32(value).done();
const SECCOMP = Buffer.concat([
  instruction(0x20, 0, 0, 0),
  instruction(0x15, 0, 1, PERSONALITY),
  instruction(0x06, 0, 0, 0x00050001),
  instruction(0x06, 0, 0, 0x7fff0000),
]);

const callers = variants.flatMap(([variant, program]) =>
  users.map((user) => [variant, user ?? "self", program] as const),
);

describe.each(callers)("%s, as %s", (_variant, caller, program) => {
  let root: string;
  let owner: Owner;
  let abi: number;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), "ambit-restrictions-"));
    writeFileSync(join(root, "file"), "text\n");
    if (caller !== "self") for (const path of [root, join(root, "file")]) chownSync(path, caller, caller);
    const started = await start({ program, root, user: caller === "self" ? null : caller });
    owner = started.owner;
    abi = started.landlockAbi;
    sendTemporary(owner);
  });

  afterEach(async () => {
    expect(await owner.end()).not.toBe(99);
    rmSync(root, { recursive: true, force: true });
  });

  async function go(): Promise<Ready> {
    owner.send("G");
    return owner.ready();
  }

  const run = (line: string): Promise<Outcome> => owner.run({ argv: ["sh", "-c", line] });
  const rule = (rights: bigint, path: string): void =>
    owner.send("L", new PayloadWriter().u64(rights).text(bytes(path)).done());
  const limit = (resource: number, value: bigint): void =>
    owner.send("U", new PayloadWriter().u32(resource).u64(value).done());

  test("no capability is left in any set, none can be gained, and there is no filter that was not requested", async () => {
    expect(await go()).toMatchObject({ landlock: 0, seccomp: 0, network: 0 });
    const { output } = await run("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status");
    expect(output.replace(/\s+/g, " ").trim()).toBe(
      `${["Inh", "Prm", "Eff", "Bnd", "Amb"].map((set) => `Cap${set}: ${"0".repeat(16)}`).join(" ")} NoNewPrivs: 1 Seccomp: 0`,
    );
  });

  test("the seccomp program is enforced, for pid 1 and for every command", async () => {
    owner.send("S", SECCOMP);
    expect(await go()).toMatchObject({ seccomp: 1 });
    const { output } = await run(
      "grep -h ^Seccomp: /proc/1/status /proc/self/status; setarch -R true 2>/dev/null || echo refused",
    );
    expect(output.replace(/\s+/g, " ")).toBe("Seccomp: 2 Seccomp: 2 refused ");
  });

  test("without it the same call succeeds", async () => {
    await go();
    expect(await run("setarch -R true")).toMatchObject({ how: 0, value: 0 });
  });

  test("Landlock is enforced: what no rule allows is refused, also for existing files of our own", async () => {
    expect(abi).toBeGreaterThanOrEqual(1);
    owner.send(
      "H",
      new PayloadWriter()
        .u64(allFiles(abi))
        .u64(0n)
        .u64(abi >= 6 ? 3n : 0n)
        .done(),
    );
    rule(READ | EXECUTE, "/usr");
    rule(READ, "/proc");
    rule(READ_FILE | (1n << 1n), "/dev/null");
    rule(allFiles(abi), "/tmp");
    rule(READ, PROJECT);
    rule(READ, "/nonesuch");
    expect(await go()).toMatchObject({ landlock: 1 });
    const line =
      `cat ${PROJECT}/file; echo x > ${PROJECT}/file; touch ${PROJECT}/new; cp /usr/bin/true ${PROJECT}/t;` +
      "cat /dev/zero | head -c 1; ls /run; touch /tmp/ours && echo ours; cp /usr/bin/true /tmp/t && /tmp/t && echo ran";
    expect((await run(`exec 2>/dev/null; ${line}; exit 0`)).output).toBe("text\nours\nran\n");
    // The private folder is emptied under the same rules.
    expect(await run("ls -A /tmp")).toMatchObject({ output: "home\n", clean: 1 });
  });

  test("limits are enforced, soft and hard, and a limit above the maximum gives the maximum", async () => {
    limit(CORE, 0n);
    limit(OPEN_FILES, 64n);
    limit(CPU, (1n << 64n) - 1n);
    await go();
    expect(
      (await run("ulimit -c; ulimit -Hc; ulimit -n; ulimit -Hn; ulimit -Hn 65 2>/dev/null || echo no")).output,
    ).toBe("0\n0\n64\n64\nno\n");
  });

  test("CPU time is each command's own, and pid 1 does not run out of it", async () => {
    limit(CPU, 1n);
    await go();
    expect(await run("while :; do :; done")).toMatchObject({ how: 1, value: 9, clean: 1 });
    expect((await run("ulimit -t; grep '^Max cpu' /proc/1/limits")).output).toMatch(/^1\nMax cpu time +unlimited/);
  });

  test("a folder to empty on a file system larger than requested is a failure", async () => {
    owner.send("D", new PayloadWriter().u32(4_096).text(bytes("/tmp")).done());
    owner.send("G");
    expect((await owner.failure()).stage).toBe("emptied folder");
    expect(await owner.exit()).toBe(125);
  });

  test("executable memory is as the program reports it", async () => {
    const { memfdHeld } = await go();
    // Only root may change the setting of the pid namespace; for other callers the filter must refuse the call.
    if (caller !== "self" || process.getuid?.() !== 0) expect(memfdHeld).toBe(0);
    const perl = `
      my $name = "x"; my $fd = syscall(${process.arch === "arm64" ? 279 : 319}, $name, 0); exit 1 if $fd < 0;
      open(my $out, ">&=", $fd); open(my $in, "<", "/usr/bin/echo"); binmode $_ for ($in, $out);
      { local $/; print {$out} <$in>; } $out->flush; exec {"/proc/self/fd/$fd"} "echo", "ran";`;
    const { output } = await owner.run({ argv: ["perl", "-e", perl] });
    expect(output.trim()).toBe(memfdHeld === 1 ? "" : "ran");
  });
});
