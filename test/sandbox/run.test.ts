// One command in a real sandbox: how it ends, its output, its input, and what it cannot do.
import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import type { Plan } from "../../src/sandbox/plan/plan.ts";
import { changedBy, draftsIn, ownFolder, planFor, ranOf, removeFolder, run, sandboxesIn, shell } from "./fixture.ts";
import { mountsNaming, processesLeft } from "./leftovers.ts";

let folder = "";
let sandboxes: LinuxSandboxes;
let plan: Plan;
beforeAll(() => {
  folder = ownFolder();
  sandboxes = sandboxesIn(folder);
  plan = planFor(folder);
});
afterAll(async () => {
  await sandboxes.end(null);
  const left = await processesLeft(folder);
  const mounts = mountsNaming(folder);
  removeFolder(folder);
  expect([left, mounts]).toEqual([[], []]);
});

describe("how a command ends", () => {
  test.each([
    [["/usr/bin/true"], { kind: "exited", status: 0 }],
    [["/bin/sh", "-c", "exit 7"], { kind: "exited", status: 7 }],
    [["/bin/sh", "-c", "kill -9 $$"], { kind: "signalled", signal: 9 }],
    [["sh", "-c", "exit 3"], { kind: "exited", status: 3 }],
    [["no-such-program"], { kind: "unstarted", reason: "no such program on the sandbox's PATH", isMissing: true }],
    [
      ["/etc/os-release"],
      { kind: "unstarted", reason: "it may not be executed: it is a folder, or a file without `chmod +x`" },
    ],
  ] as const)("%j", async (argv, ending) => {
    expect(ranOf(await run(sandboxes, plan, [...argv])).ending).toEqual(ending);
  });

  test("it exceeds its time limit", async () => {
    const limited = { ...plan, limits: { ...plan.limits, wallMilliseconds: 300 } };
    const told = await shell(sandboxes, limited, "echo begun; sleep 600 & sleep 600");
    expect(ranOf(told).ending).toEqual({ kind: "ended", because: "time" });
    expect(told.output).toBe("begun\n");
  });

  test("it exceeds its output limit; dropped bytes are counted", async () => {
    const limited = { ...plan, limits: { ...plan.limits, outputBytes: 100_000 } };
    const told = await shell(sandboxes, limited, "head -c 300000 /dev/zero; sleep 600");
    expect(ranOf(told).ending).toEqual({ kind: "ended", because: "output" });
    expect(told.output.length).toBe(100_000);
    expect(ranOf(told).outputDropped).toBeGreaterThan(0);
  });

  test("output of exactly the limit is not too much", async () => {
    const limited = { ...plan, limits: { ...plan.limits, outputBytes: 100_000 } };
    const told = await shell(sandboxes, limited, "head -c 100000 /dev/zero");
    expect([ranOf(told).ending, ranOf(told).outputDropped]).toEqual([{ kind: "exited", status: 0 }, 0]);
  });

  test("it is cancelled, while it runs and before it starts", async () => {
    const cancel = new AbortController();
    const running = shell(sandboxes, plan, "echo begun; sleep 600", {
      signal: cancel.signal,
      sinks: { output: () => cancel.abort(), errors: () => {} },
    });
    expect(ranOf(await running).ending).toEqual({ kind: "ended", because: "stopped" });
    const again = await shell(sandboxes, plan, `touch ${folder}/never`, { signal: cancel.signal });
    expect(ranOf(again).ending).toEqual({ kind: "ended", because: "stopped" });
    expect(existsSync(`${folder}/never`)).toBe(false);
  });

  test("it is stopped although it does not read its input", async () => {
    const cancel = new AbortController();
    // More than the pipe holds: the second part waits for room when the command is stopped.
    const endless = async function* (): AsyncIterable<Uint8Array> {
      for (;;) yield new Uint8Array(1_048_576);
    };
    const running = shell(sandboxes, plan, "echo begun; sleep 600", {
      signal: cancel.signal,
      input: endless(),
      sinks: { output: () => void setImmediate(() => cancel.abort()), errors: () => {} },
    });
    expect(ranOf(await running).ending).toEqual({ kind: "ended", because: "stopped" });
  });

  test("an argument that cannot be passed is refused, and nothing runs", async () => {
    const { result } = await run(sandboxes, plan, ["/usr/bin/touch", `${folder}/zero\0byte`]);
    expect(result).toMatchObject({ ok: false, refused: { code: "invalid_input" } });
    expect(existsSync(`${folder}/zero`)).toBe(false);
  });

  test("a sink that throws ends the command, and its error is passed on", async () => {
    const sinks = {
      output: () => {
        throw new Error("full");
      },
      errors: () => {},
    };
    await expect(shell(sandboxes, plan, "echo one; sleep 600", { sinks })).rejects.toThrow("full");
    expect((await shell(sandboxes, plan, "echo next")).output).toBe("next\n");
  });
});

