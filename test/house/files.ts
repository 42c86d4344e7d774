// Files that a test writes: any file with its folders, and agent records.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export function writeFiles(base: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), content);
  }
}

/** A record with these grants; `more`: further lines of its front matter. */
export function recordText(grants: readonly string[], more = ""): string {
  const lines = grants.map((grant) => `  - ${JSON.stringify(grant)}\n`).join("");
  return `---\n${more}capabilities:${grants.length === 0 ? " []\n" : `\n${lines}`}---\n`;
}

/** The record of an agent whose working folder is the project. */
export function writeAgent(project: string, id: string, ...grants: readonly string[]): void {
  writeFiles(project, { [`.ambit/agents/${id}.md`]: recordText(grants, "sandbox: .\n") });
}
