// A project on disk, and changes of an agent to it: the class of each, and whether a tool of the person then runs them.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { segmentsOf } from "../../src/platform/folders.ts";
import { DiskTree } from "../../src/sandbox/drafts/triggers/disk-tree.ts";
import { FolderSurvey } from "../../src/sandbox/drafts/triggers/folder-survey.ts";
import { type ClassifiedChange, Classifier } from "../../src/sandbox/plan/triggers/classify.ts";
import { TriggerFacts } from "../../src/sandbox/plan/triggers/trigger-facts.ts";
import { TriggerTable } from "../../src/sandbox/plan/triggers/trigger-table.ts";

/** A text, a link (`{ link }`), null for a deletion; a path that ends in a slash is a folder. */
export type Planted = Readonly<Record<string, string | { readonly link: string } | null>>;

const commandMillisecondsMax = 60_000;

export class TriggerFixture {
  readonly above: string = realpathSync(mkdtempSync(join(tmpdir(), "ambit-trigger-")));
  readonly root: string = join(this.above, "root");
  readonly mark: string = join(this.above, "mark");
  /** A program of the agent's, outside the root so that it is not a change itself: it leaves the mark. */
  readonly evil: string = join(this.above, "evil.sh");

  constructor() {
    mkdirSync(this.root);
    writeFileSync(this.evil, `#!/bin/sh\ntouch '${this.mark}'\n`);
    chmodSync(this.evil, 0o755);
  }

  close(): void {
    rmSync(this.above, { recursive: true, force: true });
  }

  /** As a person: their own files and commands. */
  write(files: Planted): void {
    for (const [path, content] of Object.entries(files)) this.#put(path, content);
  }

  run(command: readonly string[], environment: Readonly<Record<string, string>> = {}): string {
    const [program = "", ...words] = command;
    const done = spawnSync(program, words, {
      cwd: this.root,
      input: "",
      encoding: "utf8",
      timeout: commandMillisecondsMax,
      env: {
        ...{ PATH: process.env["PATH"] ?? "", HOME: join(this.above, "home"), TERM: "dumb", LC_ALL: "C.UTF-8" },
        ...{ GIT_CONFIG_NOSYSTEM: "1", GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@example.test" },
        ...{ GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@example.test", ...environment },
      },
    });
    return `${done.stdout}${done.stderr}`;
  }

  /** Whether the command runs what was planted. */
  isRun(command: readonly string[], environment: Readonly<Record<string, string>> = {}): boolean {
    rmSync(this.mark, { force: true });
    this.run(command, environment);
    return existsSync(this.mark);
  }

  /** The class of each change, against the root as it is now. `home`: the home folder, relative to the root's parent. */
  classes(planted: Planted, home = "home"): Readonly<Record<string, string>> {
    const changes = Object.entries(planted).map(([path, content]) => this.#change(path, content));
    const root = segmentsOf(this.root);
    const table = new TriggerTable();
    const facts = new TriggerFacts(new DiskTree(), {
      ...{ root, home: segmentsOf(join(this.above, home)), workspaces: [], table, ours: [] },
      program: segmentsOf(join(this.above, "program")),
      inner: new FolderSurvey().folders(root, table),
    });
    const classifier = Classifier.of(facts, changes);
    return Object.fromEntries(changes.map((one, at) => [Object.keys(planted)[at], classifier.classify(one).class]));
  }

  #change(path: string, content: Planted[string]): ClassifiedChange {
    const names = path.split("/").filter((name) => name !== "");
    const found = lstatSync(join(this.root, path), { throwIfNoEntry: false, bigint: true });
    const kind = found?.isSymbolicLink() ? "link" : found?.isDirectory() ? "folder" : "file";
    const base =
      found === undefined
        ? null
        : { kind, links: found.nlink, device: found.dev, inode: found.ino, mode: Number(found.mode & 0o777n) };
    if (content === null) return { kind: "delete", path: names, base };
    if (typeof content === "object") return { kind: "link", path: names, target: content.link, base };
    return { kind: path.endsWith("/") ? "folder" : "file", path: names, base };
  }

  #put(path: string, content: Planted[string]): void {
    const whole = join(this.root, path);
    if (path.endsWith("/")) {
      mkdirSync(whole, { recursive: true });
      return;
    }
    mkdirSync(dirname(whole), { recursive: true });
    rmSync(whole, { recursive: true, force: true });
    if (content === null) return;
    if (typeof content === "object") symlinkSync(content.link, whole);
    else {
      writeFileSync(whole, content);
      chmodSync(whole, 0o755);
    }
  }
}

export function isInstalled(program: string): boolean {
  return spawnSync("sh", ["-c", 'command -v "$0"', program]).status === 0;
}
