// The files of a host: a folder of our state with a copy of the tool's files and the host's program. Later changes in
// the project do not affect it.

import {
  chmodSync,
  type Dirent,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { errorCode } from "../../core/base/error-code.ts";
import { sha256 } from "../../platform/digest.ts";
import type { ToolSource } from "./sources.ts";

const FOLDER = "tool-hosts";
/** The same specifier by which a person imports the library. */
const STUB = `{"name":"ambit","version":"0.0.0","exports":{".":{"import":"./index.mjs","require":"./index.cjs"}}}\n`;

/**
 * INVARIANT: only the daemon calls this, once, before any host is there. Snapshots of earlier versions have mode
 * 0500: only root can remove what is in such a folder, so the mode is changed first.
 */
export function clearSnapshots(state: string): void {
  const all = join(state, FOLDER);
  for (const entry of snapshotsIn(all)) if (entry.isDirectory()) chmodSync(join(all, entry.name), 0o700);
  rmSync(all, { recursive: true, force: true });
}

function snapshotsIn(all: string): readonly Dirent[] {
  try {
    return readdirSync(all, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** The folder, created if missing; null where it cannot be created. */
export function snapshotOf(state: string, source: ToolSource, host: string): string | null {
  try {
    const program = readFileSync(host);
    const name = sha256(`${source.kind} ${source.name} ${source.digest} ${sha256(program.toString("latin1"))}`);
    const folder = join(state, FOLDER, name);
    if (existsSync(folder)) return folder;
    const draft = `${folder}.draft`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    const put = (path: string, bytes: Uint8Array | string): void => {
      mkdirSync(dirname(join(draft, path)), { recursive: true, mode: 0o700 });
      writeFileSync(join(draft, path), bytes, { flag: "wx", mode: 0o400 });
    };
    put("host.cjs", program);
    for (const { path, bytes } of source.files) put(path, bytes);
    for (const [from, to] of source.links) {
      mkdirSync(dirname(join(draft, from)), { recursive: true, mode: 0o700 });
      symlinkSync(relative(dirname(from), to), join(draft, from));
    }
    if (!existsSync(join(draft, "node_modules", "ambit"))) {
      put("node_modules/ambit/package.json", STUB);
      put("node_modules/ambit/index.mjs", "export const defineTool = (definition) => definition;\n");
      put("node_modules/ambit/index.cjs", "exports.defineTool = (definition) => definition;\n");
    }
    // The folder stays writable for its owner, who has to remove it. Hosts see it through a read-only mount.
    renameSync(draft, folder);
    return folder;
  } catch {
    return null;
  }
}
