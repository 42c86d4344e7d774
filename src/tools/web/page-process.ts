// Starts the process that converts a page, and kills it when it exceeds its time, memory or output.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { isJsonObject, type Json, member } from "../../core/base/json.ts";
import type { PageRequest, PageText } from "./convert-page.ts";
import { pageMemoryMegabytesMax, pageMillisecondsMax, shownCharactersMax } from "./limits.ts";

/** Every character may be escaped, and the title is included. */
const outputBytesMax = (shownCharactersMax + 10_000) * 6;

/** Null if the conversion failed: the page is shown unchanged. */
export type ConvertPage = (asked: PageRequest) => Promise<PageText | null>;

/** `program`: the bundle of page-main. One process for each page. */
export function pageProcess(program: string, millisecondsMax: number = pageMillisecondsMax): ConvertPage {
  return async (asked) => {
    const child = start(program);
    return child === null ? null : shownBy(child, asked, millisecondsMax);
  };
}

/**
 * The same for a long-lived caller: after a page was converted, a process is started for the next one and has read
 * nothing yet. It converts one page and exits; it does not keep our process alive, and ends with it.
 */
export function waitingPageProcess(program: string, millisecondsMax: number = pageMillisecondsMax): ConvertPage {
  let spare: PageChild | null = null;
  return async (asked) => {
    const child = spare ?? start(program);
    spare = null;
    if (child === null) return null;
    child.hold(true);
    const shown = await shownBy(child, asked, millisecondsMax);
    spare ??= start(program);
    spare?.hold(false);
    const mine = spare;
    mine?.child.once("close", () => {
      if (spare === mine) spare = null;
    });
    return shown;
  };
}

interface PageChild {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** Whether it keeps our process alive. */
  hold(isBusy: boolean): void;
}

function start(program: string): PageChild | null {
  const words = wordsFor(program);
  if (words === null) return null;
  // It inherits nothing: no environment, no working folder, no channel but its answer.
  const child = spawn(process.execPath, words, { cwd: "/", env: {}, stdio: ["pipe", "pipe", "ignore"] });
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  const held = [child, child.stdin, child.stdout] as readonly { ref?(): void; unref?(): void }[];
  const hold = (isBusy: boolean): void => {
    for (const one of held) (isBusy ? one.ref : one.unref)?.call(one);
  };
  return { child, hold };
}

function shownBy({ child }: PageChild, asked: PageRequest, millisecondsMax: number): Promise<PageText | null> {
  return new Promise((give) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    const late = setTimeout(() => child.kill("SIGKILL"), millisecondsMax);
    child.stdout.on("data", (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > outputBytesMax) child.kill("SIGKILL");
      else pieces.push(piece);
    });
    child.on("error", () => give(null));
    child.on("close", (status) => {
      clearTimeout(late);
      give(status === 0 ? readShown(Buffer.concat(pieces).toString("utf8")) : null);
    });
    child.stdin.end(JSON.stringify(asked));
  });
}

/**
 * Uses Node's permission model, if available, to limit it to reading its own program. Null if the program does not
 * exist.
 */
function wordsFor(path: string): readonly string[] | null {
  let program: string;
  try {
    // The permission model checks real paths.
    program = realpathSync(path);
  } catch {
    return null;
  }
  const words = [`--max-old-space-size=${pageMemoryMegabytesMax}`, program];
  const confine = ["--permission", "--experimental-permission"].find((one) =>
    process.allowedNodeEnvironmentFlags.has(one),
  );
  return confine === undefined ? words : [confine, `--allow-fs-read=${program}`, ...words];
}

function readShown(text: string): PageText | null {
  try {
    const value = JSON.parse(text) as Json;
    if (!isJsonObject(value)) return null;
    const [title, shown, more] = [member(value, "title"), member(value, "text"), member(value, "more")];
    if (typeof shown !== "string" || (title !== null && typeof title !== "string")) return null;
    return { title, text: shown, more: more === true };
  } catch {
    return null;
  }
}
