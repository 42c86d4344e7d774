// A sandbox that cannot start: always the same code, a cause, a fix where there is one, and nothing runs.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunRefusal } from "../../src/core/ports/process.ts";
import { detectSandbox, sandboxFacts } from "../../src/sandbox/linux/detect-sandbox.ts";
import {
  draftsIn,
  nativeProgram,
  ownFolder,
  planFor,
  removeFolder,
  sandboxEnvironment,
  sandboxesIn,
  segments,
  shell,
} from "./fixture.ts";
import { processesLeft } from "./leftovers.ts";

let folder = "";
beforeEach(() => {
  folder = ownFolder();
});
afterEach(async () => {
  const left = await processesLeft(folder);
  removeFolder(folder);
  expect(left).toEqual([]);
});

/** Runs with this script in place of bubblewrap. */
async function refusedBy(script: string): Promise<RunRefusal> {
  const bubblewrap = join(folder, "bwrap");
  writeFileSync(bubblewrap, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return refusedWith(bubblewrap);
}

async function refusedWith(bubblewrap: string): Promise<RunRefusal> {
  const sandboxes = sandboxesIn(folder, {
    environment: { ...sandboxEnvironment(), backend: { kind: "namespaces", bubblewrap } },
  });
  const { result, output, errors } = await shell(sandboxes, planFor(folder), `touch ${folder}/ran`);
  await sandboxes.end(null);
  expect([result.ok, output, errors, existsSync(join(folder, "ran"))]).toEqual([false, "", "", false]);
  expect(draftsIn(folder).list()).toEqual([]);
  if (result.ok) throw new Error("it ran");
  expect(result.refused.code).toBe("sandbox_unavailable");
  return result.refused;
}

const HELLO = String.raw`printf '\010\000\000\000h\001\000\000\000\007\000\000\000' >&3`;

describe("bubblewrap that", () => {
  test.each([
    [
      "is blocked by AppArmor",
      "echo 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted' >&2; exit 1",
      /AppArmor/,
      /apparmor_parser/,
    ],
    [
      "may not create namespaces",
      "echo 'bwrap: No permissions to creating new namespace, likely because the kernel does not allow it' >&2; exit 1",
      /user namespaces are refused/,
      // A container has another cause than the machine (src/sandbox/linux/machine.test.ts).
      /sysctl|seccomp=unconfined/,
    ],
    [
      "runs in a container",
      "echo 'bwrap: Failed to make / slave: Permission denied' >&2; exit 1",
      /container/,
      /container/,
    ],
    ["is too old", "echo 'bwrap: Unknown option --as-pid-1' >&2; exit 1", /too old/, /0\.8/],
    ["prints an unknown error", "echo 'bwrap: the moon is full' >&2; exit 1", /the moon is full/, null],
    ["says nothing", "exit 1", /before it was ready/, null],
    ["is killed", "kill -9 $$", /before it was ready/, null],
    ["floods us with errors", "yes complaint | head -c 1000000 >&2; exit 1", /complaint/, null],
  ])("%s", async (_what, script, message, fix) => {
    const refused = await refusedBy(script);
    expect(refused.message).toMatch(message);
    expect(refused.message.length).toBeLessThan(500);
    if (fix === null) expect(refused.fix).toBeNull();
    else expect(refused.fix).toMatch(fix);
  });

  test("is missing", async () => {
    expect((await refusedWith(join(folder, "none"))).message).toMatch(/ENOENT|before it was ready/);
  });

  test("is not a program", async () => {
    mkdirSync(join(folder, "dir"));
    expect((await refusedWith(join(folder, "dir"))).message).toMatch(/EACCES|before it was ready/);
  });
});

describe("a launcher that", () => {
  test.each([
    ["speaks another protocol", "printf 'GET / HTTP/1.1\\r\\n\\r\\n' >&3; sleep 1", /invalid message/],
    [
      "speaks another version",
      String.raw`printf '\010\000\000\000h\002\000\000\000\007\000\000\000' >&3; sleep 1`,
      /invalid message/,
    ],
    ["greets twice", `${HELLO}; ${HELLO}; sleep 1`, /invalid message|cannot be determined|replaced/],
    [
      "is ready before the setup",
      String.raw`printf '\020\000\000\000R\001\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000' >&3; sleep 1`,
      /invalid message/,
    ],
    ["is done before it began", String.raw`printf '\000\000\000\000D' >&3; sleep 1`, /invalid message/],
    ["sends output before the command", String.raw`printf '\001\000\000\000Ox' >&3; sleep 1`, /invalid message/],
    [
      "fails",
      String.raw`printf '\016\000\000\000F\001\000\000\000seccomp ok\000' >&3; sleep 1`,
      /invalid message|seccomp/,
    ],
    [
      "reports a failure",
      String.raw`printf '\014\000\000\000F\001\000\000\000seccomp\000' >&3; sleep 1`,
      /seccomp \(EPERM\)/,
    ],
    ["announces an endless frame", String.raw`printf '\377\377\377\377O' >&3; sleep 1`, /invalid message/],
  ])("%s", async (_what, script, message) => {
    expect((await refusedBy(script)).message).toMatch(message);
  });

  test("fails for real: names that cannot be masked", async () => {
    const sandboxes = sandboxesIn(folder);
    mkdirSync(join(folder, "a", "b"), { recursive: true });
    // A plan has parents first; in the other order one of them would not be masked.
    const plan = planFor(folder, { masked: ["a/b/c", "a"].map((name) => segments(join(folder, name))) });
    const { result } = await shell(sandboxes, plan, "touch ran");
    expect(result).toMatchObject({ ok: false, refused: { code: "sandbox_unavailable" } });
    if (!result.ok) expect(result.refused.message).toContain("overlay mask");
    await sandboxes.end(null);
    expect(draftsIn(folder).list()).toEqual([]);
  });
});

describe("a network", () => {
  test("without a broker is not a sandbox", async () => {
    const { result } = await shell(
      sandboxesIn(folder),
      planFor(folder, { network: { ports: [], loopback: [], chains: [] } }),
      "touch ran",
    );
    expect(result).toMatchObject({ ok: false, refused: { code: "sandbox_unavailable" } });
    expect(existsSync(join(folder, "ran"))).toBe(false);
  });
});

describe("the features of this machine", () => {
  test("bubblewrap and our program, and their versions", () => {
    const { version, kernel } = sandboxFacts(sandboxEnvironment());
    expect(version).toMatch(/^\d+\.\d+/);
    expect(kernel).toMatchObject({ protocol: 1 });
  });

  test("no bubblewrap: the command that installs it", () => {
    const detected = detectSandbox({ native: nativeProgram(), folders: [folder], install: () => "install it" });
    expect(detected).toMatchObject({ ok: false, refused: { code: "sandbox_unavailable", fix: "install it" } });
  });

  test("a bubblewrap that may not set a host name starts sandboxes that keep it", async () => {
    const real = sandboxEnvironment().backend;
    if (real.kind !== "namespaces") throw new Error("this test needs namespaces");
    const refuses = `case "$*" in *--hostname*) echo "bwrap: Can't set hostname to ambit: Operation not permitted" >&2; exit 1;; esac`;
    writeFileSync(join(folder, "bwrap"), `#!/bin/sh\n${refuses}\nexec ${real.bubblewrap} "$@"\n`, { mode: 0o755 });
    const detected = detectSandbox({ native: nativeProgram(), folders: [folder], install: () => "install it" });
    if (!detected.ok) throw new Error(detected.refused.message);
    expect(detected.environment.backend.kind).toBe("namespaces");
    const sandboxes = sandboxesIn(folder, { environment: detected.environment });
    const { result, output } = await shell(sandboxes, planFor(folder), "cat /proc/sys/kernel/hostname");
    expect([result.ok, output]).toEqual([true, `${hostname()}\n`]);
  });

  test("our program is not built", () => {
    const detected = detectSandbox({ native: join(folder, "none"), install: () => "install it" });
    expect(detected).toMatchObject({
      ok: false,
      refused: { code: "sandbox_unavailable", fix: expect.stringMatching(/native\.mjs" program$/) },
    });
  });

  test.each([
    ["does not run", "exit 1"],
    ["answers something else", "echo '[1]'"],
  ])("our program %s: no features are known, and nothing runs", async (_what, script) => {
    const native = join(folder, "native");
    writeFileSync(native, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const detected = detectSandbox({ native, install: () => "install it" });
    if (!detected.ok) throw new Error(detected.refused.message);
    expect(sandboxFacts(detected.environment).kernel).toBeNull();
    const sandboxes = sandboxesIn(folder, { environment: detected.environment });
    const { result } = await shell(sandboxes, planFor(folder), "touch ran");
    expect(result).toMatchObject({ ok: false, refused: { code: "sandbox_unavailable" } });
    expect(existsSync(join(folder, "ran"))).toBe(false);
  });
});
