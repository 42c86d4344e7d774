// The agents of a git revision with its configuration, or one file of it.

import type { Source } from "../../core/notation/source.ts";
import { commitOf, filesOf, textOf } from "../../platform/git.ts";
import { CONFIG_PATH } from "../project/project.ts";
import type { ConfigText } from "../project/project-moment.ts";
import { ORG_PATHS } from "./org-file.ts";
import { AGENTS, isAgentFile } from "./workspace.ts";

export interface RevisionTexts {
  readonly agents: readonly Source[];
  readonly config: ConfigText | null;
  /** Its org file; null where one file was named. */
  readonly org: Source | null;
}

export function revisionTexts(name: string, cwd: string, workspace: string): RevisionTexts | null {
  const colon = name.indexOf(":");
  const revision = colon < 0 ? name : name.slice(0, colon);
  const commit = commitOf(cwd, revision);
  if (commit === null) return null;
  const folder = colon < 0 ? workspace : cwd;
  const paths =
    colon < 0 ? filesOf(folder, commit, AGENTS).filter((path) => isAgentFile(path)) : [name.slice(colon + 1)];
  const texts = paths.map((path) => ({ name: `${revision}:${path}`, text: textOf(folder, commit, path) }));
  if (texts.some(({ text }) => text === null)) return null;
  const config = textOf(workspace, commit, CONFIG_PATH);
  const orgPath = colon < 0 ? ORG_PATHS.find((path) => textOf(workspace, commit, path) !== null) : undefined;
  const orgText = orgPath === undefined ? null : textOf(workspace, commit, orgPath);
  return {
    org: orgText === null ? null : { name: `${revision}:${orgPath}`, text: orgText },
    agents: texts as readonly Source[],
    config: config === null ? null : { source: { name: `${revision}:${CONFIG_PATH}`, text: config }, problem: null },
  };
}
