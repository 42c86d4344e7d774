// A program in its sandbox beside the daemon: it sees neither its sockets nor its state, whatever the program's variables name as
// its folders.
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../e2e/ambit.ts";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.make();
  fixture.agent("inside", ["proc.exec", "proc.eval", "fs.read", "fs.write", "memory.write{ask}"], "sandbox: .\n");
  // The ambit program, where the sandboxed program can start it.
  mkdirSync(join(fixture.project, "ambit", "dist"), { recursive: true });
  cpSync(join(root, "bin"), join(fixture.project, "ambit", "bin"), { recursive: true });
  for (const name of readdirSync(join(root, "dist")).filter((one) => /\.(cjs|compiled)$/.test(one)))
    cpSync(join(root, "dist", name), join(fixture.project, "ambit", "dist", name));
  cpSync(join(root, "dist", "native"), join(fixture.project, "ambit", "dist", "native"), { recursive: true });
  cpSync(join(root, "package.json"), join(fixture.project, "ambit", "package.json"));
  await fixture.begin();
});
afterAll(() => fixture?.remove());

async function inside(line: string): Promise<{ readonly status: number | null; readonly out: string }> {
  return fixture.ambit("exec", "inside", "--", "sh", "-c", line);
}

test("neither the state, the configuration nor a socket of ours is visible", async () => {
  const lines = [
    `ls ${fixture.state} && echo seen state`,
    `ls ${fixture.folder} && echo seen sockets`,
    `cat ${fixture.folder}/owner.lock && echo seen lock`,
    `ls ${fixture.config} && echo seen config`,
    `ls ${fixture.base}/state && echo seen around`,
    "find / -name '*.sock' -not -path '/proc/*' 2>/dev/null | grep . && echo seen some",
    "grep -E 'call.sock|control.sock' /proc/net/unix && echo seen in the kernel",
    "echo looked",
  ];
  const { out } = await inside(lines.join("; "));
  expect(out).toContain("looked");
  expect(out).not.toMatch(/^seen/m);
});

test("no descriptor leads to the daemon", async () => {
  const { out } = await inside("for f in /proc/self/fd/*; do readlink $f; done; echo looked");
  expect(out).toContain("looked");
  expect(out).not.toContain(fixture.state);
  expect(out).not.toMatch(/socket:/);
});

test("ambit itself, started inside, reaches no daemon of the host, whatever its variables say", async () => {
  const { pid } = await fixture.status();
  const before = (await fixture.log({ kind: "session" })).length;
  const variables = [
    "",
    `XDG_STATE_HOME=${fixture.base}/state XDG_CONFIG_HOME=${fixture.base}/config`,
    `XDG_STATE_HOME=/proc/1/root${fixture.base}/state XDG_CONFIG_HOME=${fixture.base}/config`,
    `HOME=${fixture.base} XDG_RUNTIME_DIR=/tmp`,
  ];
  for (const set of variables) {
    const words = `${set} timeout 20 node ambit/bin/ambit`;
    const { out } = await inside(
      `${words} --version; ${words} daemon status --json; ${words} freeze --json; ${words} approvals list --json; echo over`,
    );
    expect([set, out.includes("over")]).toEqual([set, true]);
    // It does start, so that its failures are not an accident.
    expect([set, /^\d+\.\d+\.\d+/m.test(out)]).toEqual([set, true]);
    expect([set, out.includes(`"pid":${pid}`), out.includes(fixture.state) && /"isFrozen"/.test(out)]).toEqual([
      set,
      false,
      false,
    ]);
  }
  const { isFrozen } = await fixture.status();
  expect(isFrozen).toBe(false);
  // One session for each `exec` of this test, and none for what was started inside.
  const opened = (await fixture.log({ kind: "session" })).slice(before).filter(({ outcome }) => outcome === "opened");
  expect(opened).toHaveLength(variables.length);
});
