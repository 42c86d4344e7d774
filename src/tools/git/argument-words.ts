// Input of a call that becomes arguments of git. INVARIANT: none of it can be parsed as an option, as a forced or
// deleting refspec, as an address, or as more than one word.
import { done, type Result, refuse } from "../../core/base/result.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f]/;

export function revisionWord(text: string): Result<string> {
  if (text.startsWith("-") || CONTROL.test(text))
    return refuse(
      "bad_value",
      `${shown(text)} is not a revision: it starts with a dash or contains a control character`,
    );
  return done(text);
}

/** A plain branch name. */
export function branchWord(text: string): Result<string> {
  const isFine =
    !/^[-+/.@]|[\s~^:?*[\\]|\.\.|@\{|\/\/|[/.]$|\.lock$|\/\./.test(text) && !CONTROL.test(text) && text !== "HEAD";
  return isFine ? done(text) : refuse("bad_value", `${shown(text)} is not the name of a branch`);
}

/** A name without a slash or a colon; whether the remote exists, and where it leads, is checked before git runs. */
export function remoteWord(text: string): Result<string> {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(text) && !text.includes("..")
    ? done(text)
    : refuse("bad_value", `${shown(text)} is not the name of a remote; URLs are not supported`);
}

/** Follows `--`. A leading dash would still be guarded as an option. */
export function pathWord(text: string): Result<string> {
  if (text === "" || text.startsWith(":") || CONTROL.test(text))
    return refuse(
      "bad_value",
      `${shown(text)} is not a path: it is empty, starts with a colon or contains a control character`,
    );
  return done(text.startsWith("-") ? `./${text}` : text);
}

/** Part of a revision: a later colon belongs to the path. */
export function fileWord(text: string): Result<string> {
  return text.startsWith("/") || CONTROL.test(text)
    ? refuse("bad_value", `${shown(text)} is not a path relative to the folder`)
    : done(`./${text}`);
}

/** Line ends and tabs are allowed in a message; other control characters are not. */
export function messageWord(text: string): Result<string> {
  return CONTROL.test(text.replace(/[\n\t]/g, ""))
    ? refuse("bad_value", "the message contains a control character")
    : done(text);
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
