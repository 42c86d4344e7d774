// The files of a project that carry authority: its configuration, its agents in every notation, its tool servers.
import { extname, join } from "node:path";
import type { AuthorityFile } from "../../core/ports/trust.ts";
import { readTextFile } from "../../platform/files.ts";
import { outOfReach } from "../../platform/path-target.ts";
import { AGENTS, filesBelow } from "./workspace.ts";

const SINGLE: readonly string[] = ["config.yml", "mcp.yml", "org.md", "org.yml"];
/** The MCP servers of a project, among its authority files. */
export const SERVERS_PATH = ".ambit/mcp.yml";
const ENDINGS: readonly string[] = [".md", ".yml", ".yaml", ".json", ".toml"];
const FOLDER = ".ambit";
const filesMax = 10_000;

export interface AuthorityFiles {
  /** Configuration first, then by path. */
  readonly files: readonly AuthorityFile[];
  /** Files that exist and could not be read, one sentence each. */
  readonly problems: readonly string[];
}

export function authorityFiles(workspace: string, charactersMax: number): AuthorityFiles {
  const files: AuthorityFile[] = [];
  const problems: string[] = [];
  const agents = agentFiles(workspace);
  if (agents.length > filesMax) problems.push(`there are more than ${filesMax} agents; the rest is ignored`);
  for (const inner of [...SINGLE, ...agents.slice(0, filesMax)]) {
    const path = `${FOLDER}/${inner}`;
    const whole = join(workspace, path);
    const content = readTextFile(whole, charactersMax);
    const away = content.ok || content.code !== "not_found" ? null : outOfReach(whole);
    if (content.ok) files.push({ path, text: content.text });
    else if (away !== null) problems.push(`${path} ${away}`);
    else if (content.code !== "not_found" || !SINGLE.includes(inner)) problems.push(`${path} ${content.message}`);
  }
  return { files, problems };
}

function agentFiles(workspace: string): readonly string[] {
  return filesBelow(join(workspace, AGENTS))
    .filter((file) => ENDINGS.includes(extname(file)))
    .map((file) => `agents/${file}`)
    .sort();
}
