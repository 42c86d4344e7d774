// Detects agent clients, MCP servers, toolchains and git in a project, by reading few files and running nothing.
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ClientName, FoundClient, FoundServer, FoundToolchain, Surroundings } from "../core/ports/surroundings.ts";
import { readTextFile } from "./files.ts";
import { serverNames } from "./server-names.ts";

const settingsCharactersMax = 262_144;
const serversMax = 64;
const foldersMax = 256;

/** `path`: the folders of the caller's programs. */
export function detect(project: string, home: string | null, path = ""): Surroundings {
  return {
    isGit: isInGit(project),
    clients: CLIENTS.flatMap((one) => clientAt(project, path, one)),
    servers: serversAt(project),
    toolchains: TOOLCHAINS.flatMap((one) => toolchainAt(project, home, one)),
    sample: ["README.md", "package.json", "pyproject.toml", "Cargo.toml", "go.mod"].find(there(project)) ?? null,
  };
}

interface ClientSigns {
  readonly client: ClientName;
  readonly program: string;
  readonly signs: readonly string[];
}

const CLIENTS: readonly ClientSigns[] = [
  { client: "claude", program: "claude", signs: [".claude", "CLAUDE.md"] },
  { client: "codex", program: "codex", signs: [".codex", "AGENTS.md"] },
  { client: "opencode", program: "opencode", signs: ["opencode.json", "opencode.jsonc", ".opencode"] },
  { client: "gemini", program: "gemini", signs: [".gemini", "GEMINI.md"] },
  { client: "cursor", program: "cursor-agent", signs: [".cursor", ".cursorrules"] },
  { client: "copilot", program: "copilot", signs: [".github/copilot-instructions.md"] },
  { client: "vscode", program: "code", signs: [".vscode/mcp.json", ".github/hooks"] },
];

function clientAt(project: string, path: string, { client, program, signs }: ClientSigns): readonly FoundClient[] {
  const programs = programsOnPath([program], path).map((one) => one.path);
  const because = [...signs.filter(there(project)), ...programs];
  return because.length === 0 ? [] : [{ client, because }];
}

/** The key under which each settings file lists its servers. */
const SERVER_FILES: readonly (readonly [file: string, key: string])[] = [
  [".mcp.json", "mcpServers"],
  [".claude/settings.json", "mcpServers"],
  [".claude/settings.local.json", "mcpServers"],
  [".codex/config.toml", "mcp_servers"],
  ["opencode.json", "mcp"],
  ["opencode.jsonc", "mcp"],
  [".gemini/settings.json", "mcpServers"],
];

function serversAt(project: string): readonly FoundServer[] {
  const found = SERVER_FILES.flatMap(([file, key]) => {
    const content = readTextFile(join(project, file), settingsCharactersMax);
    return content.ok ? serverNames(content.text, file, key).map((name) => ({ name, file })) : [];
  });
  return found.slice(0, serversMax);
}

interface Toolchain {
  readonly name: string;
  readonly files: readonly string[];
  /** Version managers and their program folders below the home folder: no settings folders, which may hold keys. */
  readonly keepers: readonly (readonly [name: string, folders: readonly string[]])[];
}

const ASDF = ["asdf", [".asdf/installs", ".asdf/shims"]] as const;
const MISE = ["mise", [".local/share/mise/installs", ".local/share/mise/shims"]] as const;

const TOOLCHAINS: readonly Toolchain[] = [
  {
    name: "node",
    files: ["package.json", ".nvmrc", ".node-version"],
    keepers: [["nvm", [".nvm/versions"]], ["volta", [".volta/bin", ".volta/tools"]], ASDF, MISE],
  },
  {
    name: "python",
    files: ["pyproject.toml", "requirements.txt", "setup.py", "uv.lock", ".python-version"],
    keepers: [["uv", [".local/share/uv/python"]], ["pyenv", [".pyenv/shims", ".pyenv/versions"]], ASDF, MISE],
  },
  {
    name: "cargo",
    files: ["Cargo.toml", "rust-toolchain.toml"],
    keepers: [["rustup", [".cargo/bin", ".rustup/toolchains"]], ASDF, MISE],
  },
  { name: "go", files: ["go.mod", "go.work"], keepers: [ASDF, MISE] },
];

function toolchainAt(
  project: string,
  home: string | null,
  { name, files, keepers }: Toolchain,
): readonly FoundToolchain[] {
  const because = files.find(there(project));
  if (because === undefined) return [];
  const found = home === null ? undefined : keepers.find(([, [first = ""]]) => existsSync(join(home, first)));
  const keeper =
    found === undefined || home === null
      ? null
      : { name: found[0], folders: found[1].filter(there(home)).map((folder) => `~/${folder}`) };
  return [{ name, because, keeper }];
}

function isInGit(project: string): boolean {
  let folder = project;
  for (let step = 0; step < foldersMax; step++) {
    if (existsSync(join(folder, ".git"))) return true;
    const above = dirname(folder);
    if (above === folder) return false;
    folder = above;
  }
  return false;
}

function there(folder: string): (name: string) => boolean {
  return (name) => statSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
}

/** Programs by their names on a search path, as a shell would find them. */
export function programsOnPath(
  names: readonly string[],
  path: string,
): readonly { readonly name: string; readonly path: string }[] {
  const folders = path.split(":").filter((folder) => folder.startsWith("/"));
  return names.flatMap((name) => {
    const found = folders.map((folder) => join(folder, name)).find(isProgram);
    return found === undefined ? [] : [{ name, path: found }];
  });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
