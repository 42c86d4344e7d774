// The config.yml of a folder, and the one that is misnamed: passed over in silence it would be a limit nobody holds.
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Source } from "../notation/source.ts";
import { readTextFile } from "./files.ts";

const NAME = "config.yml";
const MISNAMED = "config.yaml";

/** Null where there is none. With a problem the text is empty: it is there, and nobody knows what it says. */
export function readConfigFile(
  folder: string,
  charactersMax: number,
  shown: (path: string) => string,
): { readonly source: Source; readonly problem: string | null } | null {
  const path = join(folder, NAME);
  const content = readTextFile(path, charactersMax);
  if (content.ok) return { source: { name: shown(path), text: content.text }, problem: null };
  if (content.code !== "not_found") return { source: { name: shown(path), text: "" }, problem: content.message };
  const wrong = join(folder, MISNAMED);
  if (statSync(wrong, { throwIfNoEntry: false }) === undefined) return null;
  return { source: { name: shown(wrong), text: "" }, problem: `is not read: it is called ${NAME}` };
}
