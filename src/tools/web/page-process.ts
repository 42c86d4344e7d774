// Starts the process that makes a page readable, and ends it when it takes too long, too much, or says too much.
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { isJsonObject, type Json, member } from "../../authority/json.ts";
import { pageMemoryMegabytesMax, pageMillisecondsMax, shownCharactersMax } from "./limits.ts";
import type { PageAsked, PageShown } from "./shown-page.ts";

/** Every character may be escaped, and the title goes with it. */
const outputBytesMax = (shownCharactersMax + 10_000) * 6;

/** Null where nothing came of it: the page is to be shown as it is. */
export type ShowPage = (asked: PageAsked) => Promise<PageShown | null>;

/** `program`: the bundle of page-main. */
export function pageProcess(program: string, millisecondsMax: number = pageMillisecondsMax): ShowPage {
  return (asked) =>
    new Promise((give) => {
      const words = wordsFor(program);
      if (words === null) {
        give(null);
        return;
      }
      // It is handed nothing: no variables, no folder of anybody's, no way to say something else than its answer.
      const child = spawn(process.execPath, words, { cwd: "/", env: {}, stdio: ["pipe", "pipe", "ignore"] });
      const pieces: Buffer[] = [];
      let bytes = 0;
      const late = setTimeout(() => child.kill("SIGKILL"), millisecondsMax);
      child.stdout.on("data", (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > outputBytesMax) child.kill("SIGKILL");
        else pieces.push(piece);
      });
      child.on("error", () => give(null));
      child.stdin.on("error", () => undefined);
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