describe("its input and output", () => {
  test("both streams, separately", async () => {
    const told = await shell(sandboxes, plan, "echo out; echo err >&2");
    expect([told.output, told.errors]).toEqual(["out\n", "err\n"]);
  });

  test("an input of any size, to its end", async () => {
    const parts = async function* (): AsyncIterable<Uint8Array> {
      for (let part = 0; part < 40; part++) yield new Uint8Array(100_000).fill(97);
    };
    expect((await run(sandboxes, plan, ["wc", "-c"], { input: parts() })).output).toBe("4000000\n");
  });

  test("no input is an empty one", async () => {
    expect((await run(sandboxes, plan, ["wc", "-c"])).output).toBe("0\n");
  });

  test("an input that fails ends the command: half of it is not all of it", async () => {
    const broken = async function* (): AsyncIterable<Uint8Array> {
      yield Buffer.from("half");
      throw new Error("gone");
    };
    const told = await shell(sandboxes, plan, "cat; sleep 600", { input: broken() });
    expect(ranOf(told).ending).toEqual({ kind: "ended", because: "stopped" });
  });

  test("a command that does not read its input still ends", async () => {
    const endless = async function* (): AsyncIterable<Uint8Array> {
      for (;;) yield new Uint8Array(65_536);
    };
    expect(ranOf(await run(sandboxes, plan, ["/usr/bin/true"], { input: endless() })).ending.kind).toBe("exited");
  });

  test("megabytes arrive whole", async () => {
    const told = await shell(sandboxes, plan, "head -c 5000000 /dev/zero | tr '\\0' x");
    expect(told.output).toBe("x".repeat(5_000_000));
  });

  test("its resource usage is reported", async () => {
    const { usage } = ranOf(await shell(sandboxes, plan, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"));
    expect(usage.wallMicroseconds).toBeGreaterThan(0);
    expect(usage.userMicroseconds + usage.systemMicroseconds).toBeGreaterThan(0);
    expect(usage.memoryKibibytes).toBeGreaterThan(100);
  });

  test("each axis names what enforced it", async () => {
    const { enforcement } = ranOf(await run(sandboxes, plan, ["/usr/bin/true"]));
    expect(enforcement.find(({ axis }) => axis === "root")).toMatchObject({ strength: "kernel" });
    expect(enforcement.find(({ axis }) => axis === "argv")?.note).toContain("limits apply to each process only");
  });
});

describe("what it has", () => {
  test("the plan's environment and nothing of ours", async () => {
    process.env["AMBIT_TEST_SECRET"] = "secret";
    const told = await run(
      sandboxes,
      {
        ...plan,
        environment: [
          ["PATH", "/usr/bin"],
          ["WORD", "a b"],
        ],
      },
      ["env"],
    );
    expect(told.output.split("\n").sort()).toEqual(["", "PATH=/usr/bin", "WORD=a b"]);
  });

  test("three descriptors", async () => {
    const told = await run(sandboxes, plan, ["ls", "/proc/self/fd"]);
    // The fourth is the folder that is being listed.
    expect(told.output.trim().split("\n")).toEqual(["0", "1", "2", "3"]);
  });

  test("its folder, writable as a draft, and no other of the host", async () => {
    const wrote = await shell(sandboxes, plan, "echo text > file");
    expect(ranOf(wrote).ending).toEqual({ kind: "exited", status: 0 });
    expect(readFileSync(`${changedBy(wrote, folder)}/file`, "utf8")).toBe("text\n");
    expect(existsSync(`${folder}/file`)).toBe(false);
    const told = await shell(sandboxes, plan, `ls ${folder}/.. /home /root; touch /usr/x; touch /x`);
    expect(told.errors).not.toBe("");
    expect(told.output).not.toContain("-state");
    expect([existsSync("/usr/x"), existsSync("/x")]).toEqual([false, false]);
  });

  test("no draft if it changes nothing, and then no folder is kept for it", async () => {
    await sandboxes.end(null);
    const before = draftsIn(folder).list().length;
    expect(ranOf(await shell(sandboxes, plan, "ls")).draft).toBeNull();
    await sandboxes.end(null);
    expect(draftsIn(folder).list()).toHaveLength(before);
  });

  test("a read-only folder cannot be written", async () => {
    const { root } = plan;
    if (root === null) throw new Error("the plan has a root");
    const told = await shell(sandboxes, { ...plan, root: { ...root, mode: "ro" } }, "echo no > other");
    expect(told.errors).toContain("Read-only");
    expect(existsSync(`${folder}/other`)).toBe(false);
  });

  test("without a root, no folder of the host at all", async () => {
    const told = await shell(sandboxes, { ...plan, root: null, directory: ["tmp"] }, `pwd; ls ${folder}`);
    expect(told.output).toBe("/tmp\n");
    expect(told.errors).toContain("No such file");
  });
});
