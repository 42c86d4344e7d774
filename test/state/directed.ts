// A workspace whose agents' client is a script with Claude Code's name: it prints the transcript that the first line of its prompt
// names, and so directs what a test wants directed.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { environment } from "../e2e/ambit.ts";
import { ownFolder } from "../house/own-folder.ts";
import { Walk } from "../seeds/walk.ts";

export interface ShownTask {
  readonly id: string;
  readonly agent: string;
  readonly state: string;
  readonly attempts: number;
  readonly prompt: string;
  readonly reason: string;
  readonly payers: readonly string[];
  readonly origin: { readonly kind: string; readonly id: string; readonly depth: number } | null;
}

export class DirectedWalk extends Walk {
  /** The client's own folder: what lies in it is also read by agents that do not see the workspace. */
  readonly client: string = ownFolder("ambit-client-");

  /** Writes the org file and the client, and trusts them. */
  begin(...org: readonly string[]): void {
    mkdirSync(join(this.client, "bin"));
    const script = join(this.client, "bin", "claude");
    writeFileSync(
      script,
      [
        "#!/bin/sh",
        `printf 'prompt: %s\\n' "$2" >&2`,
        `printf 'flags: %s\\n' "$*" >&2`,
        `file=$(printf '%s' "$2" | head -n 1)`,
        // A client without `code` does not see the workspace.
        `cat "$file" 2>/dev/null || cat "$(dirname "$0")/../$file"`,
        `test -e "$file.sh" && sh "$file.sh"`,
        `test -e "$file.wait" && sleep 5`,
        `test ! -e "$file.fail"`,
        "",
      ].join("\n"),
    );
    chmodSync(script, 0o755);
    const config = join(environment["XDG_CONFIG_HOME"] ?? "", "ambit");
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, "config.yml"), `runtime: [${this.client}]\n`);
    this.write({ ".ambit/org.yml": `${org.join("\n")}\n`, "quiet.jsonl": `${assistant("done")}\n` });
    this.trust();
  }

  tasks(): readonly ShownTask[] {
    return (JSON.parse(this.ambit("tasks", "list", "--json").out) as { tasks: readonly ShownTask[] }).tasks;
  }

  madeBy(id: string): readonly ShownTask[] {
    return this.tasks().filter(({ origin }) => origin?.id === id);
  }

  add(...words: readonly string[]): string {
    const ran = this.ambit("tasks", "add", "--json", "--retries", "1", ...words);
    if (ran.status !== 0) throw new Error(ran.err + ran.out);
    return (JSON.parse(ran.out) as { task: ShownTask }).task.id;
  }

  task(id: string): ShownTask {
    const found = this.tasks().find((task) => task.id === id);
    if (found === undefined) throw new Error(`there is no ${id}`);
    return found;
  }

  work(): void {
    this.ambit("tasks", "work", "--once");
  }

  output(id: string): string {
    return this.ambit("tasks", "log", id).out;
  }

  /** Adds a task whose transcript has these lines, and runs everything that is due. */
  ran(agent: string, ...lines: readonly string[]): string {
    const name = `t${Math.random().toString(36).slice(2)}.jsonl`;
    this.write({ [name]: `${lines.join("\n")}\n` });
    const id = this.add(agent, name);
    this.work();
    return id;
  }
}

export function assistant(...texts: readonly string[]): string {
  const content = texts.map((text) => ({ type: "text", text }));
  return JSON.stringify({ type: "assistant", parent_tool_use_id: null, message: { role: "assistant", content } });
}
