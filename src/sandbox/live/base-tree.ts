// The last common state of both sides of a live root, name by name, and a log of it for recovery after a crash.
import { appendFileSync } from "node:fs";
import type { FileStamp } from "./tree-folder.ts";

export interface BaseNode {
  /** The project's state when both sides were in sync; null for nothing. */
  real: FileStamp | null;
  /** The copy's state. */
  copy: FileStamp | null;
  readonly children: Map<string, BaseNode>;
}

export class BaseTree {
  readonly top: BaseNode = newNode();
  readonly #log: string;
  #pending: string[] = [];

  /** `log`: a file of our state. */
  constructor(log: string) {
    this.#log = log;
  }

  find(path: readonly string[]): BaseNode | null {
    let node: BaseNode | undefined = this.top;
    for (const name of path) node = node?.children.get(name);
    return node ?? null;
  }

  /** Both sides are in sync at this name. */
  settle(path: readonly string[], real: FileStamp | null, copy: FileStamp | null): void {
    let node = this.top;
    for (const name of path) {
      const next = node.children.get(name) ?? newNode();
      node.children.set(name, next);
      node = next;
    }
    node.real = real;
    node.copy = copy;
    this.#pending.push(`${JSON.stringify([path, copy === null ? null : stampText(copy)])}\n`);
    if (real !== null || copy !== null || node.children.size > 0) return;
    const parent = this.find(path.slice(0, -1));
    parent?.children.delete(path.at(-1) ?? "");
  }

  /** Throws as the system does. */
  flush(): void {
    if (this.#pending.length === 0) return;
    appendFileSync(this.#log, this.#pending.join(""), { mode: 0o600 });
    this.#pending = [];
  }
}

function newNode(): BaseNode {
  return { real: null, copy: null, children: new Map() };
}

/** A new mode alone does not alter the stamp; a rename away and back does, by the time of change. */
export function stampText({ kind, inode, bytes, modified, changed }: FileStamp): string {
  return kind === "folder" ? kind : [kind, inode, bytes, modified, changed].join(" ");
}

/** The last synchronized state of the copy, from the log; reading ends at a line truncated by a crash. */
export function readBaseLog(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    let read: unknown;
    try {
      read = JSON.parse(line);
    } catch {
      break;
    }
    const [path, stamp] = read as [readonly string[], string | null];
    if (stamp === null) found.delete(path.join("/"));
    else found.set(path.join("/"), stamp);
  }
  return found;
}
