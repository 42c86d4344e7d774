// Settings of a client as they go into its home in a sandbox: without credentials, with the profile's own answers.
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../core/base/json.ts";
import { KEY_PLACEHOLDER } from "../core/ports/model-key.ts";
import { credentialInSetting, holdsCredential, isCredentialOption } from "./credential-patterns.ts";
import type { ClientProfile, ClientSetting } from "./profile.ts";

/** The paths inside that `{root}` and `{home}` stand for. */
export interface InsidePaths {
  readonly root: string;
  readonly home: string;
  /** The address of the model relay; null: the client has none. */
  readonly relay: string | null;
}

export interface CleanSettings {
  readonly value: JsonObject;
  /** What was left out, as paths of keys. */
  readonly dropped: readonly string[];
}

/** `own`: the person's settings; null where there are none. */
export function sandboxSettings(
  own: JsonObject | null,
  { only, without, set }: Extract<ClientSetting, { readonly kind: "json" | "toml" }>,
  paths: InsidePaths,
): CleanSettings {
  const dropped: string[] = [];
  const chosen = Object.entries(own ?? {}).filter(
    ([key]) => (only === null || only.includes(key)) && !without.includes(key),
  );
  const clean = withoutCredentials(objectOf(chosen), [], dropped);
  return { value: merged(isJsonObject(clean) ? clean : {}, withPlaceholders(set, paths) as JsonObject), dropped };
}

/** Names of keys that hold a credential, or variables and headers that may. */
const SECRET_KEY =
  /^(env|environment|headers|http_?headers|env_http_headers)$|(api|access|private|session|signing|encryption|license)[_-]?key|token|secret|passw(or)?d|pwd|passphrase|credential|authori[sz]ation|oauth|bearer|cookie|helper$/i;

/** Names that hold a credential where their value is a text: as a map they hold settings. */
const SECRET_TEXT_KEY = /^(auth|key|pass|pat)$|[_-](auth|pass|pat)$/i;

/** Keys of package managers that are credentials, or files with one; scoped to a registry or not. */
const SECRET_LINE =
  /(?:^|:)\s*["']?(_auth\w*|_password|username|email|password|token|certfile|keyfile|cert|key|otp|client-cert)["']?\s*=/i;

export interface PlainLines {
  /** Lines in order; a line that names a file of certificates is `authorities`, because that file has another path in the sandbox. */
  readonly lines: readonly (string | { readonly authorities: string })[];
  readonly dropped: readonly string[];
}

/** Lines that hold no credential, and the keys of the others. `key`: names a file of certificates. */
export function plainLines(text: string, key: string | null = null): PlainLines {
  const dropped: string[] = [];
  let isLeftOut = false;
  const lines = text.split("\n").flatMap((line): PlainLines["lines"] => {
    // The value goes on in lines that are indented.
    if (isLeftOut && /^\s+[^\s=]+$/.test(line)) return [];
    isLeftOut = false;
    const [name = "", ...value] = line.split("=");
    if (key !== null && name.trim() === key)
      return [
        {
          authorities: value
            .join("=")
            .trim()
            .replace(/^"(.*)"$/, "$1"),
        },
      ];
    const isSecret = SECRET_LINE.test(line) || SECRET_KEY.test(keyOf(line)) || holdsCredential(line);
    isLeftOut = isSecret;
    if (isSecret) dropped.push(keyOf(line));
    return isSecret ? [] : [line];
  });
  return { lines, dropped };
}

function keyOf(line: string): string {
  return line.split("=", 1)[0]?.trim().replace(/^.*:/, "") ?? "";
}

function withoutCredentials(value: Json, path: readonly string[], dropped: string[]): Json {
  if (isJsonList(value))
    return value
      .filter((item, at) => {
        if (typeof item !== "string") return true;
        const before = value[at - 1];
        const isOption = typeof before === "string" && isCredentialOption(before, item);
        return !isDropped(isOption || credentialInSetting(item), path, dropped);
      })
      .map((item, at) => withoutCredentials(item, [...path, String(at)], dropped));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key, item]) => {
    const isSecret =
      (SECRET_KEY.test(key) && item !== null && typeof item !== "boolean" && typeof item !== "number") ||
      holdsCredential(key) ||
      (typeof item === "string" && (SECRET_TEXT_KEY.test(key) || credentialInSetting(item)));
    return !isDropped(isSecret, [...path, key], dropped);
  });
  return objectOf(kept.map(([key, item]) => [key, withoutCredentials(item, [...path, key], dropped)]));
}

