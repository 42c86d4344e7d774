// What a user's record says about the person, beside its grants: name, address, groups and workspaces.
import { PRINCIPAL_NAME } from "../../authority/principal.ts";
import { done, refuse } from "../../base/result.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { readEach, textOf, textsOf } from "../scope/scope-values.ts";
import { type Entry, entryOf, type Mapping } from "../tree.ts";

export interface UserFacts {
  readonly name: string | null;
  /** For the log, such as a mail address. */
  readonly address: string | null;
  readonly groups: readonly string[];
  /** Folders of the workspaces in which sessions may act for the user, as written; null: in every workspace. */
  readonly workspaces: readonly string[] | null;
}

export const NO_FACTS: UserFacts = { name: null, address: null, groups: [], workspaces: null };

const textCharactersMax = 256;
const groupsMax = 64;
const workspacesMax = 256;

/** Null where a member is not understood: a user without it could do more than was meant. */
export function readUserFacts(record: Mapping, diagnostics: Diagnostics): UserFacts | null {
  const before = diagnostics.list.length;
  const name = line(entryOf(record, "name"), diagnostics);
  const address = line(entryOf(record, "address"), diagnostics);
  const [group, list] = [entryOf(record, "group"), entryOf(record, "groups")];
  if (group !== null && list !== null)
    diagnostics.error("bad_value", group.keySpan, "`group` and `groups` mean the same: write all of them as `groups`");
  const groups = [...groupsIn(group, diagnostics), ...groupsIn(list, diagnostics)];
  const workspaces = workspacesIn(entryOf(record, "workspaces"), diagnostics);
  const isRead = diagnostics.list.slice(before).every(({ severity }) => severity !== "error");
  return isRead ? { name, address, groups, workspaces } : null;
}

function line(entry: Entry | null, diagnostics: Diagnostics): string | null {
  const written = entry === null ? null : textOf(entry, diagnostics);
  if (written === null || entry === null) return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (written.text.length <= textCharactersMax && !/[\u0000-\u001f\u007f]/.test(written.text)) return written.text;
  diagnostics.error(
    "bad_value",
    written.span,
    `\`${entry.key}\` is one line of at most ${textCharactersMax} characters`,
  );
  return null;
}

/** One name, or a list of names. */
function groupsIn(entry: Entry | null, diagnostics: Diagnostics): readonly string[] {
  if (entry === null) return [];
  const { value } = entry;
  const listed: Entry =
    value.kind === "scalar" ? { ...entry, value: { kind: "list", items: [value], span: value.span } } : entry;
  const names = readEach(listed, diagnostics, (text) =>
    PRINCIPAL_NAME.test(text)
      ? done([text])
      : refuse("bad_value", "the name of a group has only letters, digits and . _ @ + -"),
  );
  if ((names?.length ?? 0) > groupsMax)
    diagnostics.error("too_large", value.span, `a user is in at most ${groupsMax} groups`);
  return names ?? [];
}

function workspacesIn(entry: Entry | null, diagnostics: Diagnostics): readonly string[] | null {
  if (entry === null) return null;
  const texts = textsOf(entry, diagnostics);
  if (texts === null) return null;
  if (texts.length > workspacesMax)
    diagnostics.error("too_large", entry.value.span, `\`workspaces\` has at most ${workspacesMax} folders`);
  for (const { text, span } of texts) {
    if (text.startsWith("/") || text === "~" || text.startsWith("~/")) continue;
    const isBelowHome = text !== "" && !text.startsWith("-") && !/(?:^|\/)\.\.?(?:\/|$)|[*?~]/.test(text);
    const fix = isBelowHome ? `~/${text}` : null;
    diagnostics.error("bad_value", span, "a workspace is a folder that begins with / or ~/", { fix });
  }
  return texts.map(({ text }) => text);
}
