// A personality of another framework as the specs of a record: `toolset.yaml`, and `safety.network` and `fs_reach` of the file
// beside it. What has no equal here is left out, and said.
import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { builtinName } from "../../core/authority/axes/name.ts";
import { compactWord } from "../../core/notation/compact/compact-word.ts";
import type { Diagnostic } from "../../core/notation/diagnostic.ts";
import { compactText } from "../../core/notation/printer.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { readPersonality } from "../../core/notation/record/personality.ts";
import type { Source } from "../../core/notation/source.ts";
import { entryOf, type TreeNode } from "../../core/notation/tree.ts";
import { readTextFile } from "../../platform/files.ts";
import { sourceCharactersMax } from "../../text/read.ts";
import { readYaml } from "../../text/yaml.ts";

export type ImportedPersonality =
  | { readonly ok: true; readonly specs: readonly string[]; readonly notes: readonly string[] }
  | {
      readonly ok: false;
      readonly message: string;
      readonly diagnostics: readonly { readonly diagnostic: Diagnostic; readonly source: Source }[];
    };

const TOOLSETS: readonly string[] = ["toolset.yaml", "toolset.yml"];
const SETTINGS: readonly string[] = ["config.yaml", "config.yml", "personality.yaml", "personality.yml"];
const toolsMax = 256;

/** Names of the other framework's tools that are built in here. */
const TOOLS: Readonly<Record<string, string>> = {
  read_file: "fs_read",
  write_file: "fs_write",
  patch_file: "fs_edit",
  terminal: "shell",
};

/** `path`: the folder of a personality, or one of its files. INVARIANT: never more than was written. */
export function readPersonalityFolder(path: string, reading: Reading): ImportedPersonality {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const find = (names: readonly string[]): Source | null => {
    const paths = isFolder ? names.map((name) => join(path, name)) : names.includes(basename(path)) ? [path] : [];
    for (const one of paths) {
      const file = readTextFile(one, sourceCharactersMax);
      if (file.ok) return { name: one, text: file.text };
    }
    return null;
  };
  const [toolset, settings] = [find(TOOLSETS), find(SETTINGS)];
  if (toolset === null && settings === null)
    return { ok: false, message: `${path} has neither ${TOOLSETS[0]} nor ${SETTINGS[0]}`, diagnostics: [] };
  const notes: string[] = [];
  const specs: string[] = [];
  for (const [source, read] of [
    [settings, (tree: TreeNode) => readPersonality(tree, reading)],
    [toolset, () => null],
  ] as const) {
    if (source === null) continue;
    const { tree, diagnostics } = readYaml(source);
    const found = tree === null ? null : read(tree);
    const faults = [...diagnostics, ...(found?.diagnostics ?? [])].filter(({ severity }) => severity === "error");
    if (tree === null || faults.length > 0)
      return {
        ok: false,
        message: `${source.name} cannot be parsed, so nothing is imported`,
        diagnostics: faults.map((diagnostic) => ({ diagnostic, source })),
      };
    if (found !== null) specs.push(...found.grants.map(compactText));
    else {
      const tools = toolNames(tree);
      if (tools === null)
        return { ok: false, message: `${source.name} must be a list of at most ${toolsMax} tools`, diagnostics: [] };
      specs.push(`tool.invoke{tools=[${tools.map((name) => compactWord(ourName(name))).join(",")}]}`);
      if (tools.some((name) => ourName(name) === "shell"))
        notes.push("programs are not granted: a toolset does not name them; add proc.exec{cmds=[...]} yourself");
    }
  }
  if (toolset === null) notes.push("without a toolset only the built-in tools are granted");
  if (settings === null) notes.push("without safety.network and fs_reach no host and no file is granted");
  return { ok: true, specs, notes };
}

function ourName(name: string): string {
  return TOOLS[name] ?? builtinName(name);
}

/** A list of names, alone or as `tools` or `toolset`. */
function toolNames(tree: TreeNode): readonly string[] | null {
  const entry = tree.kind === "map" ? (entryOf(tree, "tools") ?? entryOf(tree, "toolset")) : null;
  const list = entry === null ? tree : entry.value;
  if (list.kind !== "list" || list.items.length > toolsMax) return null;
  const names = list.items.map((item) => (item.kind === "scalar" ? item.value : null));
  return names.every((name): name is string => typeof name === "string" && /^[\w.-]{1,128}$/.test(name)) ? names : null;
}
