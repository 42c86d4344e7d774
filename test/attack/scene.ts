// The scene of the attacks: a root with protected names, secrets beside it, and the machine's own sockets and memory.
import { execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { prepareState } from "../house/daemon-state.ts";
import { writeFiles } from "../house/files.ts";
import { removeState } from "../house/remove-state.ts";
import type { CallerFacts } from "./callers.ts";
import type { Compiled } from "./compiled.ts";

export interface Scene {
  readonly folder: string;
  readonly root: string;
  /** The value in the environment and in the secret file; no process in a sandbox may ever print it. */
  readonly token: string;
  /** For the owner of a sandbox. */
  readonly environment: Readonly<Record<string, string>>;
  /** The clients that reached the machine's sockets, by name; removes everything. */
  end(): Promise<Readonly<Record<string, number>>>;
}

/** Beyond the limits of the configuration below, and not far beyond. */
const TRIED: readonly string[] = [
  "processes_tried=400",
  "memory_tried_mib=640",
  "disk_tried_mib=96",
  "file_tried_mib=80",
  "files_tried=4096",
];
export const CONFIGURATION =
  "limits:\n  seconds: 60\n  memory_mib: 512\n  processes: 200\n  file_mib: 64\n  temporary_mib: 48\n  output_mib: 4\n";

/** Not below /tmp, which is private in a sandbox. */
const BASE = "/var/tmp";

export async function makeScene({ user, group, prefix, backend }: CallerFacts, programs: Compiled): Promise<Scene> {
  const folder = mkdtempSync(join(BASE, "ambit-attack-"));
  const root = join(folder, "root");
  const token = `token-${randomInt(2 ** 40)}`;
  fill(folder, token);
  prepareState(join(folder, "state"), join(folder, "config"));
  copyFileSync(programs.probe, join(root, "probe"));
  chmodSync(join(root, "probe"), 0o755);
  give(folder, user, group);
  chmodSync(folder, 0o755);
  const keeper = await startKeeper(prefix, programs.keeper, folder);
  // Without namespaces a program works in a copy, whose path it alone knows.
  const facts = [
    `root=${backend === "supervised" ? "." : root}`,
    `token=${token}`,
    ...paths(folder),
    ...TRIED,
    ...keeper.lines,
  ];
  writeFileSync(join(root, "scene"), `${facts.join("\n")}\n`);
  return {
    folder,
    root,
    token,
    environment: {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: join(folder, "home"),
      XDG_STATE_HOME: join(folder, "state"),
      XDG_CONFIG_HOME: join(folder, "config"),
      NO_COLOR: "1",
      ATTACK_SECRET: token,
      LD_LIBRARY_PATH: join(root, "libraries"),
    },
    end: async () => {
      const visits = await keeper.end();
      removeState(folder);
      return visits;
    },
  };
}

function fill(folder: string, token: string): void {
  writeFiles(folder, files(token));
  symlinkSync(join(folder, "outside", "secret"), join(folder, "root", "secret-link"));
  if (!existsSync(join(folder, "outside", "link"))) symlinkSync("secret", join(folder, "outside", "link"));
}

/** Every name of the root with its `lstat` and its content. */
export function rootOf({ root }: Scene): Readonly<Record<string, string>> {
  const names = (readdirSync(root, { recursive: true }) as string[]).filter((name) => !/^[sd](\/|$)/.test(name));
  return Object.fromEntries(
    names.sort().map((name) => {
      const path = join(root, name);
      const { mode, uid, gid, ino, ctimeNs } = lstatSync(path, { bigint: true });
      const text = lstatSync(path).isFile() ? readFileSync(path, "latin1") : "";
      return [name, [mode, uid, gid, ino, ctimeNs, text].join(" ")];
    }),
  );
}

/** Not compared: the probe and its facts, and the sockets of the machine. */
const STAYS: readonly string[] = ["probe", "scene", "s", "d"];

/** The root as it was at first, whatever was done to it since. */
export function restoreRoot({ folder, root, token }: Scene, { user, group }: CallerFacts): void {
  for (const name of readdirSync(root))
    if (!STAYS.includes(name)) rmSync(join(root, name), { recursive: true, force: true });
  fill(folder, token);
  for (const name of readdirSync(root)) give(join(root, name), user, group);
}

function files(token: string): Readonly<Record<string, string>> {
  return {
    "outside/secret": `${token}\n`,
    "outside/canary": "as it was\n",
    "home/.profile": "",
    "config/ambit/config.yml": CONFIGURATION,
    "state/ambit/state": `${token}\n`,
    "program/package.json": "{}\n",
    "root/.git/HEAD": "ref: refs/heads/main\n",
    "root/.git/config": "[core]\n\tbare = false\n",
    "root/.git/hooks/pre-commit": "#!/bin/sh\n",
    "root/.git/objects/info/x": "",
    "root/.git/refs/heads/x": "",
    "root/.bashrc": "# as it was\n",
    "root/.ambit/agents/probe.md": RECORD,
    "root/.vscode/settings.json": "{}\n",
    "root/.claude/settings.json": "{}\n",
    "root/.mcp.json": "{}\n",
    "root/node_modules/ambit/package.json": "{}\n",
    "root/src/main.c": "int main(void) { return 0; }\n",
  };
}

const RECORD = "---\nid: probe\nsandbox: .\ncapabilities:\n  - proc.exec\n---\n";

function paths(folder: string): readonly string[] {
  const at = (path: string): string => join(folder, path);
  return [
    `outside=${at("outside")}`,
    `secret=${at("outside/secret")}`,
    `canary=${at("outside/canary")}`,
    `state=${at("state/ambit")}`,
    `state_file=${at("state/ambit/state")}`,
    `config_file=${at("config/ambit/config.yml")}`,
    `program_file=${at("program/package.json")}`,
  ];
}

/** Everything below belongs to the caller: ordinary file permissions do not confine the sandbox. */
function give(path: string, user: number, group: number): void {
  lchownSync(path, user, group);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) give(join(path, name), user, group);
}

