// What only the user says about running programs: names let through from the environment, limits, who resolves
// names, and where secrets are kept. Anything not understood is an error, and with an error nothing of the level counts.
import { hostCharactersMax, nameCharactersMax } from "../../base/limits.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import { kindName, type Text, textOf, textsOf } from "../scope/scope-values.ts";
import { type Entry, entryOf, type Mapping } from "../tree.ts";

/** As written; whatever is not said has the default of the sandbox. */
export type WrittenLimits = Readonly<Partial<Record<LimitKey, number>>>;

export const LIMIT_KEYS = [
  "seconds",
  "cpu_seconds",
  "memory_mib",
  "processes",
  "file_mib",
  "open_files",
  "output_mib",
  "temporary_mib",
  "draft_mib",
  "draft_files",
  "copy_mib",
] as const;
export type LimitKey = (typeof LIMIT_KEYS)[number];

const limitMax = 1_000_000;

/** Where a secret is, whom it is for, and the name that goes with it. Never the secret itself. */
export interface WrittenSecret {
  readonly name: string;
  readonly from: { readonly kind: "env" | "file"; readonly at: string };
  /** Exact names. */
  readonly hosts: readonly string[];
  readonly username: string | null;
}

export function readEnvironmentNames(entry: Entry, diagnostics: Diagnostics): readonly string[] | null {
  const names = textsOf(entry, diagnostics);
  if (names === null) return null;
  for (const { text, span } of names)
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(text))
      diagnostics.error("bad_value", span, `${quoteText(text)} is not the name of a variable`, { fix: "EDITOR" });
  return names.map(({ text }) => text);
}

export interface WrittenPrograms {
  readonly add: readonly (readonly string[])[];
  readonly remove: readonly (readonly string[])[];
}

const PROGRAM_KEYS = ["add", "remove"] as const;

/** `folder`: reads one, and reports what is none. */
export function readPrograms(
  entry: Entry,
  folder: (written: Text) => readonly string[] | null,
  diagnostics: Diagnostics,
): WrittenPrograms | null {
  const map = mapOf(entry, diagnostics, "programs: { add: [~/tools/bin] }");
  if (map === null) return null;
  for (const { key, keySpan } of map.entries)
    if (!PROGRAM_KEYS.some((one) => one === key)) {
      const suggestion = nearestName(key, PROGRAM_KEYS);
      diagnostics.error("unknown_key", keySpan, `\`programs\` has \`add\` and \`remove\`, not ${quoteText(key)}`, {
        suggestion,
      });
    }
  const read = (key: (typeof PROGRAM_KEYS)[number]): readonly (readonly string[])[] => {
    const written = entryOf(map, key);
    const texts = written === null ? [] : (textsOf(written, diagnostics) ?? []);
    return texts.map(folder).filter((one) => one !== null);
  };
  return { add: read("add"), remove: read("remove") };
}

export function readLimits(entry: Entry, diagnostics: Diagnostics): WrittenLimits | null {
  const map = mapOf(entry, diagnostics, "limits: { seconds: 600 }");
  if (map === null) return null;
  const limits: Partial<Record<LimitKey, number>> = {};
  for (const { key, keySpan, value } of map.entries) {
    const known = LIMIT_KEYS.find((one) => one === key);
    if (known === undefined) {
      const suggestion = nearestName(key, LIMIT_KEYS);
      diagnostics.error("unknown_key", keySpan, `there is no limit called ${quoteText(key)}`, { suggestion });
    } else if (value.kind !== "scalar" || !isLimit(value.value))
      diagnostics.error("bad_value", value.span, `\`${key}\` is a whole number from 1 to ${limitMax}`);
    else limits[known] = value.value;
  }
  return limits;
}

function isLimit(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= limitMax;
}

/** Addresses of resolvers, with a port if it is not 53. */
export function readResolvers(entry: Entry, diagnostics: Diagnostics): readonly string[] | null {
  const list = entry.value.kind === "list" ? textsOf(entry, diagnostics) : oneOf(entry, diagnostics);
  if (list === null) return null;
  for (const { text, span } of list)
    if (!/^(\d{1,3}(\.\d{1,3}){3}(:\d{1,5})?|\[[0-9a-f:.]{2,45}\](:\d{1,5})?)$/.test(text))
      diagnostics.error("bad_value", span, `${quoteText(text)} is not the address of a resolver`, {
        fix: "127.0.0.53",
      });
  return list.map(({ text }) => text);
}

