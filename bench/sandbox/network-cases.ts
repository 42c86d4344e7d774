// The path to a server on loopback: direct, through our broker, through a peer's proxy.
import type { LinuxSandboxes } from "../../src/sandbox/linux/linux-sandboxes.ts";
import type { Row } from "../row.ts";
import { newOwner, OURS, runInside } from "./ambit.ts";
import { runBare } from "./bare.ts";
import type { Planned } from "./fixture.ts";
import { downloadBytes } from "./network-programs.ts";
import { RUNTIME, type SandboxRuntime } from "./sandbox-runtime.ts";
import { type Measured, UNMOUNTED, withoutMounts } from "./starts.ts";
import { byTurns, type Contender, timeRounds } from "./turns.ts";

export const DIRECT = "direct";
export const CONNECT = "connect and 1 byte";
export const ROUND_TRIP = "round trip, kept alive";
export const DOWNLOAD = "256 MiB";
export const CURL_SMALL = "curl, small";
export const CURL_COMMAND = "curl, small, the whole command";
export const CURL_DOWNLOAD = "curl, 256 MiB";

const turnsCount = 7;
const curlTurnsCount = 40;
const downloadTurnsCount = 7;

export interface NetworkOptions {
  readonly sandboxes: LinuxSandboxes;
  /** Without namespaces. */
  readonly supervised: LinuxSandboxes;
  readonly networked: Planned;
  readonly client: string;
  readonly name: string;
  readonly port: number;
  readonly runtime: SandboxRuntime | null;
}

/** A peer's relay inside may not listen yet when the command begins; such a turn is repeated, and counted. */
const relayTriesMax = 20;

export async function measureNetwork(asked: NetworkOptions): Promise<Measured> {
  const { sandboxes, supervised, networked, client, name, port, runtime } = asked;
  const [owner, unmountedOwner] = [newOwner(), newOwner()];
  const unmounted = withoutMounts(networked);
  const inside = (argv: readonly [string, ...string[]]): Promise<string> =>
    runInside(sandboxes, owner, networked, argv);
  const rows: Row[] = [];
  for (const [title, word, turns, count] of [
    [CONNECT, "connect", turnsCount, 50],
    [ROUND_TRIP, "keep", turnsCount, 400],
    [DOWNLOAD, "download", downloadTurnsCount, 1],
  ] as const)
    rows.push(
      ...(await byTurns(title, turns, [
        {
          subject: DIRECT,
          turn: async () => numbers(await runBare(client, ["127.0.0.1", `${port}`, word, `${count}`]), count),
        },
        {
          subject: OURS,
          turn: async () => numbers(await inside([client, name, `${port}`, word, `${count}`]), count),
        },
        {
          subject: UNMOUNTED,
          turn: async () => {
            const argv = [client, name, `${port}`, word, `${count}`] as const;
            return numbers(await runInside(supervised, unmountedOwner, unmounted, [...argv]), count);
          },
        },
      ])),
    );
  const curls = (path: string, bytes: number, whole: boolean): readonly Contender[] => {
    const turn = (run: () => Promise<string>) => async (): Promise<readonly number[]> => {
      let told = "";
      const took = await timeRounds(async () => {
        told = await run();
      });
      return whole ? took : [curlNanoseconds(told, bytes)];
    };
    const [program, ...words] = curl(`http://${name}:${port}${path}`);
    const direct = curl(`http://127.0.0.1:${port}${path}`).slice(1);
    const contenders: Contender[] = [
      { subject: DIRECT, turn: turn(() => runBare(program, direct)) },
      { subject: OURS, turn: turn(() => inside([program, ...words])) },
    ];
    const line = curl(`http://localhost:${port}${path}`)
      .map((word) => `'${word}'`)
      .join(" ");
    if (runtime !== null) contenders.push({ subject: RUNTIME, turn: () => again(turn(() => runtime.run(line))) });
    return contenders;
  };
  let failed = 0;
  let tried = 0;
  const again = async (turn: () => Promise<readonly number[]>): Promise<readonly number[]> => {
    for (let left = relayTriesMax; ; left--) {
      tried++;
      try {
        return await turn();
      } catch (problem) {
        failed++;
        if (left === 0) throw problem;
      }
    }
  };
  rows.push(
    ...(await byTurns(CURL_SMALL, curlTurnsCount, curls("/", 6, false))),
    ...(await byTurns(CURL_COMMAND, curlTurnsCount, curls("/", 6, true))),
    ...(await byTurns(CURL_DOWNLOAD, downloadTurnsCount, curls("/large", downloadBytes, false))),
  );
  const notes = failed === 0 ? [] : [`${RUNTIME}, curl: ${failed} of ${tried} failed and were tried again`];
  return { rows, notes };
}

/** `--noproxy`: a peer tells programs to connect to localhost directly, where nothing listens inside its sandbox. */
function curl(url: string): readonly [string, ...string[]] {
  const said = "%{http_code} %{size_download} %{time_total}";
  return ["/usr/bin/curl", "-q", "-s", "-S", "-o", "/dev/null", "--noproxy", "", "-w", said, url];
}

function curlNanoseconds(told: string, bytes: number): number {
  const [status, size, seconds] = told.trim().split(" ").map(Number);
  if (status !== 200 || size !== bytes || seconds === undefined) throw new Error(`curl said ${JSON.stringify(told)}`);
  return seconds * 1e9;
}

function numbers(told: string, count: number): readonly number[] {
  const values = told.trim().split("\n").map(Number);
  if (values.length !== count || values.some((value) => !(value > 0))) throw new Error(`the client said ${told}`);
  return values;
}