/** Copies of the probe with privileges; only root can make them. */
export function plantCarriers(scene: Scene, probe: string): void {
  const copies: readonly (readonly [name: string, user: number, group: number, mode: number])[] = [
    ["set-user-id", 0, 0, 0o4755],
    ["set-group-id", 0, 54_321, 0o2755],
  ];
  for (const [name, user, group, mode] of [...copies, ["capable", 0, 0, 0o755] as const]) {
    const path = join(scene.root, name);
    copyFileSync(probe, path);
    chownSync(path, user, group);
    chmodSync(path, mode);
  }
  execFileSync("setcap", ["cap_net_raw,cap_dac_override+ep", join(scene.root, "capable")]);
}

interface Keeper {
  readonly lines: readonly string[];
  end(): Promise<Readonly<Record<string, number>>>;
}

async function startKeeper(prefix: readonly string[], program: string, folder: string): Promise<Keeper> {
  const key = randomInt(1, 2 ** 30);
  const [command = "", ...words] = [...prefix, program, folder, `ambit-attack-${key}`, String(key)];
  const child = spawn(command, words, { stdio: ["pipe", "pipe", "inherit"], cwd: "/" });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const before: string[] = [];
  for (let line = await lines.next(); line.value !== "."; line = await lines.next()) {
    if (line.done === true) throw new Error("the keeper did not start");
    before.push(line.value);
  }
  return {
    lines: before,
    end: async () => {
      const ended = once(child, "exit");
      child.stdin.end();
      const visits: Record<string, number> = {};
      for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
        const [name = "", count = "0"] = line.value.split("=");
        visits[name] = Number(count);
      }
      await ended;
      return visits;
    },
  };
}