/** Argv, never a shell line; the program by its whole path. */
export function readNotify(entry: Entry, diagnostics: Diagnostics): readonly string[] | null {
  const words = textsOf(entry, diagnostics);
  const [program] = words ?? [];
  if (words === null || program === undefined) return null;
  if (!program.text.startsWith("/") || words.some(({ text }) => text.includes("\0") || text.length > 1024))
    diagnostics.error(
      "bad_value",
      program.span,
      "`notify` is the absolute path of a program, and its first arguments",
      {
        fix: "notify: [/usr/bin/notify-send, ambit]",
      },
    );
  return words.map(({ text }) => text);
}

export const TERMINAL_PASSES = ["title", "clipboard", "notifications", "scrollback"] as const;
export type TerminalPass = (typeof TERMINAL_PASSES)[number];

export function readTerminal(entry: Entry, diagnostics: Diagnostics): readonly TerminalPass[] | null {
  const words = textsOf(entry, diagnostics);
  if (words === null) return null;
  return words.flatMap(({ text, span }) => {
    const pass = TERMINAL_PASSES.find((one) => one === text);
    if (pass === undefined)
      diagnostics.error("bad_value", span, `\`terminal\` is a list of ${TERMINAL_PASSES.join(", ")}`, {
        suggestion: nearestName(text, TERMINAL_PASSES),
        fix: "terminal: [title]",
      });
    return pass === undefined ? [] : [pass];
  });
}

function oneOf(entry: Entry, diagnostics: Diagnostics): ReturnType<typeof textsOf> {
  const text = textOf(entry, diagnostics);
  return text === null ? null : [text];
}

export function readSecrets(entry: Entry, diagnostics: Diagnostics): readonly WrittenSecret[] | null {
  const map = mapOf(entry, diagnostics, "secrets: { git-token: { from: env:GIT_TOKEN, hosts: [git.example.com] } }");
  if (map === null) return null;
  return map.entries.flatMap((one) => {
    const secret = readSecret(one, diagnostics);
    return secret === null ? [] : [secret];
  });
}

const SECRET_KEYS: readonly string[] = ["from", "hosts", "username"];

/** A plain string is the source of a secret that no tool may use yet. */
function readSecret(entry: Entry, diagnostics: Diagnostics): WrittenSecret | null {
  const short: Mapping = { kind: "map", entries: [{ ...entry, key: "from" }], span: entry.value.span };
  const map =
    entry.value.kind === "scalar"
      ? short
      : mapOf(entry, diagnostics, `${entry.key}: { from: env:NAME, hosts: [git.example.com] }`);
  if (map === null) return null;
  for (const { key, keySpan } of map.entries)
    if (!SECRET_KEYS.includes(key))
      diagnostics.error("unknown_key", keySpan, `a secret has no ${quoteText(key)}`, {
        suggestion: nearestName(key, SECRET_KEYS),
      });
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(entry.key) || entry.key.length > nameCharactersMax)
    diagnostics.error("bad_value", entry.keySpan, `${quoteText(entry.key)} is not the name of a secret`);
  const from = entryOf(map, "from");
  const reference = from === null ? null : textOf(from, diagnostics);
  const [, kind, at] = /^(env|file):(.{1,1024})$/.exec(reference?.text ?? "") ?? [];
  if ((kind !== "env" && kind !== "file") || at === undefined) {
    const span = from === null ? entry.value.span : from.value.span;
    diagnostics.error("bad_value", span, "`from` is the source of the secret: env:NAME or file:PATH", {
      fix: "from: env:GIT_TOKEN",
    });
    return null;
  }
  const hosts = entryOf(map, "hosts");
  const names = hosts === null ? [] : textsOf(hosts, diagnostics);
  if (names === null) return null;
  for (const { text, span } of names)
    if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(text) || text.length > hostCharactersMax)
      diagnostics.error("bad_value", span, `${quoteText(text)} is not the plain name of a host`);
  const username = entryOf(map, "username");
  const user = username === null ? null : textOf(username, diagnostics);
  if (user !== null && !/^[\x21-\x7e]{1,128}$/.test(user.text))
    diagnostics.error("bad_value", user.span, "a username is printable and without spaces");
  return { name: entry.key, from: { kind, at }, hosts: names.map(({ text }) => text), username: user?.text ?? null };
}

function mapOf({ key, value }: Entry, diagnostics: Diagnostics, fix: string): Mapping | null {
  if (value.kind === "map") return value;
  diagnostics.error("wrong_type", value.span, `\`${key}\` is a map, not ${kindName(value)}`, { fix });
  return null;
}
