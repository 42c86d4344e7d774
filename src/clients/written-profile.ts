// A profile that a user writes for a client of their own: `profiles/NAME.yml` in their configuration folder. Anything that is
// not understood is an error, and a profile with an error is not used at all.
import type { Span } from "../core/authority/grant.ts";
import { isJsonObject, type JsonObject } from "../core/base/json.ts";
import type { Diagnostics } from "../core/notation/diagnostic.ts";
import { nearestName } from "../core/notation/nearest.ts";
import { quoteText } from "../core/notation/quote-text.ts";
import { kindName, type Text, textOf, textsOf } from "../core/notation/scope/scope-values.ts";
import { type Entry, entryOf, type Mapping, plainValue, type TreeNode } from "../core/notation/tree.ts";
import { holdsCredential } from "./credential-patterns.ts";
import type { ClientProfile, ClientSetting, ModelAccess } from "./profile.ts";
import { PLAIN_PROFILE, PROFILES } from "./profiles.ts";

const entriesMax = 64;
const pathCharactersMax = 512;
const noteCharactersMax = 200;

const KEYS = ["programs", "model", "settings", "folders", "variables", "notes"] as const;
const MODEL_KEYS = ["providers", "variables", "settings"] as const;
const PROVIDERS = ["anthropic", "openai", "gemini"] as const;
const SETTING_KINDS = ["json", "toml", "text", "lines", "folder"] as const;
/** What the sandbox sets itself, or what loads code into every program. */
const RESERVED = /^(HOME|PATH|TMPDIR|USER|LOGNAME|SHELL|PWD|AMBIT_.*|BWRAP_.*|LD_.*|DYLD_.*)$/;
const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** `ambit:codex@1` is called `codex`. */
const BUILT_IN_NAMES: readonly string[] = [...PROFILES, PLAIN_PROFILE].map(({ id }) =>
  id.slice(6, id.lastIndexOf("@")),
);

export interface ProfileReading {
  /** The name of its file without `.yml`. */
  readonly name: string;
  /** Changes with the text. */
  readonly digest: string;
  /** A path below the home folder that no program may see. */
  isProtected(path: readonly string[]): boolean;
}

export interface WrittenProfile {
  /** Null: with errors. */
  readonly profile: ClientProfile | null;
  /** The programs it is for, with errors elsewhere too; null where they cannot be read. */
  readonly programs: readonly string[] | null;
}

export function readProfile(node: TreeNode, reading: ProfileReading, diagnostics: Diagnostics): WrittenProfile {
  checkName(reading.name, node.span, diagnostics);
  if (node.kind !== "map") {
    diagnostics.error("wrong_type", node.span, `a profile is a map, not ${kindName(node)}`, {
      fix: "programs: [aider]",
    });
    return { profile: null, programs: null };
  }
  checkKeys(node, KEYS, "a profile", diagnostics);
  const written = entryOf(node, "programs");
  const programs = written === null ? null : readProgramNames(written, diagnostics);
  if (written === null)
    diagnostics.error("missing_field", node.span, "`programs` is required: the clients of the profile", {
      fix: "programs: [aider]",
    });
  const settings = readSettings(entryOf(node, "settings"), reading, diagnostics);
  const profile: ClientProfile = {
    id: `user:${reading.name}@${reading.digest.slice(0, 12)}`,
    programs: programs ?? [],
    model: readModel(entryOf(node, "model"), settings, diagnostics),
    settings,
    folders: readFolders(entryOf(node, "folders"), diagnostics),
    variables: readVariables(entryOf(node, "variables"), ["root", "home"], diagnostics),
    notes: readNotes(entryOf(node, "notes"), diagnostics),
  };
  const isBroken = diagnostics.list.some(({ severity }) => severity === "error");
  return { profile: isBroken ? null : profile, programs };
}

function checkName(name: string, span: Span, diagnostics: Diagnostics): void {
  if (BUILT_IN_NAMES.includes(name))
    diagnostics.error("bad_value", span, `there is a built-in profile called ${quoteText(name)}: rename the file`);
  else if (!NAME.test(name))
    diagnostics.error(
      "bad_value",
      span,
      `${quoteText(name)} is not a profile's name: small letters, digits and hyphens`,
    );
}

function readProgramNames(entry: Entry, diagnostics: Diagnostics): readonly string[] | null {
  const names = textsOf(entry, diagnostics);
  if (names === null) return null;
  if (names.length === 0)
    diagnostics.error("bad_value", entry.value.span, "`programs` names no program", { fix: "programs: [aider]" });
  for (const { text, span } of names) {
    const owner = PROFILES.find(({ programs }) => programs.includes(text));
    if (owner !== undefined)
      diagnostics.error("bad_value", span, `${quoteText(text)} has the built-in profile ${owner.id}`);
    else if (!/^[\w+.-]{1,64}$/.test(text) || text === "." || text === "..")
      diagnostics.error("bad_value", span, `${quoteText(text)} is not the name of a program`, { fix: baseName(text) });
  }
  return names.map(({ text }) => text);
}