function isDropped(isSecret: boolean, path: readonly string[], dropped: string[]): boolean {
  if (isSecret) dropped.push(path.join("."));
  return isSecret;
}

/** The second over the first, map by map. */
function merged(base: JsonObject, over: JsonObject): JsonObject {
  const names = [...Object.keys(base), ...Object.keys(over).filter((key) => !Object.hasOwn(base, key))];
  return objectOf(
    names.map((key) => {
      const [left, right] = [Object.hasOwn(base, key) ? base[key] : undefined, over[key]];
      if (right === undefined || !Object.hasOwn(over, key)) return [key, left as Json];
      return [key, isJsonObject(left) && isJsonObject(right) ? merged(left, right) : right];
    }),
  );
}

/** A profile's settings, with those of its model where there is a relay. */
export function settingsOf({ settings, model }: ClientProfile, { relay }: InsidePaths): readonly ClientSetting[] {
  if (model === null || relay === null) return settings;
  return settings.map((one) => {
    const more = model.settings.find(({ path }) => path === one.path);
    return more === undefined || !("set" in one) ? one : { ...one, set: merged(one.set, more.set) };
  });
}

/** Variables of a profile, with those of its model where there is a relay. */
export function variablesOf({ variables, model }: ClientProfile, paths: InsidePaths): ClientProfile["variables"] {
  const all = [...variables, ...(model === null || paths.relay === null ? [] : model.variables)];
  return all.map(([name, value]) => [name, placedText(value, paths)] as const);
}

function placedText(text: string, { root, home, relay }: InsidePaths): string {
  return text
    .replaceAll("{root}", () => root)
    .replaceAll("{home}", () => home)
    .replaceAll("{relay}", () => relay ?? "")
    .replaceAll("{key}", () => KEY_PLACEHOLDER)
    .replaceAll("{keyEnd}", () => KEY_PLACEHOLDER.slice(-20));
}

function withPlaceholders(value: Json, paths: InsidePaths): Json {
  if (typeof value === "string") return placedText(value, paths);
  if (isJsonList(value)) return value.map((item) => withPlaceholders(item, paths));
  if (!isJsonObject(value)) return value;
  return objectOf(Object.entries(value).map(([key, item]) => [placedText(key, paths), withPlaceholders(item, paths)]));
}

/** A key such as `__proto__` is an ordinary key. */
function objectOf(entries: readonly (readonly [string, Json])[]): JsonObject {
  const made = Object.create(null) as Record<string, Json>;
  for (const [key, value] of entries) made[key] = value;
  return made;
}

/** TOML with one line for each top-level key: nested maps are inline tables. Null values do not exist in TOML. */
export function tomlText(value: JsonObject): string {
  return Object.entries(value)
    .filter(([, item]) => item !== null)
    .map(([key, item]) => `${tomlString(key)} = ${tomlValue(item)}\n`)
    .join("");
}

function tomlValue(value: Json): string {
  if (typeof value === "string") return tomlString(value);
  if (isJsonList(value))
    return `[${value
      .filter((item) => item !== null)
      .map(tomlValue)
      .join(", ")}]`;
  if (!isJsonObject(value)) return String(value);
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return `{${entries.map(([key, item]) => `${tomlString(key)} = ${tomlValue(item)}`).join(", ")}}`;
}

/** A JSON string is a TOML basic string, except that TOML wants DEL escaped, too. */
function tomlString(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}
