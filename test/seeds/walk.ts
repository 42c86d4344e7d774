// A workspace in which the page of an earlier system is checked, example by example, through the built program.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { environment, type Ran, root } from "../e2e/ambit.ts";
import { writeFiles } from "../house/files.ts";
import { ownFolder } from "../house/own-folder.ts";

/** The exit status of each decision. */
export const ALLOW = 0;
export const DENY = 10;
export const ASK = 11;
export const UNTRUSTED = 14;

export class Walk {
  readonly folder: string = ownFolder("ambit-seed-");

  write(files: Readonly<Record<string, string>>): void {
    writeFiles(this.folder, files);
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  exists(name: string): boolean {
    return existsSync(join(this.folder, name));
  }

  /** A record with this frontmatter, trusted. */
  record(id: string, ...lines: readonly string[]): void {
    this.write({ [`.ambit/agents/${id}.md`]: `---\nclass: agent\n${lines.join("\n")}\n---\n\nYou help.\n` });
  }

  trust(): void {
    const { status, err } = this.ambit("trust", "--yes");
    if (status !== 0) throw new Error(err);
  }

  ambit(...words: readonly string[]): Ran {
    return this.with({}, ...words);
  }

  with(more: Readonly<Record<string, string>>, ...words: readonly string[]): Ran {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "bin", "ambit"), ...words], {
      cwd: this.folder,
      encoding: "utf8",
      env: { ...environment, ...more },
      timeout: 60_000,
    });
    return { status, out: stdout, err: stderr };
  }

  /** `ambit call` and its output: the result, or the code of a denial or a failure. */
  call(agent: string, tool: string, input: unknown = {}): { readonly code: string | null; readonly result: unknown } {
    const { out, err } = this.ambit("call", agent, tool, JSON.stringify(input), "--json");
    const answer = JSON.parse(out || err) as { ok: boolean; code?: string; result?: unknown };
    return answer.ok ? { code: null, result: answer.result } : { code: answer.code ?? "", result: null };
  }

  /** The decision about one request: `ambit can`. */
  can(agent: string, request: string): number | null {
    return this.ambit("can", agent, ...request.split(" ")).status;
  }
}