function baseName(text: string): string | null {
  const name = text.slice(text.lastIndexOf("/") + 1);
  return /^[\w+.-]{1,64}$/.test(name) ? name : null;
}

function readModel(
  entry: Entry | null,
  settings: readonly ClientSetting[],
  diagnostics: Diagnostics,
): ModelAccess | null {
  const map = mapOf(entry, "model: { providers: [anthropic] }", diagnostics);
  if (map === null) return null;
  checkKeys(map, MODEL_KEYS, "`model`", diagnostics);
  const providers = entryOf(map, "providers");
  if (providers === null)
    diagnostics.error("missing_field", map.span, "`providers` is required: the model providers of the client", {
      fix: "providers: [anthropic]",
    });
  const more = mapOf(entryOf(map, "settings"), "settings: { .client/settings.json: { url: '{relay}' } }", diagnostics);
  return {
    providers: (providers === null ? [] : (textsOf(providers, diagnostics) ?? [])).flatMap(({ text, span }) => {
      const known = PROVIDERS.find((one) => one === text);
      if (known === undefined)
        diagnostics.error("bad_value", span, `\`providers\` is a list of ${PROVIDERS.join(", ")}`, {
          suggestion: nearestName(text, PROVIDERS),
        });
      return known === undefined ? [] : [known];
    }),
    variables: readVariables(entryOf(map, "variables"), ["root", "home", "relay", "key", "keyEnd"], diagnostics),
    settings: (more?.entries ?? []).map((one) => {
      if (!settings.some(({ kind, path }) => path === one.key && (kind === "json" || kind === "toml")))
        diagnostics.error("bad_value", one.keySpan, `${quoteText(one.key)} is not a json or toml file of \`settings\``);
      return { path: one.key, set: readSet(one, ["root", "home", "relay", "key", "keyEnd"], diagnostics) };
    }),
  };
}

function readSettings(
  entry: Entry | null,
  reading: ProfileReading,
  diagnostics: Diagnostics,
): readonly ClientSetting[] {
  if (entry === null) return [];
  const { value } = entry;
  if (value.kind !== "list" || value.items.length > entriesMax) {
    diagnostics.error("wrong_type", value.span, `\`settings\` is a list of at most ${entriesMax} files and folders`, {
      fix: "settings: [{ json: .client/settings.json }]",
    });
    return [];
  }
  const found: ClientSetting[] = [];
  for (const item of value.items) {
    const setting = readSetting(item, reading, diagnostics);
    if (setting === null) continue;
    if (found.some(({ path }) => isNested(path, setting.path)))
      diagnostics.error(
        "bad_value",
        item.span,
        `${quoteText(setting.path)} is or contains another file of \`settings\``,
      );
    found.push(setting);
  }
  return found;
}

function isNested(left: string, right: string): boolean {
  return `${left}/`.startsWith(`${right}/`) || `${right}/`.startsWith(`${left}/`);
}

function readSetting(item: TreeNode, reading: ProfileReading, diagnostics: Diagnostics): ClientSetting | null {
  const example = { fix: "{ json: .client/settings.json, without: [hooks] }" };
  if (item.kind !== "map") {
    diagnostics.error("wrong_type", item.span, `a setting is a map, not ${kindName(item)}`, example);
    return null;
  }
  const kinds = item.entries.filter(({ key }) => SETTING_KINDS.some((one) => one === key));
  const [entry] = kinds;
  const kind = SETTING_KINDS.find((one) => one === entry?.key);
  if (entry === undefined || kind === undefined || kinds.length > 1) {
    const message = `a setting has one of ${SETTING_KINDS.join(", ")}, with a path below the home folder`;
    diagnostics.error("missing_field", item.span, message, example);
    return null;
  }
  const isMap = kind === "json" || kind === "toml";
  const keys = isMap ? [kind, "only", "without", "set"] : kind === "folder" ? [kind, "endings"] : [kind];
  checkKeys(item, keys, `a setting with \`${kind}\``, diagnostics);
  const written = textOf(entry, diagnostics);
  const path = written === null ? null : readHomePath(written, diagnostics);
  if (written === null || path === null) return null;
  if (reading.isProtected(path.split("/")))
    diagnostics.error("bad_value", written.span, `${quoteText(path)} is protected: a profile cannot copy it`);
  const texts = (key: string): readonly Text[] | null => {
    const list = entryOf(item, key);
    return list === null ? null : textsOf(list, diagnostics);
  };
  if (kind === "folder") {
    const endings = texts("endings") ?? [];
    if (endings.length === 0 || endings.some(({ text }) => !/^\.[\w.-]{1,32}$/.test(text)))
      diagnostics.error("bad_value", item.span, "`endings` is required: the extensions of the files to copy", {
        fix: `{ folder: ${path}, endings: [.md] }`,
      });
    return { kind, path, endings: endings.map(({ text }) => text) };
  }
  if (kind === "text" || kind === "lines") return { kind, path };
  const set = entryOf(item, "set");
  return {
    ...{ kind, path, only: texts("only")?.map(({ text }) => text) ?? null },
    without: texts("without")?.map(({ text }) => text) ?? [],
    set: set === null ? {} : readSet(set, ["root", "home"], diagnostics),
  };
}

