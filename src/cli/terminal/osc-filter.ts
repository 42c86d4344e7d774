// Operating-system commands of a terminal: links to web pages pass, titles, clipboard and notifications only where the
// user's configuration says so. Absent on purpose: colours of the terminal, its folder, prompt marks, files and images.
import type { TerminalPass } from "../../core/notation/config/run-settings.ts";

const titleCharactersMax = 256;
const CLOSED_LINK = "\x1b]8;;\x1b\\";

/** The command as it passes; null: dropped. */
export function filterOsc(text: string, passes: ReadonlySet<TerminalPass>): string | null {
  const [, number = "", rest = ""] = /^(\d{1,5})(?:;([\s\S]*))?$/.exec(text) ?? [];
  switch (number) {
    case "0":
    case "1":
    case "2":
      return passes.has("title") ? osc(number, plain(rest)) : null;
    case "8":
      return linkOf(rest);
    case "9":
    case "777":
      return passes.has("notifications") && isNotification(number, rest) ? osc(number, plain(rest)) : null;
    case "52":
      // Writing alone: reading it would type the clipboard into the program.
      return passes.has("clipboard") && /^[cpqs0-7]*;[A-Za-z0-9+/]*={0,2}$/.test(rest) ? osc(number, rest) : null;
    default:
      return null;
  }
}

/**
 * The same numbers have other commands: `9;7;PROGRAM` runs a program in ConEmu, `9;9;` sets the folder of new windows, and `777;` is
 * whatever an extension of the terminal makes of it.
 */
function isNotification(number: "9" | "777", rest: string): boolean {
  return number === "777" ? rest.startsWith("notify;") : !/^\d+(;|$)/.test(plain(rest).trimStart());
}

/** A link that does not pass ends the one before it: the text must not belong to another address. */
function linkOf(rest: string): string {
  const [, settings = "", address = ""] = /^([^;]*);([\s\S]*)$/.exec(rest) ?? [];
  if (!/^(https?:\/\/|mailto:)[\x21-\x7e]{1,2047}$/i.test(address)) return CLOSED_LINK;
  const [id = ""] = /^id=[\w.-]{1,64}$/.exec(settings) ?? [];
  return `\x1b]8;${id};${address}\x1b\\`;
}

function osc(number: string, text: string): string {
  return `\x1b]${number};${text}\x1b\\`;
}

function plain(text: string): string {
  return [...text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/gu, "")].slice(0, titleCharactersMax).join("");
}
