// The language of the `shell` tool, as rules: what it accepts, what it refuses and where, and what no input can do.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { joinLines } from "./joined-lines.ts";
import { commandsMax, scriptCharactersMax, wordsMax } from "./limits.ts";
import { type Language, parseScript } from "./parse.ts";
import { argvText, scriptText, wordText } from "./print.ts";
import type { Construct, RefusalClass } from "./refusal.ts";
import { literalText, type Script, type Word } from "./script.ts";

function script(text: string, language: Language = "script"): Script {
  const parsed = parseScript(text, language);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.construct}`);
  return parsed.script;
}

/** `a b | c ; d`, each word as it would be printed. */
function shown(text: string): string {
  return scriptText(script(text));
}

/** The tree without source positions. */
function bare(tree: Script): unknown {
  return JSON.parse(JSON.stringify(tree, (key, value: unknown) => (key === "range" ? undefined : value)));
}

function wordsOf(tree: Script): readonly Word[] {
  return tree.flatMap(({ stages }) =>
    stages.flatMap(({ words, redirections }) => [
      ...words,
      ...redirections.flatMap((each) => (each.kind === "join" ? [] : [each.target])),
    ]),
  );
}

describe("a script", () => {
  test.each([
    ["a  b\tc", "a b c"],
    ["a;b", "a ; b"],
    ["a;", "a"],
    ["a|b&&c||d", "a | b && c || d"],
    ["a\nb", "a ; b"],
    ["a\n\n\nb\n", "a ; b"],
    ["a |\n b &&\n\n c", "a | b && c"],
    ["a ;\nb", "a ; b"],
    ["a\\\nb", "ab"],
    ["a \\\n b", "a b"],
    ["a &\\\n& b", "a && b"],
    ["'a\\\nb'", "'a\\\nb'"],
    ['"a\\\nb"', "'ab'"],
    ["a\\\\\nb", "a'\\' ; b"],
    ["'a b' \"c d\" e\\ f", "'a b' 'c d' e' 'f"],
    ['"a\\nb\\"c\\\\"', "'a\\nb\"c\\'"],
    ["'it'\\''s'", "'it'\\''s'"],
    ["a''b", "a''b"],
    ['a "$b"c${d}', "a ''${b}c${d}"],
    ["ls *.[ch] '*'?", "ls *.[ch] '*'?"],
    ["a >b 2>>c <d 2>&1", "a 1> b 2>> c < d 2>&1"],
    [">b a", "a 1> b"],
    ["a 2 >b", "a 2 1> b"],
    ["a 'b'>c", "a 'b' 1> c"],
    ["a 0<b", "a < b"],
    ["é 日本", "é 日本"],
  ])("%j is %j", (text, tree) => {
    expect(shown(text)).toBe(tree);
  });

  test("keeps the position of each word and each command in the original text", () => {
    const text = "ab 'c d' | \\\ne\\\nf >g";
    const [{ stages }] = script(text) as [Script[0]];
    expect(stages.map(({ range }) => text.slice(range.start, range.end))).toEqual(["ab 'c d'", "e\\\nf >g"]);
    expect(wordsOf(script(text)).map(({ range }) => text.slice(range.start, range.end))).toEqual([
      "ab",
      "'c d'",
      "e\\\nf",
      "g",
    ]);
  });
});

describe("a refusal", () => {
  // The text, with the position between two marks.
  test.each<[string, RefusalClass, Construct]>([
    ["a «$(»b)", "dynamic", "command_substitution"],
    ['a "«$(»b)"', "dynamic", "command_substitution"],
    ["a «$((»1))", "dynamic", "arithmetic"],
    ["a «`»b`", "dynamic", "command_substitution"],
    ['a "«`»b`"', "dynamic", "command_substitution"],
    ["«(»a)", "dynamic", "subshell"],
    ["a b«)»", "dynamic", "subshell"],
    ["a«(») { b; }", "dynamic", "subshell"],
    ["a «&»", "unsupported", "background"],
    ["a «&» b", "unsupported", "background"],
    ["a |«&» b", "unsupported", "background"],
    ["a «<<»b", "unsupported", "here_document"],
    ["a «0<<»b", "unsupported", "here_document"],
    ["a «>&»2", "unsupported", "stream_copy"],
    ["a «2>&»3", "unsupported", "stream_copy"],
    ["a «2>&»12", "unsupported", "stream_copy"],
    ["a «<&»0", "unsupported", "stream_copy"],
    ["a «3>»b", "unsupported", "stream_number"],
    ["a «0>»b", "unsupported", "stream_number"],
    ["a «1<»b", "unsupported", "stream_number"],
    ["a > «b*»", "unsupported", "pattern_as_target"],
    ["a «$»", "unsupported", "bare_dollar"],
    ["a «$»1", "unsupported", "bare_dollar"],
    ["a «$»'b'", "unsupported", "bare_dollar"],
    ["a «${b:-c}»", "unsupported", "variable_form"],
    ["a b«\r»\nc", "unsupported", "hidden_character"],
    ["a«\u00a0»b", "unsupported", "hidden_character"],
    ["a«\u200b»; b", "unsupported", "hidden_character"],
    ["a «'»b", "malformed", "open_quote"],
    ['a «"»b', "malformed", "open_quote"],
    ['a «"»b\\"', "malformed", "open_quote"],
    ["a «${»b", "malformed", "open_variable"],
    ["a b«\\»", "malformed", "trailing_backslash"],
    ["a «|»", "malformed", "missing_command"],
    ["a | «|» b", "malformed", "missing_command"],
    ["a «&&»", "malformed", "missing_command"],
    ["«&&» a", "malformed", "missing_command"],
    ["a ;«;» b", "malformed", "missing_command"],
    ["a\n«;» b", "malformed", "missing_command"],
    ["« \n »", "malformed", "missing_command"],
    ["a «>»", "malformed", "missing_target"],
    ["a «>» | b", "malformed", "missing_target"],
    ["a «>»\nb", "malformed", "missing_target"],
    ["a «<»(b)", "malformed", "missing_target"],
    ["a > «''»", "malformed", "empty_target"],
    ["«> a»", "malformed", "redirection_alone"],
    ["a | «>b» | c", "malformed", "redirection_alone"],
    ["a«\0»b", "malformed", "not_text"],
    ["a $\\\n", "unsupported", "bare_dollar"],
  ])("%j is %s: %s", (marked, kind, construct) => {
    const text = marked.replace(/[«»]/g, "");
    const start = marked.indexOf("«");
    const end = marked.indexOf("»") - 1;
    const place = start < 0 ? {} : { range: { start, end } };
    expect(parseScript(text)).toMatchObject({ ok: false, class: kind, construct, ...place });
  });

  test("resolves joined lines, and still points at the original text", () => {
    const text = 'echo "$\\\n(touch a)"';
    expect(parseScript(text)).toMatchObject({ construct: "command_substitution", range: { start: 6, end: 10 } });
    expect(parseScript(text.replace("$", "\\$")).ok).toBe(true);
  });

  test.each<[string, (count: number) => string, number, Construct]>([
    ["characters", (count) => "a".repeat(count), scriptCharactersMax, "too_many_characters"],
    ["commands", (count) => "a;".repeat(count), commandsMax, "too_many_commands"],
    ["words", (count) => "a ".repeat(count), wordsMax, "too_many_words"],
  ])("comes with one too many %s, and not before", (_, text, max, construct) => {
    expect(parseScript(text(max)).ok).toBe(true);
    expect(parseScript(text(max + 1))).toMatchObject({ ok: false, class: "too_long", construct });
  });
});

describe("the literal mode", () => {
  test.each(["a b", "a | b && c", "a 'b*$c' \"d e\"", "a\nb", "a -g'*.x'", "a '~' '{b,c}' '#' 'd\\e'"])(
    "accepts %j",
    (text) => {
      expect(bare(script(text, "words"))).toEqual(bare(script(text)));
    },
  );

  test.each<[string, Construct]>([
    ["a $b", "variable"],
    ['a "$b"', "variable"],
    ["a *", "pattern"],
    ["a [b]", "pattern"],
    ["a > b", "redirection"],
    ["a < b", "redirection"],
    ["a 2>&1", "redirection"],
    ["a b{c,d}", "expansion_character"],
    ["a }", "expansion_character"],
    ["a b~", "expansion_character"],
    ["a b^", "expansion_character"],
    ["a b#c", "expansion_character"],
    ["a b\\ c", "escape"],
    ['a "b\\"c"', "escape"],
    ['a "b\\nc"', "escape"],
    ['a "-b\\\nc"', "escape"],
  ])("refuses %j: %s", (text, construct) => {
    expect(parseScript(text).ok).toBe(true);
    expect(parseScript(text, "words")).toMatchObject({ ok: false, class: "not_plain", construct });
  });
});

describe("every text", () => {
  const odd = fc.string({
    unit: fc.constantFrom(
      ..."ab2 \t\n|&;<>()$`'\"\\*?[]{}~#=!-",
      "é",
      "\r",
      "\u00a0",
      "$x",
      "${x}",
      ">>",
      "2>&1",
      "&&",
    ),
    maxLength: 40,
  });
  const any = fc.oneof({ weight: 4, arbitrary: odd }, { weight: 1, arbitrary: fc.string({ unit: "binary" }) });

  test("is answered, and printed and parsed again it is the same tree", () => {
    let accepted = 0;
    fc.assert(
      fc.property(any, (text) => {
        const parsed = parseScript(text);
        if (!parsed.ok) {
          expect(parsed.range.start).toBeLessThanOrEqual(parsed.range.end);
          expect(parsed.range.end).toBeLessThanOrEqual(text.length);
          return;
        }
        accepted++;
        expect(bare(script(scriptText(parsed.script)))).toEqual(bare(parsed.script));
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  test("leaves no metacharacter in the unquoted part of a word", () => {
    fc.assert(
      fc.property(any, (text) => {
        const parsed = parseScript(text);
        if (!parsed.ok) return;
        for (const { parts } of wordsOf(parsed.script))
          for (const part of parts) if (part.kind === "plain") expect(part.text).toMatch(/^[^\s|&;<>()$`'"\\]+$/);
      }),
      { numRuns: 3000 },
    );
  });

  test("is in the literal mode only what it is in the whole language", () => {
    fc.assert(
      fc.property(any, (text) => {
        const literal = parseScript(text, "words");
        if (!literal.ok) return;
        expect(bare(literal.script)).toEqual(bare(script(text)));
        for (const word of wordsOf(literal.script)) expect(literalText(word)).not.toBeNull();
      }),
      { numRuns: 3000 },
    );
  });

  test("as an argument vector, printed as a line, is one command with these arguments", () => {
    const argument = fc.string({ unit: "grapheme" }).filter((text) => !/[\0\uE000\uE001]/.test(text));
    fc.assert(
      fc.property(fc.array(argument, { minLength: 1, maxLength: 6 }), (argv) => {
        const [step, ...others] = script(argvText(argv));
        expect(others).toEqual([]);
        expect(step?.stages.map(({ words }) => words.map(literalText))).toEqual([argv]);
      }),
    );
  });

  test("keeps every character of a word in its place when lines are joined", () => {
    fc.assert(
      fc.property(odd, (text) => {
        const joined = joinLines(text);
        const whole = joined.given({ start: 0, end: joined.text.length });
        expect(whole.end).toBeLessThanOrEqual(text.length);
        for (let at = 0; at < joined.text.length; at++)
          expect(text[joined.given({ start: at, end: at + 1 }).start]).toBe(joined.text[at]);
      }),
    );
  });

  test.each<[string, string]>([
    ["open braces", `a ${"{".repeat(60_000)}`],
    ["quotes", `a ${"''".repeat(30_000)}`],
    ["brackets", `a ${"[".repeat(60_000)}`],
    ["joined lines", `a ${"b\\\n".repeat(20_000)}`],
    ["variables", `a ${"$x".repeat(30_000)}`],
  ])("is read once, however many %s it has", (_, text) => {
    const [word] = wordsOf(script(text)).slice(1);
    expect(wordText(word as Word).length).toBeGreaterThan(0);
  });
});
