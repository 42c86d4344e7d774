// A program under strace: its writes, its flushes, and its output, in the order they happened.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

export type DiskEvent =
  | { readonly kind: "make"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: "truncate"; readonly path: string; readonly size: number }
  | { readonly kind: "sync"; readonly path: string }
  | { readonly kind: "rename"; readonly from: string; readonly to: string }
  | { readonly kind: "unlink"; readonly path: string }
  | { readonly kind: "said"; readonly text: string };

const traced = "openat,write,pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,unlinkat";

/** The command line before a program that traces it into a file. All threads; every byte in hexadecimal. */
export function traceCommand(log: string): readonly string[] {
  return ["strace", "-f", "--seccomp-bpf", "-qq", "-y", "-xx", "-s", "1048576", "-e", `trace=${traced}`, "-o", log];
}

/**
 * Throws with a message if strace is missing: a skipped proof proves nothing. False only if it is impossible: the kernel forbids
 * it, or is not Linux.
 */
export function canTrace(): boolean {
  if (process.platform !== "linux") return false;
  const tried = spawnSync("strace", ["-o", "/dev/null", "true"], { encoding: "utf8" });
  if (tried.error !== undefined)
    throw new Error("strace is not installed, so power cuts and failing disks cannot be tested: install strace");
  if (tried.status === 0) return true;
  if (/PTRACE|ptrace|Operation not permitted/.test(tried.stderr)) return false;
  throw new Error(`strace does not work here: ${tried.stderr.trim()}`);
}

/** Only successful calls, on files in this folder, and the standard output. */
export function diskEvents(log: string, folder: string): readonly DiskEvent[] {
  const happened: DiskEvent[] = [];
  const unfinished = new Map<string, string>();
  const places = new Map<string, number>();
  const certain = new Set<string>();
  for (const line of readFileSync(log, "latin1").split("\n")) {
    const [, process, rest] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (process === undefined || rest === undefined) continue;
    if (rest.endsWith("<unfinished ...>")) {
      unfinished.set(process, rest.slice(0, -"<unfinished ...>".length));
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>/.exec(rest);
    const whole = resumed === null ? rest : (unfinished.get(process) ?? "") + rest.slice(resumed[0].length);
    const one = happening(whole, folder, places);
    if (one !== null) happened.push(one);
    // Every write to a file opened with this flag is on the disk when it returns.
    const opened = /^openat\(.*O_DSYNC.*= \d+<([^>]*)>$/.exec(whole)?.[1];
    if (opened !== undefined) certain.add(hexadecimal(opened).toString());
    if (one?.kind === "write" && certain.has(one.path)) happened.push({ kind: "sync", path: one.path });
  }
  return happened;
}

function happening(call: string, folder: string, places: Map<string, number>): DiskEvent | null {
  const [, name, words, result] = /^(\w+)\((.*)\) += (\d+)(?:<.*>)?$/.exec(call) ?? [];
  if (name === undefined || words === undefined || result === undefined) return null;
  const descriptor = /^(\d+)<([^>]*)>/.exec(words);
  const path = descriptor === null ? "" : hexadecimal(descriptor[2] ?? "").toString();
  const texts = [...words.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map((match) => hexadecimal(match[1] ?? ""));
  const numbers = words.split(", ").slice(1);
  if (name === "write" && descriptor?.[1] === "1") return { kind: "said", text: String(texts[0]) };
  const isOurs = (each: string): boolean => each === folder || each.startsWith(`${folder}/`);
  switch (name) {
    case "openat": {
      const opened = /= (\d+)<([^>]*)>$/.exec(call);
      const [number, at] = [opened?.[1] ?? "", hexadecimal(opened?.[2] ?? "").toString()];
      places.set(number, 0);
      if (!isOurs(at)) return null;
      if (words.includes("O_TRUNC")) return { kind: "truncate", path: at, size: 0 };
      return words.includes("O_CREAT") ? { kind: "make", path: at } : null;
    }
    case "write": {
      if (descriptor === null || !isOurs(path)) return null;
      const at = places.get(descriptor[1] ?? "") ?? 0;
      places.set(descriptor[1] ?? "", at + Number(result));
      return { kind: "write", path, at, bytes: wholly(texts[0], result) };
    }
    case "pwrite64":
      if (!isOurs(path)) return null;
      return { kind: "write", path, at: Number(numbers.at(-1)), bytes: wholly(texts[0], result) };
    case "ftruncate":
      return isOurs(path) ? { kind: "truncate", path, size: Number(numbers.at(-1)) } : null;
    case "fsync":
    case "fdatasync":
      return isOurs(path) ? { kind: "sync", path } : null;
    case "unlink":
    case "unlinkat":
      return isOurs(String(texts[0])) ? { kind: "unlink", path: String(texts[0]) } : null;
    case "rename":
    case "renameat":
    case "renameat2":
      return isOurs(String(texts[0])) ? { kind: "rename", from: String(texts[0]), to: String(texts[1]) } : null;
    default:
      return null;
  }
}

/** What the kernel accepted; a log with less than that is invalid. */
function wholly(bytes: Uint8Array | undefined, result: string): Uint8Array {
  if (bytes === undefined || bytes.length < Number(result)) throw new Error("the log does not contain every byte");
  return bytes.subarray(0, Number(result));
}

function hexadecimal(text: string): Buffer {
  return Buffer.from(text.replaceAll("\\x", ""), "hex");
}
