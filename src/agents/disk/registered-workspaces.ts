// The workspaces that the user has trusted on this machine. Every sandbox protects their guarded names.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readTextFile } from "../../platform/files.ts";

const workspacesMax = 1024;
const entryCharactersMax = 65_536;

/** Null if there are too many, or the folder cannot be read: then they cannot be protected. */
export function registeredWorkspaces(state: string | null): readonly string[] | null {
  if (state === null) return [];
  const folder = join(state, "trust");
  const names = namesIn(folder);
  if (names === null || names.length > workspacesMax) return null;
  return names.flatMap((name) => {
    const content = readTextFile(join(folder, name, "project.json"), entryCharactersMax);
    const workspace = content.ok ? workspaceOf(content.text) : null;
    return workspace === null ? [] : [workspace];
  });
}

function namesIn(folder: string): readonly string[] | null {
  try {
    return readdirSync(folder);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? [] : null;
  }
}

function workspaceOf(text: string): string | null {
  try {
    const { workspace } = JSON.parse(text) as { workspace?: unknown };
    return typeof workspace === "string" && workspace.startsWith("/") && !workspace.includes("\0") ? workspace : null;
  } catch {
    return null;
  }
}
