// The config.yml of a folder, and misnamed ones: ignoring one silently would drop the limits in it.
import { join } from "node:path";
import type { Source } from "../../core/notation/source.ts";
import { readTextFile } from "../../platform/files.ts";
import { isThere, outOfReach } from "../../platform/path-target.ts";

const NAME = "config.yml";
const MISNAMED = "config.yaml";

/** Null if there is none. With a problem the text is empty: the file exists, and its content is unknown. */
export function readConfigFile(
  folder: string,
  charactersMax: number,
  shown: (path: string) => string,
): { readonly source: Source; readonly problem: string | null } | null {
  const path = join(folder, NAME);
  const content = readTextFile(path, charactersMax);
  if (content.ok) return { source: { name: shown(path), text: content.text }, problem: null };
  const unread = (at: string, problem: string) => ({ source: { name: shown(at), text: "" }, problem });
  if (content.code !== "not_found") return unread(path, content.message);
  const away = outOfReach(path);
  if (away !== null) return unread(path, away);
  const wrong = join(folder, MISNAMED);
  return isThere(wrong) ? unread(wrong, `is ignored: the file must be named ${NAME}`) : null;
}
