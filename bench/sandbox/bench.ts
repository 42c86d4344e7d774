// `npm run bench -- sandbox`: starts, files and the network, beside a bare process, plain bubblewrap and a peer.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { chdir } from "node:process";
import type { NetworkBroker } from "../../src/sandbox/linux/network.ts";
import { BrokerClient } from "../../src/sandbox/network/client.ts";
import { type Machine, machine } from "../machine.ts";
import { installPeers } from "../peers.ts";
import { rootFolder } from "../place.ts";
import type { Row } from "../row.ts";
import { sandboxesOn, sandboxGround } from "./ambit.ts";
import { measureFiles } from "./file-cases.ts";
import { type BenchFixture, makeFixture, planWith } from "./fixture.ts";
import { IDLE, measureMemory } from "./memory.ts";
import { OneName } from "./names.ts";
import { measureNetwork } from "./network-cases.ts";
import { compilePrograms } from "./network-programs.ts";
import { report } from "./report.ts";
import { RUNTIME, runtimeMissing, type SandboxRuntime, startRuntime } from "./sandbox-runtime.ts";
import { measureStarts } from "./starts.ts";
import { measureWork } from "./work-cases.ts";

export interface SandboxResult {
  readonly bench: "sandbox";
  readonly machine: Machine;
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

const NAME = "api.example.test";
/** What a peer passes on to its programs; nothing of ours reads it. */
const KEPT = ["PATH", "LD_LIBRARY_PATH", "TMPDIR"];

export async function sandboxBench(json: boolean): Promise<void> {
  installPeers();
  const before = machine();
  const fixture = makeFixture();
  // A proxy of the caller's would redirect a peer's connections, and a peer searches its working folder.
  for (const name of Object.keys(process.env)) if (!KEPT.includes(name)) delete process.env[name];
  process.env["HOME"] = fixture.home;
  chdir(fixture.project);
  try {
    const result: SandboxResult = { bench: "sandbox", machine: before, ...(await measureAll(fixture)) };
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : report(result));
  } finally {
    chdir(rootFolder);
    rmSync(fixture.folder, { recursive: true, force: true });
  }
}

async function measureAll(fixture: BenchFixture): Promise<Pick<SandboxResult, "rows" | "notes">> {
  const { server: program, client } = compilePrograms(fixture.folder, fixture.project);
  const server = spawn(program, [], { stdio: ["ignore", "pipe", "inherit"], env: {} });
  const names = new OneName(NAME);
  const broker = new BrokerClient(join(rootFolder, "dist", "broker.cjs"));
  const kernel = sandboxGround();
  const network = brokerWith(broker, await names.start());
  const sandboxes = sandboxesOn(kernel, fixture, network, true);
  const ungrouped = sandboxesOn(kernel, fixture, null, false);
  const unmounted = { ...kernel, backend: { kind: "supervised", because: "measured" } as const };
  const supervised = sandboxesOn(unmounted, fixture, network, false);
  const missing = runtimeMissing();
  const notes = missing.map((one) => `${RUNTIME} is not measured: there is no ${one} on the PATH`);
  let runtime: SandboxRuntime | null = null;
  try {
    const port = await portOf(server);
    const planned = planWith(fixture, []);
    const networked = planWith(fixture, [`net.connect{hosts=[${NAME}],ports=[${port}],private=[${NAME}=127.0.0.1]}`]);
    if (missing.length === 0) runtime = await startRuntime(fixture);
    say("memory");
    const idle = await measureMemory(sandboxes, planned);
    if (idle === null) notes.push(`${IDLE}: the kernel does not tell us`);
    say("starts");
    const starts = await measureStarts({
      ground: kernel,
      planned,
      networked,
      sandboxes,
      ungrouped,
      supervised,
      runtime,
    });
    const megabytes = Math.round(process.memoryUsage.rss() / 1e6);
    notes.push(`the measuring process held ${megabytes} MB, and every spawn of Node's costs more the more that is`);
    say("files");
    const files = await measureFiles(kernel, fixture);
    const work = await measureWork(fixture, supervised);
    say("network");
    const ways = await measureNetwork({ sandboxes, supervised, networked, client, name: NAME, port, runtime });
    return {
      rows: [...starts.rows, ...(idle === null ? [] : [idle]), ...files, ...work, ...ways.rows],
      notes: [...notes, ...starts.notes, ...ways.notes],
    };
  } finally {
    await Promise.all([sandboxes.end(null), ungrouped.end(null), supervised.end(null)]);
    await broker.stop();
    await runtime?.close();
    names.stop();
    server.kill("SIGKILL");
  }
}

function brokerWith(broker: BrokerClient, resolver: string): NetworkBroker {
  return {
    open: (wish) => broker.open({ ...wish, resolver: { servers: [resolver] } }),
  };
}

async function portOf({ stdout }: ChildProcess): Promise<number> {
  if (stdout === null) throw new Error("the server has no output");
  const [said] = (await once(stdout, "data")) as [Buffer];
  const port = Number(said.toString().trim());
  if (!(port > 0)) throw new Error("the server did not start");
  return port;
}

function say(what: string): void {
  process.stderr.write(`bench: ${what}\n`);
}
