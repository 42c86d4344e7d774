// Real container engines, with storage of their own in a cache folder: Docker by a daemon that we start, and Podman. Their image is
// built by `deploy/Containerfile` on a base that debootstrap makes, so that no image is pulled.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "jsonc-parser";
import { expect } from "vitest";
import { root } from "../e2e/ambit.ts";
import { until } from "../house/until.ts";

/** Not in the checkout: containers mount that, and would see a whole /proc in the folder of another container. */
const CACHE = "/var/cache/ambit-engines";
const SUITE = "trixie";
/** Beside what the image needs itself: programs that the tests use in it. */
const INCLUDE = "ca-certificates,libcap2-bin,curl,python3";
const buildMillisecondsMax = 1_800_000;
const runMillisecondsMax = 600_000;

export interface EngineRun {
  readonly status: number | null;
  readonly output: string;
}

export interface Engine {
  readonly name: "docker" | "podman";
  /** The options of docs/guides/containers.md for the sandbox with namespaces. */
  readonly options: readonly string[];
  /** `options` of the engine's `run`, then the words in the container. */
  run(options: readonly string[], words: readonly string[]): EngineRun;
  /** Builds the image of `.devcontainer`, and runs a command in `folder` as an editor does. */
  develop(folder: string, words: readonly string[]): EngineRun;
  end(): Promise<void>;
}

/** A tar of the base, and a folder with the packed package. */
export function prepareBase(): { readonly base: string; readonly context: string } {
  mkdirSync(CACHE, { recursive: true });
  const base = join(CACHE, `${SUITE}.tar`);
  if (!existsSync(base)) makeBase(base);
  const context = mkdtempSync(join(tmpdir(), "ambit-engines-"));
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", context], { cwd: root });
  cpSync(join(root, "deploy", "Containerfile"), join(context, "Containerfile"));
  return { base, context };
}

function makeBase(base: string): void {
  const folder = mkdtempSync(join(CACHE, "root-"));
  const quiet = { stdio: ["ignore", "ignore", "inherit"] as ["ignore", "ignore", "inherit"] };
  execFileSync("debootstrap", ["--variant=minbase", `--include=${INCLUDE}`, SUITE, folder], quiet);
  // The registries that this machine reaches may be known by certificates of its own.
  const certificates = "/usr/local/share/ca-certificates";
  if (existsSync(certificates)) cpSync(certificates, join(folder, certificates), { recursive: true });
  execFileSync("chroot", [folder, "update-ca-certificates"], { stdio: "ignore" });
  for (const name of readdirSync(join(folder, "var/cache/apt/archives")).filter((one) => one.endsWith(".deb")))
    rmSync(join(folder, "var/cache/apt/archives", name));
  execFileSync("tar", ["-C", folder, "-cf", `${base}.part`, "."]);
  execFileSync("mv", [`${base}.part`, base]);
  rmSync(folder, { recursive: true });
}

const BASE_IMAGE = "docker.io/library/debian:trixie-slim";

/** `base` as the image that the Containerfile begins with, and the Containerfile built. */
function build(words: readonly string[], limits: readonly string[], base: string, context: string): void {
  // Imported once: the layers of an earlier build are then found again.
  if (start([...words, "image", "inspect", BASE_IMAGE], buildMillisecondsMax).status !== 0)
    command(words, ["import", base, BASE_IMAGE], buildMillisecondsMax);
  const file = ["--file", join(context, "Containerfile"), "--tag", "ambit", context];
  command(words, ["build", ...limits, "--network", "host", ...file], buildMillisecondsMax);
}

function command(words: readonly string[], more: readonly string[], timeout: number): string {
  const { status, output } = start([...words, ...more], timeout);
  if (status !== 0) throw new Error(`${[...words, ...more].join(" ")}: ${status}\n${output.slice(-4000)}`);
  return output;
}

function start([program = "", ...words]: readonly string[], timeout: number): EngineRun {
  const options = { encoding: "utf8", timeout, killSignal: "SIGKILL", maxBuffer: 64 << 20 } as const;
  const { status, stdout, stderr } = spawnSync(program, words, options);
  return { status, output: `${stdout ?? ""}${stderr ?? ""}` };
}