function readSet(entry: Entry, places: readonly string[], diagnostics: Diagnostics): JsonObject {
  const map = mapOf(entry, `${entry.key}: { theme: dark }`, diagnostics);
  const value = map === null ? {} : plainValue(map);
  checkTexts(entry.value, places, diagnostics);
  return isJsonObject(value) ? value : {};
}

/** Every text of it, keys too. */
function checkTexts(node: TreeNode, places: readonly string[], diagnostics: Diagnostics): void {
  if (node.kind === "list") for (const item of node.items) checkTexts(item, places, diagnostics);
  else if (node.kind === "map")
    for (const { key, keySpan, value } of node.entries) {
      checkText(key, keySpan, places, diagnostics);
      checkTexts(value, places, diagnostics);
    }
  else if (typeof node.value === "string") checkText(node.value, node.span, places, diagnostics);
}

function checkText(text: string, span: Span, places: readonly string[], diagnostics: Diagnostics): void {
  if (holdsCredential(text))
    diagnostics.error(
      "bad_value",
      span,
      "a profile must not contain a credential: the relay adds it outside the sandbox",
      {
        fix: "ambit secrets set model-key --tool model --host HOST, and write {key} here",
      },
    );
  for (const [, name = ""] of text.matchAll(/\{([A-Za-z]+)\}/g)) {
    if (places.includes(name)) continue;
    const isModels = ["relay", "key", "keyEnd"].includes(name);
    const where = isModels ? "is replaced only under `model`" : "is not a placeholder";
    diagnostics.error("bad_value", span, `{${name}} ${where}`, { suggestion: nearestName(name, places) });
  }
}

function readVariables(
  entry: Entry | null,
  places: readonly string[],
  diagnostics: Diagnostics,
): ClientProfile["variables"] {
  const map = mapOf(entry, 'variables: { CLIENT_TELEMETRY: "0" }', diagnostics);
  if (map !== null && map.entries.length > entriesMax)
    diagnostics.error("too_large", map.span, `\`variables\` has more than ${entriesMax} entries`);
  return (map?.entries ?? []).slice(0, entriesMax).flatMap((one) => {
    if (!/^[A-Za-z_]\w{0,127}$/.test(one.key))
      diagnostics.error("bad_value", one.keySpan, `${quoteText(one.key)} is not the name of a variable`);
    else if (RESERVED.test(one.key.toUpperCase()))
      diagnostics.error("bad_value", one.keySpan, `${one.key} is set by the sandbox, never by a profile`);
    const value = textOf(one, diagnostics);
    if (value === null) return [];
    if (value.text.includes("\0") || value.text.length > 4096)
      diagnostics.error("bad_value", value.span, "the value is longer than 4096 characters, or contains a NUL byte");
    checkText(value.text, value.span, places, diagnostics);
    return [[one.key, value.text] as const];
  });
}

function readFolders(entry: Entry | null, diagnostics: Diagnostics): readonly string[] {
  const texts = entry === null ? [] : (textsOf(entry, diagnostics) ?? []);
  return texts.flatMap((one) => readHomePath(one, diagnostics) ?? []);
}

function readNotes(entry: Entry | null, diagnostics: Diagnostics): readonly string[] {
  const texts = entry === null ? [] : (textsOf(entry, diagnostics) ?? []);
  for (const { text, span } of texts)
    if (text.length > noteCharactersMax || /\p{Cc}/u.test(text))
      diagnostics.error("bad_value", span, `a note is one line of at most ${noteCharactersMax} characters`);
  return texts.map(({ text }) => text);
}

function readHomePath({ text, span }: Text, diagnostics: Diagnostics): string | null {
  const path = text.replace(/^~\//, "").replace(/\/$/, "");
  const names = path.split("/");
  const isPlain = names.every((name) => name !== "" && name !== "." && name !== ".." && name.length <= 255);
  if (isPlain && path.length <= pathCharactersMax && path !== "~" && !/\p{Cc}/u.test(path)) return path;
  diagnostics.error("bad_value", span, `${quoteText(text)} is not a path below the home folder`, {
    fix: ".client/settings",
  });
  return null;
}

function mapOf(entry: Entry | null, fix: string, diagnostics: Diagnostics): Mapping | null {
  if (entry === null || entry.value.kind === "map") return entry?.value.kind === "map" ? entry.value : null;
  const { key, value } = entry;
  diagnostics.error("wrong_type", value.span, `\`${key}\` is a map, not ${kindName(value)}`, { fix });
  return null;
}

function checkKeys(map: Mapping, keys: readonly string[], what: string, diagnostics: Diagnostics): void {
  for (const { key, keySpan } of map.entries)
    if (!keys.includes(key)) {
      const suggestion = nearestName(key, keys);
      diagnostics.error("unknown_key", keySpan, `${what} has no ${quoteText(key)}: ${keys.join(", ")}`, { suggestion });
    }
}
