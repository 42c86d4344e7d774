// What a program may do to the person's terminal: drawing passes byte for byte, everything else is dropped. Each row is tried
// whole, byte by byte, and with C1 controls instead of escapes.
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TerminalPass } from "../../core/notation/config/run-settings.ts";
import { sendReplies } from "../exec/terminal-streams.ts";
import { TerminalFilter } from "./terminal-filter.ts";

const ESC = "\x1b";

interface Seen {
  readonly output: string;
  readonly replies: string;
  readonly positions: number;
}

function filtered(bytes: Uint8Array, passes: readonly TerminalPass[] = [], step = bytes.length): Seen {
  const filter = new TerminalFilter(passes);
  const parts: Uint8Array[] = [];
  let [replies, positions] = ["", 0];
  for (let at = 0; at < bytes.length; at += Math.max(1, step)) {
    const result = filter.write(bytes.subarray(at, at + Math.max(1, step)));
    parts.push(result.output);
    replies += result.replies;
    positions += result.positionQueries;
  }
  return { output: Buffer.concat(parts).toString("utf8"), replies, positions };
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text, "utf8");

/** Escapes that have a C1 form, as their one character. */
function second(text: string): string {
  return text.replaceAll(new RegExp(`${ESC}([@-_])`, "g"), (_all, letter: string) =>
    String.fromCharCode(letter.charCodeAt(0) + 0x40),
  );
}

function check(text: string, expected: Partial<Seen>, passes: readonly TerminalPass[] = []): void {
  for (const spelled of [text, second(text)])
    for (const step of [spelled.length * 4, 1, 2, 3])
      expect(filtered(bytesOf(`a${spelled}b`), passes, step)).toMatchObject(expected);
}

describe("drawing passes", () => {
  test.each([
    ["text of every kind", "héllo 漢字 🙂\t|"],
    ["a carriage return and a line feed", "\r\n"],
    ["colours", `${ESC}[1;38;2;10;20;30;48:5:7mx${ESC}[0m`],
    ["moving and erasing", `${ESC}[2J${ESC}[H${ESC}[10;20H${ESC}[K${ESC}[3A`],
    ["scrolling and margins", `${ESC}[2;10r${ESC}[3S${ESC}[r`],
    ["the alternate screen, the mouse and bracketed paste", `${ESC}[?1049h${ESC}[?1000;1006h${ESC}[?2004h${ESC}[?25l`],
    ["line drawing", `${ESC}(0qqq${ESC}(B`],
    ["saved positions and reverse line feeds", `${ESC}7${ESC}8${ESC}M${ESC}D`],
    ["the shape of the cursor", `${ESC}[6 q`],
    ["how keys are reported", `${ESC}[>4;2m${ESC}[>1u${ESC}[<1u`],
    ["a link to a page", `${ESC}]8;id=x1;https://example.com/a?b${ESC}\\here${ESC}]8;;${ESC}\\`],
  ])("%s", (_title, text) => {
    for (const step of [1, 2, 3, 1000]) {
      const seen = filtered(bytesOf(text), [], step);
      expect(seen).toEqual({ output: text, replies: "", positions: 0 });
    }
  });

  test("C1 controls are the same, in seven bits", () => {
    expect(filtered(bytesOf("\u009b31mx")).output).toBe(`${ESC}[31mx`);
  });

  test("a line feed alone moves down and not to the left", () => {
    expect(filtered(bytesOf("a\nb\r\nc")).output).toBe(`a${ESC}Db\r\nc`);
  });
});

