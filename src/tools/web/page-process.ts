// Starts the process that makes a page readable, and ends it when it takes too long, too much, or says too much.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { isJsonObject, type Json, member } from "../../core/base/json.ts";
import { pageMemoryMegabytesMax, pageMillisecondsMax, shownCharactersMax } from "./limits.ts";
import type { PageAsked, PageShown } from "./shown-page.ts";

/** Every character may be escaped, and the title goes with it. */
const outputBytesMax = (shownCharactersMax + 10_000) * 6;

/** Null where nothing came of it: the page is to be shown as it is. */
export type ShowPage = (asked: PageAsked) => Promise<PageShown | null>;

/** `program`: the bundle of page-main. One process for each page. */
export function pageProcess(program: string, millisecondsMax: number = pageMillisecondsMax): ShowPage {
  return async (asked) => {
    const child = start(program);
    return child === null ? null : shownBy(child, asked, millisecondsMax);
  };
}

/**
 * The same for somebody who stays: once a page was shown, a process waits for the next one, which has read nothing yet. It is
 * used for one page and ends; it does not keep us from ending, and ends with us.
 */
export function waitingPageProcess(program: string, millisecondsMax: number = pageMillisecondsMax): ShowPage {
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
  /** Whether it keeps us from ending. */
  hold(isBusy: boolean): void;
}

function start(program: string): PageChild | null {
  const words = wordsFor(program);
  if (words === null) return null;
  // It is handed nothing: no variables, no folder of anybody's, no way to say something else than its answer.
  const child = spawn(process.execPath, words, { cwd: "/", env: {}, stdio: ["pipe", "pipe", "ignore"] });
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  const held = [child, child.stdin, child.stdout] as readonly { ref?(): void; unref?(): void }[];
  const hold = (isBusy: boolean): void => {
    for (const one of held) (isBusy ? one.ref : one.unref)?.call(one);
  };
  return { child, hold };
}

function shownBy({ child }: PageChild, asked: PageAsked, millisecondsMax: number): Promise<PageShown | null> {
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

/** Where Node can hold itself to reading its own program, it is told to. Null where there is no such program. */
function wordsFor(path: string): readonly string[] | null {
  let program: string;
  try {
    // Links are followed before it is asked what may be read.
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

function readShown(text: string): PageShown | null {
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
