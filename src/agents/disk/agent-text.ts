// Parses the text of an agent in any notation.
import { extname } from "node:path";
import type { Moment } from "../../core/authority/compiled.ts";
import { caveatsTable, readCaveats } from "../../core/notation/caveats/caveats.ts";
import { type Config, configRefused, readConfig } from "../../core/notation/config/config.ts";
import type { ConfigLevel } from "../../core/notation/config/config-keys.ts";
import { Diagnostics } from "../../core/notation/diagnostic.ts";
import { readManifest } from "../../core/notation/manifest/manifest.ts";
import type { Reading } from "../../core/notation/reading.ts";
import { readRecord } from "../../core/notation/record/record.ts";
import type { Source } from "../../core/notation/source.ts";
import { readDeclaration } from "../../core/notation/tools/declaration.ts";
import { entryOf, type TreeNode } from "../../core/notation/tree.ts";
import { readFrontmatter } from "../../text/frontmatter.ts";
import { readJson } from "../../text/json.ts";
import type { TextTree } from "../../text/read.ts";
import { readToml } from "../../text/toml.ts";
import { readYaml } from "../../text/yaml.ts";
import {
  type Agent,
  type AgentForm,
  agentFromCaveats,
  agentFromDeclaration,
  agentFromManifest,
  agentFromRecord,
  agentRefused,
} from "../project/agent.ts";

export function agentOf(source: Source, name: string, ending: string, reading: Reading, moment: Moment): Agent {
  const read = readAs(source, ending);
  const form = formOf(read.tree, ending);
  if (read.tree === null) return agentRefused(name, form, read.diagnostics);
  switch (form) {
    case "record":
      return agentFromRecord(readRecord(read.tree, reading), name, reading, moment);
    case "manifest":
      return agentFromManifest(readManifest(read.tree, reading), name, reading);
    case "declaration":
      return agentFromDeclaration(readDeclaration(read.tree, reading), name);
    case "caveats":
      return caveats(ending === ".toml" ? tableOf(read) : read, name, reading);
  }
}

/** The notation of a file follows from its extension, and for YAML and JSON from its keys. */
function formOf(tree: TreeNode | null, ending: string): Exclude<AgentForm, "org"> {
  if (ending === ".md") return "record";
  if (ending === ".toml") return "caveats";
  const has = (...keys: readonly string[]): boolean =>
    tree?.kind === "map" && keys.some((key) => entryOf(tree, key) !== null);
  if (has("kind")) return "manifest";
  if (has("capabilities", "access", "sandbox", "policy", "extends")) return "record";
  // A manifest without its head; it is refused as one, not read as a record that grants the default.
  if (has("spec")) return "manifest";
  if (has("fs_read", "fs_write", "exec", "net")) return "caveats";
  if (has("network", "secrets", "storage", "fs_reach", "process")) return "declaration";
  return ending === ".json" ? "caveats" : "record";
}

function readAs(source: Source, ending: string): TextTree {
  switch (ending) {
    case ".json":
      return readJson(source);
    case ".toml":
      return readToml(source);
    case ".yml":
    case ".yaml":
      return readYaml(source);
    default:
      return readFrontmatter(source).read;
  }
}

/** In TOML the six fields are in a table of their own. */
function tableOf({ tree, diagnostics }: TextTree): TextTree {
  const table = tree === null ? null : caveatsTable(tree);
  if (tree === null || table !== null) return { tree: table, diagnostics };
  const found = new Diagnostics();
  found.error("missing_field", tree.span, "there is no `[caveats]` table; nothing is granted", { fix: "[caveats]" });
  return { tree: null, diagnostics: [...diagnostics, ...found.list] };
}

function caveats({ tree, diagnostics }: TextTree, name: string, reading: Reading): Agent {
  if (tree === null) return agentFromCaveats(null, diagnostics, name, reading);
  const read = readCaveats(tree, reading);
  return agentFromCaveats(read.link, [...diagnostics, ...read.diagnostics], name, reading);
}

/** The tree of an agent's text; null if it is not one. */
export function treeOf(source: Source): TreeNode | null {
  return readAs(source, extname(source.name)).tree;
}

/** Parses the configuration of one level. */
export function configOf(source: Source, level: ConfigLevel, reading: Reading): Config {
  const { tree, diagnostics } = readYaml(source);
  return tree === null ? configRefused(level, diagnostics) : readConfig(tree, level, reading);
}
