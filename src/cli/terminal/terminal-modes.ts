// What a program changed of the person's terminal, so that it can be undone when the program ends or stops, and done again
// when it goes on.
import type { CsiSequence } from "./csi-filter.ts";

/** Private modes that are on before a program changes them: wrapping, repeat, cursor. */
const ON: ReadonlySet<string> = new Set(["7", "8", "25", "1034", "1036", "1039"]);
const SECOND_SCREEN: readonly string[] = ["1049", "1047", "47"];
const modesMax = 64;
const pushesMax = 32;

/** `sent`: how keys are sent, set without a push. */
type Flag = "keypad" | "shift" | "colours" | "margins" | "keys" | "cursor" | "link" | "sent";

export class TerminalModes {
  /** Private modes that differ from how they were, in the order they were changed. */
  readonly #private = new Set<string>();
  readonly #ansi = new Set<string>();
  readonly #flags = new Set<Flag>();
  /** Character sets that are not ASCII, by the sign that designates them. */
  readonly #sets = new Set<string>();
  #pushes = 0;

  /** A sequence that reached the terminal. */
  passed({ prefix, parameters, intermediates, final }: CsiSequence): void {
    const [first = ""] = parameters;
    switch (`${prefix}${intermediates}${final}`) {
      case "?h":
      case "?l":
        for (const mode of parameters) this.#mode(this.#private, mode, ON.has(mode) === (final === "l"));
        break;
      case "h":
      case "l":
        for (const mode of parameters) this.#mode(this.#ansi, mode, final === "h");
        break;
      case "m":
        this.#flag("colours", !(parameters.length === 1 && (first === "" || first === "0")));
        break;
      case "r":
      case "s":
        if (first !== "") this.#flag("margins", true);
        else if (final === "r") this.#flag("margins", false);
        break;
      case ">m":
        this.#flag("keys", parameters.length > 1 && parameters[1] !== "0");
        break;
      case " q":
        this.#flag("cursor", first !== "" && first !== "0");
        break;
      case ">u":
        this.#pushes = Math.min(this.#pushes + 1, pushesMax);
        break;
      case "<u":
        this.#pushes = Math.max(0, this.#pushes - Math.max(1, Number(first)));
        break;
      case "=u":
        this.#flag("sent", first !== "" && first !== "0");
        break;
      case "!p":
        this.#ansi.clear();
        this.#sets.clear();
        for (const flag of ["keypad", "shift", "colours", "margins"] as const) this.#flags.delete(flag);
        break;
      default:
    }
  }

  keypad(isOn: boolean): void {
    this.#flag("keypad", isOn);
  }

  /** `sign`: of `()*+`, one of the four sets. */
  characterSet(sign: string, isOther: boolean): void {
    if (isOther) this.#sets.add(sign);
    else this.#sets.delete(sign);
  }

  /** Text is drawn with the second set, or with the first one again. */
  shift(isSecond: boolean): void {
    this.#flag("shift", isSecond);
  }

  /** How many of the pushed ways to send keys can be popped: those below are of the person's own programs. */
  get pushes(): number {
    return this.#pushes;
  }

  /** The link that is open, by the command that passed. */
  link(command: string): void {
    if (command.startsWith("\x1b]8;")) this.#flag("link", !command.startsWith("\x1b]8;;\x1b"));
  }

  /** Puts the terminal back. */
  undone(): string {
    const modes = [...this.#private].reverse();
    // The second screen is left last, so that the first one gets its cursor and margins back.
    const ordered = [
      ...modes.filter((one) => !SECOND_SCREEN.includes(one)),
      ...modes.filter((one) => SECOND_SCREEN.includes(one)),
    ];
    return [
      this.#has("link", "\x1b]8;;\x1b\\"),
      this.#pushes > 0 ? `\x1b[<${this.#pushes}u` : "",
      this.#has("sent", "\x1b[=0u"),
      this.#has("keys", "\x1b[>4;0m"),
      this.#has("margins", "\x1b7\x1b[r\x1b8"),
      ...[...this.#sets].map((sign) => `\x1b${sign}B`),
      this.#has("shift", "\x0f"),
      this.#has("keypad", "\x1b>"),
      this.#has("cursor", "\x1b[0 q"),
      this.#has("colours", "\x1b[0m"),
      ...[...this.#ansi].map((mode) => `\x1b[${mode}l`),
      ...ordered.map((mode) => `\x1b[?${mode}${ON.has(mode) ? "h" : "l"}`),
    ].join("");
  }

  /** The modes that were on, for a program that goes on; it draws the rest itself. */
  redone(): string {
    return [
      ...[...this.#private].map((mode) => `\x1b[?${mode}${ON.has(mode) ? "l" : "h"}`),
      ...[...this.#ansi].map((mode) => `\x1b[${mode}h`),
      this.#has("keypad", "\x1b="),
    ].join("");
  }

  #has(flag: Flag, text: string): string {
    return this.#flags.has(flag) ? text : "";
  }

  #flag(flag: Flag, isOn: boolean): void {
    if (isOn) this.#flags.add(flag);
    else this.#flags.delete(flag);
  }

  #mode(modes: Set<string>, mode: string, isChanged: boolean): void {
    // Saving the cursor is an action.
    if (mode === "1048") return;
    modes.delete(mode);
    if (isChanged && modes.size < modesMax) modes.add(mode);
  }
}
