// The output of runs of tasks: one file for each run, in the state folder, which only the user can read.
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { TasksPorts } from "../cli/tasks/ports.ts";
import { readTextFile } from "../platform/files.ts";

const outputBytesMax = 16 * 1024 * 1024;
const tasksKeptMax = 5000;
const CUT = new TextEncoder().encode("\n[the rest of the output was not stored]\n");

export function taskOutputs(state: string): NonNullable<TasksPorts["taskOutputs"]> {
  const all = join(state, "tasks");
  const folderOf = (task: string): string => join(all, encodeURIComponent(task));
  const fileOf = (task: string, attempt: number): string => join(folderOf(task), `${attempt}.log`);
  return {
    open: (task, attempt) => {
      mkdirSync(folderOf(task), { recursive: true, mode: 0o700 });
      const file = openSync(fileOf(task, attempt), "w", 0o600);
      let left = outputBytesMax - CUT.length;
      // What is over the limit is dropped, and so is what does not fit on the disk; the program runs on.
      const put = (bytes: Uint8Array): void => {
        try {
          for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
        } catch {
          left = 0;
        }
      };
      return {
        write: (bytes) => {
          if (left === 0) return;
          const part = bytes.subarray(0, left);
          left -= part.length;
          put(part);
          if (left === 0) put(CUT);
        },
        close: () => closeSync(file),
      };
    },
    runs: (task) => {
      const numbers = namesIn(folderOf(task)).map((name) => Number(/^(\d+)\.log$/.exec(name)?.[1]));
      return numbers.filter(Number.isInteger).sort((left, right) => left - right);
    },
    read: (task, attempt) => {
      const content = readTextFile(fileOf(task, attempt), outputBytesMax);
      return content.ok ? content.text : null;
    },
    prune: () => {
      const names = namesIn(all);
      if (names.length <= tasksKeptMax) return;
      const aged = names.map((name) => ({ name, at: statSync(join(all, name)).mtimeMs }));
      for (const { name } of aged.sort((left, right) => right.at - left.at).slice(tasksKeptMax))
        rmSync(join(all, name), { recursive: true, force: true });
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