export async function startDocker(base: string, context: string): Promise<Engine> {
  const own = mkdtempSync(join(tmpdir(), "ambit-docker-"));
  const log = join(own, "log");
  const socket = `unix://${join(own, "socket")}`;
  // No network of containers is used: neither rules nor a bridge are made.
  const daemon = spawn(
    "dockerd",
    [
      ...["--iptables=false", "--bridge=none", "--host", socket, "--pidfile", join(own, "pid")],
      ...["--data-root", join(CACHE, "docker"), "--exec-root", join(own, "exec")],
    ],
    // A file, not a pipe: nothing reads a pipe while we wait for a container, and dockerd stops once it is full.
    { stdio: ["ignore", "ignore", openSync(log, "a")] },
  );
  const words = ["docker", "--host", socket];
  await until(() => {
    if (daemon.exitCode !== null) throw new Error(`dockerd ended: ${readFileSync(log, "utf8").slice(-4000)}`);
    return start([...words, "version"], 10_000).status === 0;
  }, "dockerd answers");
  build(words, [], base, context);
  const security = ["seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined"];
  return {
    name: "docker",
    options: security.flatMap((one) => ["--security-opt", one]),
    run: (options, more) => runIn(words, options, more),
    develop: (folder, more) => developIn(words, [], readDevcontainer(), folder, more),
    end: () => ended(daemon, own),
  };
}

export function startPodman(base: string, context: string): Engine {
  // Podman wants the same two folders each time, the second with a short name.
  const folders = ["--root", join(CACHE, "podman"), "--runroot", "/run/ambit-podman"];
  const words = ["podman", ...folders, "--runtime", "runc"];
  // Podman asks for more than a root without CAP_SYS_RESOURCE may have.
  const limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000"];
  build(words, limits, base, context);
  return {
    name: "podman",
    options: ["--security-opt", "unmask=ALL", "--security-opt", "apparmor=unconfined"],
    run: (options, more) => runIn(words, [...limits, ...options], more),
    develop: (folder, more) => {
      const { runArgs, ...rest } = readDevcontainer();
      // As docs/guides/containers.md says.
      const options = runArgs.map((one) => one.replace("systempaths=unconfined", "unmask=ALL"));
      return developIn(words, limits, { ...rest, runArgs: options }, folder, more);
    },
    end: async () => {},
  };
}

function runIn(words: readonly string[], options: readonly string[], more: readonly string[]): EngineRun {
  const standard = ["--rm", "--network", "none", "--entrypoint", ""];
  return start([...words, "run", ...standard, ...options, "ambit", ...more], runMillisecondsMax);
}

/** Of `devcontainer.json`, what an engine needs. */
interface Devcontainer {
  readonly build: { readonly dockerfile: string };
  readonly runArgs: readonly string[];
  readonly mounts: readonly string[];
  readonly remoteUser: string;
  readonly postCreateCommand: string;
}

function readDevcontainer(): Devcontainer {
  const found = parse(readFileSync(join(root, ".devcontainer", "devcontainer.json"), "utf8")) as Devcontainer;
  // An entry that is not known here would be one that is not tried.
  const known = ["name", "build", "runArgs", "mounts", "postCreateCommand", "remoteUser"];
  expect(Object.keys(found).toSorted()).toEqual(known.toSorted());
  return found;
}

function developIn(
  words: readonly string[],
  limits: readonly string[],
  { build: { dockerfile }, runArgs, mounts, remoteUser, postCreateCommand }: Devcontainer,
  folder: string,
  more: readonly string[],
): EngineRun {
  const context = join(root, ".devcontainer");
  const file = ["--file", join(context, dockerfile), "--tag", "ambit-devcontainer", context];
  command(words, ["build", ...limits, "--network", "host", ...file], buildMillisecondsMax);
  const volumes = mounts.map((mount) => /^source=([^,]+),/.exec(mount)?.[1] ?? "");
  start([...words, "volume", "rm", "--force", ...volumes], runMillisecondsMax);
  const place = ["--volume", `${folder}:/workspaces/ambit`, "--workdir", "/workspaces/ambit", "--user", remoteUser];
  const options = [...limits, ...runArgs, ...mounts.flatMap((mount) => ["--mount", mount]), ...place];
  const script = `${postCreateCommand} && exec "$@"`;
  return start(
    [...words, "run", "--rm", "--network", "host", ...options, "ambit-devcontainer", "sh", "-c", script, "sh", ...more],
    buildMillisecondsMax,
  );
}

async function ended(daemon: ChildProcess, own: string): Promise<void> {
  daemon.kill("SIGTERM");
  await until(() => daemon.exitCode !== null || daemon.signalCode !== null, "dockerd ends");
  // A network namespace that dockerd leaves mounted.
  const space = join(own, "exec", "netns", "default");
  if (existsSync(space)) spawnSync("umount", [space]);
  rmSync(own, { recursive: true, force: true });
}