describe("sequences with hidden effects are dropped", () => {
  test.each([
    ["the clipboard, written", `${ESC}]52;c;aGk=${ESC}\\`],
    ["the clipboard, read", `${ESC}]52;c;?\x07`],
    ["a title", `${ESC}]0;sudo password${ESC}\\`],
    ["a title set by screen", `${ESC}ktitle${ESC}\\`],
    ["a title pushed and popped", `${ESC}[22;0t${ESC}[23;0t`],
    ["the title, queried", `${ESC}[21t`],
    ["the window, moved and resized", `${ESC}[3;0;0t${ESC}[8;10;10t`],
    ["colours of the terminal, set and queried", `${ESC}]10;?${ESC}\\${ESC}]11;#000000\x07${ESC}]4;1;?\x07`],
    ["a notification", `${ESC}]9;hello\x07${ESC}]777;notify;a;b\x07${ESC}]99;;x${ESC}\\`],
    ["files and images of iTerm", `${ESC}]1337;File=name=eA==;inline=1:aGk=\x07`],
    ["images of kitty", `${ESC}_Ga=T,f=100;aGk=${ESC}\\`],
    ["sixels", `${ESC}P0;1q#0;2;0;0;0~${ESC}\\`],
    ["a sequence passed through tmux", `${ESC}Ptmux;${ESC}${ESC}]52;c;aGk=\x07${ESC}\\`],
    ["private messages", `${ESC}^secret${ESC}\\${ESC}Xother${ESC}\\`],
    ["printing", `${ESC}[5i${ESC}[4i${ESC}[?5i`],
    ["the answerback of ENQ", "\x05"],
    ["flow control and zero bytes", "\x11\x13\x00\x7f"],
    ["the keyboard lock", `${ESC}[2h`],
    ["132 columns", `${ESC}[?3h`],
    ["unsolicited reports", `${ESC}[?2031h${ESC}[?2048h`],
    ["leaving UTF-8", `${ESC}%@`],
    ["eight-bit controls", `${ESC} G`],
    ["the lines above the screen, erased", `${ESC}[3J`],
    ...["03", "003", "3;0", "3:0", "?3", "?03", "22"].map((number): [string, string] => [
      `the lines above the screen, erased by ${number}`,
      `${ESC}[${number}J`,
    ]),
    ["keys pushed by another program, popped", `${ESC}[<u${ESC}[<99999u`],
    ["checksums of the screen", `${ESC}[1;1;1;1;10;10*y`],
    ["a sequence with a number too long", `${ESC}[999999999b`],
    ["a sequence that does not end in time", `${ESC}[${"1;".repeat(200)}m`],
  ])("%s", (_title, text) => {
    check(text, { output: "ab", positions: 0 });
  });

  test("a link to a file ends the link before it", () => {
    const closed = `${ESC}]8;;${ESC}\\`;
    for (const address of ["file:///etc/passwd", "javascript:alert(1)", "vscode://x", "ssh://host", "https://a b"])
      check(`${ESC}]8;;${address}${ESC}\\`, { output: `a${closed}b` });
  });

  test.each([
    ["a C1 byte alone", [0x61, 0x9b, 0x33, 0x31, 0x6d]],
    ["an overlong escape", [0x61, 0xc0, 0x9b, 0x62]],
    ["a truncated character", [0x61, 0xe2, 0x9b, 0x62]],
    ["an unpaired surrogate", [0x61, 0xed, 0xa0, 0x80, 0x62]],
  ])("%s is shown as unreadable", (_title, bytes) => {
    const { output } = filtered(Uint8Array.from(bytes));
    expect(output).toContain("\ufffd");
    expect(output).not.toContain(ESC);
  });

  test("a full reset is a soft one", () => {
    check(`${ESC}c`, { output: `a${ESC}[!pb` });
  });
});

describe("queries are answered by us", () => {
  test.each([
    ["device attributes", `${ESC}[c`, `${ESC}[?62;22c`],
    ["the old form", `${ESC}Z`, `${ESC}[?62;22c`],
    ["second and third attributes", `${ESC}[>c${ESC}[=c`, ""],
    ["status", `${ESC}[5n`, `${ESC}[0n`],
    ["a private mode", `${ESC}[?2026$p`, `${ESC}[?2026;0$y`],
    ["a setting", `${ESC}P$qm${ESC}\\`, `${ESC}P0$r${ESC}\\`],
    ["terminfo", `${ESC}P+q544e${ESC}\\`, `${ESC}P0+r${ESC}\\`],
    ["the name of the terminal", `${ESC}[>q`, ""],
    ["keys", `${ESC}[?u${ESC}[?4m`, ""],
  ])("%s", (_title, text, replies) => {
    check(text, { output: "ab", replies, positions: 0 });
  });

  test("the cursor position is answered by the terminal, and counted", () => {
    check(`${ESC}[6n`, { output: `a${ESC}[6nb`, replies: "", positions: 1 });
    check(`${ESC}[?6n`, { output: "ab", replies: "", positions: 0 });
  });
});

test("for a program with pipes line feeds stay, and nothing is asked of the terminal", () => {
  const filter = new TerminalFilter([], true);
  const { output, positionQueries } = filter.write(bytesOf(`a\nb${ESC}[6n${ESC}]52;c;aGk=\x07${ESC}[31mc\n`));
  expect(Buffer.from(output).toString()).toBe(`a\nb${ESC}[31mc\n`);
  expect(positionQueries).toBe(0);
});

describe("the user's setting", () => {
  test.each<[TerminalPass, string, string]>([
    ["title", `${ESC}]2;my title\x07`, `${ESC}]2;my title${ESC}\\`],
    ["clipboard", `${ESC}]52;c;aGk=\x07`, `${ESC}]52;c;aGk=${ESC}\\`],
    ["notifications", `${ESC}]9;done${ESC}\\`, `${ESC}]9;done${ESC}\\`],
    ["scrollback", `${ESC}[3J`, `${ESC}[3J`],
  ])("%s", (pass, text, output) => {
    check(text, { output: `a${output}b` }, [pass]);
    check(text, { output: "ab" }, []);
  });

  test.each([
    ["a program that ConEmu runs", `${ESC}]9;7;calc.exe\x07`],
    ["a macro of ConEmu", `${ESC}]9;6;"print(1)"${ESC}\\`],
    ["the folder of new windows", `${ESC}]9;9;/tmp\x07`],
    ["a progress bar", `${ESC}]9;4;1;50\x07`],
    ["a number behind controls", `${ESC}]9;\u200b7;calc.exe\x07`],
    ["an extension of the terminal", `${ESC}]777;preexec\x07`],
  ])("notifications are no way for %s", (_title, text) => {
    check(text, { output: "ab" }, ["notifications"]);
  });

  test("notifications of both kinds pass", () => {
    check(`${ESC}]777;notify;a;b\x07`, { output: `a${ESC}]777;notify;a;b${ESC}\\b` }, ["notifications"]);
    check(`${ESC}]9;3 tests failed\x07`, { output: `a${ESC}]9;3 tests failed${ESC}\\b` }, ["notifications"]);
  });

  test("a program pops only what it pushed", () => {
    expect(filtered(bytesOf(`${ESC}[>1u${ESC}[>3u${ESC}[<9u${ESC}[<1u`)).output).toBe(`${ESC}[>1u${ESC}[>3u${ESC}[<2u`);
  });

  test("never allows reading the clipboard", () => {
    check(`${ESC}]52;c;?\x07`, { output: "ab" }, ["clipboard"]);
  });

  test("removes control characters from a title", () => {
    expect(filtered(bytesOf(`${ESC}]2;a\u202ec\x01\x07`), ["title"]).output).toBe(`${ESC}]2;ac${ESC}\\`);
  });
});

const SEQUENCES = new RegExp(
  ["\\[[<=>?]?[0-9;:]*[ -/]*[@-~]", `\\]8;[^${ESC}]*${ESC}\\\\`, "[()*+][0AB]", "[78DEHM=>]"]
    .map((one) => ESC + one)
    .join("|"),
  "g",
);
/** Those that never pass. */
const CONTROLS = new RegExp(`(?![${String.fromCharCode(7)}-${String.fromCharCode(15)}])\\p{Cc}`, "u");

describe("for every stream", () => {
  test("the output consists of text and whole known sequences, however it is split", () => {
    const piece = fc.constantFrom(
      ESC,
      "[",
      "]",
      "P",
      "_",
      "\\",
      "\x07",
      "0",
      ";",
      "?",
      "$",
      "q",
      "c",
      "n",
      "6",
      "52",
      "x",
      "\x9b",
      "\x18",
      "é",
      "\n",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 1, max: 7 }), (pieces, step) => {
        const bytes = bytesOf(pieces.join(""));
        const whole = filtered(bytes);
        expect(filtered(bytes, [], step)).toEqual(whole);
        expect(whole.output.replaceAll(SEQUENCES, "")).not.toMatch(CONTROLS);
        // Filtering is idempotent.
        expect(filtered(bytesOf(whole.output)).output).toBe(whole.output);
      }),
      { numRuns: 500 },
    );
  });

  test("few queries for the position wait for an answer at once", () => {
    const filter = new TerminalFilter([]);
    expect(filter.write(bytesOf(`${ESC}[6n`.repeat(1_000))).positionQueries).toBe(8);
    expect(filter.write(bytesOf(`${ESC}[6n`)).output).toHaveLength(0);
    filter.positionsAnswered(2);
    expect(filter.write(bytesOf(`${ESC}[6n`.repeat(9))).positionQueries).toBe(2);
    filter.positionsAnswered(1_000);
    expect(filter.positionsOpen).toBe(0);
  });

  test("answers do not gather where the program does not read", () => {
    const input = new PassThrough();
    for (let round = 0; round < 1_000; round++) sendReplies(input, "x".repeat(4_096));
    expect(input.readableLength + input.writableLength).toBeLessThan(262_144);
    input.resume();
  });

  test("a flood of queries gets a limited answer", () => {
    const { replies } = filtered(bytesOf(`${ESC}[c`.repeat(50_000)));
    expect(replies.length).toBeLessThanOrEqual(4_096);
  });
});

describe("at the end", () => {
  function undone(text: string): string {
    const filter = new TerminalFilter([]);
    filter.write(bytesOf(text));
    return filter.modes.undone();
  }

  test.each([
    ["nothing if nothing was changed", `text${ESC}[31mred${ESC}[0m${ESC}[?1049h${ESC}[?1049l`, ""],
    [
      "the alternate screen is left last",
      `${ESC}[?1049h${ESC}[?1000h${ESC}[?25l`,
      `${ESC}[?25h${ESC}[?1000l${ESC}[?1049l`,
    ],
    [
      "colours, keys and the cursor's shape",
      `${ESC}[1m${ESC}[>1u${ESC}[>4;2m${ESC}[2 q`,
      `${ESC}[<1u${ESC}[>4;0m${ESC}[0 q${ESC}[0m`,
    ],
    ["an open link", `${ESC}]8;;https://x.example${ESC}\\y`, `${ESC}]8;;${ESC}\\`],
    ["margins and line drawing", `${ESC}[2;5r${ESC}(0`, `${ESC}7${ESC}[r${ESC}8${ESC}(B`],
    ["a second set that text is drawn with", `${ESC})0\x0e${ESC}(0${ESC}(B`, `${ESC})B\x0f`],
    ["text that is drawn with the terminal's own second set", "\x0e", "\x0f"],
    ["bracketed paste and the keypad", `${ESC}[?2004h${ESC}=`, `${ESC}>${ESC}[?2004l`],
  ])("%s", (_title, text, expected) => {
    expect(undone(text)).toBe(expected);
  });
});
