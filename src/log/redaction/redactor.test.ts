// No known secret passes, in any of these encodings and however the bytes are split; and nothing else is changed.
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KnownSecret } from "./known-secret.ts";
import { redactedBytesMax, redactedDepthMax, secretBytesMax } from "./limits.ts";
import { type Redactor, redactorOf } from "./redactor.ts";

const SETTINGS = { numRuns: 200 } as const;
const SECRET = 's3cr&t/Pass"w0rd<é>+tail';

function redactor(...secrets: readonly (readonly [string, string | Uint8Array])[]): Redactor {
  const known: KnownSecret[] = secrets.map(([name, value]) => ({
    name,
    bytes: typeof value === "string" ? Buffer.from(value) : value,
  }));
  const made = redactorOf(known);
  if (!made.ok) throw new Error(made.message);
  return made.redactor;
}

function streamed(made: Redactor, pieces: readonly Uint8Array[]): { text: string; names: readonly string[] } {
  const stream = made.stream();
  const out = pieces.map((piece) => stream.write(piece));
  out.push(stream.end());
  return { text: Buffer.concat(out).toString("latin1"), names: stream.names() };
}

const percentAll = (bytes: Buffer): string => bytes.toString("hex").replace(/../g, "%$&");
const entity = (text: string): string => [...text].map((one) => `&#${one.codePointAt(0)};`).join("");

const quotedPrintable = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) =>
      byte >= 0x20 && byte < 0x7f && byte !== 0x3d
        ? String.fromCharCode(byte)
        : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    )
    .join("");

/** Each encoding of a text, as bytes. */
const ENCODINGS: readonly (readonly [string, (text: string) => Buffer | string])[] = [
  ["unencoded", (text) => text],
  ["percent-encoded", (text) => encodeURIComponent(text)],
  ["percent-encoded in lower case", (text) => encodeURIComponent(text).replace(/%../g, (one) => one.toLowerCase())],
  ["every byte percent-encoded", (text) => percentAll(Buffer.from(text))],
  ["every byte percent-encoded in upper case", (text) => percentAll(Buffer.from(text)).toUpperCase()],
  ["as a string of JSON", (text) => JSON.stringify(text).slice(1, -1)],
  ["as a string of JSON in a string of JSON", (text) => JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1)],
  ["hexadecimal", (text) => Buffer.from(text).toString("hex")],
  ["hexadecimal in upper case", (text) => Buffer.from(text).toString("hex").toUpperCase()],
  ["base64", (text) => Buffer.from(text).toString("base64")],
  ["base64, one byte in", (text) => Buffer.from(`:${text}`).toString("base64")],
  ["base64, two bytes in", (text) => Buffer.from(`a:${text}`).toString("base64")],
  ["base64url", (text) => Buffer.from(text).toString("base64url")],
  ["base64url, with more around it", (text) => Buffer.from(`x:${text}~~`).toString("base64url")],
  ["upper-cased", (text) => text.replace(/[a-z]/g, (one) => one.toUpperCase())],
  ["lower-cased", (text) => text.replace(/[A-Z]/g, (one) => one.toLowerCase())],
  ["all letters upper-cased", (text) => text.toUpperCase()],
  ["all letters lower-cased", (text) => text.toLowerCase()],
  ["quoted-printable", (text) => quotedPrintable(text)],
  ["reversed", (text) => Buffer.from(text).reverse()],
  ["UTF-16, low byte first", (text) => Buffer.from(text, "utf16le")],
  ["UTF-16, high byte first", (text) => Buffer.from(text, "utf16le").swap16()],
  ["entities", (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")],
  ["entities by number", (text) => entity(text)],
];

/** Printable, partly beyond ASCII, with characters that most encodings escape. */
const secretText = fc
  .array(fc.constantFrom(...'abcXYZ019-_.~!*()+/=&<>"%\\ é€😀'), { minLength: 10, maxLength: 40 })
  .map((characters) => characters.join(""))
  .filter((text) => text.trim().length >= 10);

describe.each(ENCODINGS)("%s", (_, encode) => {
  test("a secret is replaced, in one chunk and split at every position", () => {
    const made = redactor(["token", SECRET]);
    const encoded = Buffer.from(encode(SECRET) as string);
    const bytes = Buffer.concat([Buffer.from("before "), encoded, Buffer.from(" after")]);
    const whole = streamed(made, [bytes]);
    expect(whole.names).toEqual(["token"]);
    expect(whole.text).toContain("[REDACTED:token]");
    expect(whole.text).toMatch(/^before .* after$/s);
    expect(whole.text.length).toBeLessThan("before [REDACTED:token] after".length + 8);
    for (let cut = 0; cut <= bytes.length; cut++)
      expect(streamed(made, [bytes.subarray(0, cut), bytes.subarray(cut)]), `cut at ${cut}`).toEqual(whole);
    const single = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(streamed(made, single)).toEqual(whole);
  });

  test("random secrets are replaced", () => {
    fc.assert(
      fc.property(secretText, (secret) => {
        const made = redactor(["other", "never-anywhere-0"], ["token", secret]);
        const bytes = Buffer.concat([Buffer.from("<<"), Buffer.from(encode(secret) as string), Buffer.from(">>")]);
        expect(streamed(made, [bytes]).names).toEqual(["token"]);
        expect(made.redactBytes(bytes).names).toEqual(["token"]);
      }),
      { ...SETTINGS, numRuns: 60 },
    );
  });
});

/** Forms that only a scan of the whole text can find. */
const WRAPPED: readonly (readonly [string, (text: string) => string])[] = [
  ["base64, wrapped", (text) => Buffer.from(text).toString("base64").replace(/.{12}/g, "$&\n")],
  ["base64, wrapped at four", (text) => Buffer.from(text).toString("base64").replace(/.{4}/g, "$&\n")],
  ["base64, wrapped at seven", (text) => Buffer.from(text).toString("base64").replace(/.{7}/g, "$&\n")],
  ["base64, wrapped with carriage returns", (text) => Buffer.from(text).toString("base64").replace(/.{20}/g, "$&\r\n")],
  ["base64, wrapped and then a string of JSON", (text) => wrap(Buffer.from(text).toString("base64"), "\\n")],
  ["base64 of base64", (text) => Buffer.from(Buffer.from(text).toString("base64")).toString("base64")],
  [
    "base64 of base64, both wrapped",
    (text) => wrap(Buffer.from(wrap(Buffer.from(text).toString("base64"), "\n")).toString("base64"), "\n"),
  ],
  ["base64 of hexadecimal", (text) => Buffer.from(Buffer.from(text).toString("hex")).toString("base64")],
  ["hexadecimal of base64", (text) => Buffer.from(Buffer.from(text).toString("base64")).toString("hex")],
  ["hexadecimal with spaces", (text) => Buffer.from(text).toString("hex").replace(/..../g, "$& ")],
  [
    "hexadecimal with colons",
    (text) =>
      Buffer.from(text)
        .toString("hex")
        .replace(/..(?!$)/g, "$&:"),
  ],
  [
    "hexadecimal in both cases",
    (text) =>
      Buffer.from(text)
        .toString("hex")
        .replace(/[a-f]/, "F")
        .replace(/[b-e]/g, (one) => one.toUpperCase()),
  ],
  ["bytes in a program's source", (text) => Buffer.from(text).toString("hex").replace(/../g, "0x$&, ")],
  ["escaped bytes", (text) => Buffer.from(text).toString("hex").replace(/../g, "\\x$&")],
  ["a dump of xxd", (text) => dump(Buffer.from(text), ": ", /..../g)],
  ["a dump of hexdump", (text) => dump(Buffer.from(text), "  ", /../g, "|")],
  [
    "percent-encoding in both cases",
    (text) => percentAll(Buffer.from(text)).replace(/[a-f](?=.*$)/, (one) => one.toUpperCase()),
  ],
  ["percent, twice", (text) => encodeURIComponent(percentAll(Buffer.from(text)))],
  ["partly escaped", (text) => text.replace(/[3crP]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)],
  ["escapes of several kinds", (text) => `${entity(text.slice(0, 9))}${percentAll(Buffer.from(text.slice(9)))}`],
  ["split by a newline", (text) => `${text.slice(0, 9)}\n${text.slice(9)}`],
  ["spaced out", (text) => [...text].join(" ")],
  ["quoted-printable with soft line breaks", (text) => quotedPrintable(text).replace(/.{8}/g, "$&=\r\n")],
];

function wrap(text: string, by: string): string {
  return text.replace(/.{16}/g, `$&${by}`);
}

function dump(bytes: Buffer, behind: string, group: RegExp, bar = ""): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.subarray(at, at + 16);
    const text = row.toString("latin1").replace(/[^ -~]/g, ".");
    const columns = row
      .toString("hex")
      .replace(group, "$& ")
      .trim()
      .padEnd(bar === "" ? 39 : 47);
    lines.push(`${at.toString(16).padStart(8, "0")}${behind}${columns}  ${bar}${text}${bar}`);
  }
  return `\n${lines.join("\n")}\n`;
}

test.each(WRAPPED)("in a whole text: %s", (_, encode) => {
  const made = redactor(["token", SECRET]);
  const text = `first line\nvalue: ${encode(SECRET)} end\nlast line`;
  const { value, names } = made.redactText(text);
  expect(names).toEqual(["token"]);
  expect(value).toMatch(/^first line\n/);
  expect(value).toMatch(/last line$/);
  expect(value).toContain("[REDACTED:token]");
  // Not even half of it is left, plain or encoded.
  for (const part of [SECRET.slice(0, 8), SECRET.slice(-8), Buffer.from(SECRET.slice(0, 9)).toString("base64")])
    expect(value).not.toContain(part);
});

/** The output of a program, line by line. */
const STREAMED: readonly (readonly [string, string])[] = [
  ["base64, wrapped", Buffer.from(SECRET).toString("base64").replace(/.{12}/g, "$&\n")],
  ["a dump of xxd", dump(Buffer.from(SECRET), ": ", /..../g).trim()],
  ["a dump of hexdump", dump(Buffer.from(SECRET), "  ", /../g, "|").trim()],
  [
    "escapes of JSON inside a line",
    `{"value": "${SECRET.replace(/[3crP]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)}"}`,
  ],
  ["escapes of JSON", SECRET.replace(/[3crP]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)],
  ["quoted-printable with soft line breaks", quotedPrintable(SECRET).replace(/.{8}/g, "$&=\r\n")],
];

test.each(STREAMED)("in chunks: %s", (_, encoded) => {
  const made = redactor(["token", SECRET]);
  const bytes = Buffer.from(`first line\n${encoded}\nlast line, and more\n`);
  const whole = streamed(made, [bytes]);
  expect(whole.names).toEqual(["token"]);
  expect(whole.text).toMatch(/^first line\n/);
  expect(whole.text).toMatch(/last line, and more\n$/);
  expect(whole.text).toContain("[REDACTED:token]");
  for (let cut = 0; cut <= bytes.length; cut++)
    expect(streamed(made, [bytes.subarray(0, cut), bytes.subarray(cut)]), `cut at ${cut}`).toEqual(whole);
  expect(
    streamed(
      made,
      [...bytes].map((byte) => Uint8Array.of(byte)),
    ),
  ).toEqual(whole);
});

test("lines that do not look encoded are passed on at once, and nothing is lost", () => {
  const made = redactor(["token", SECRET]);
  const stream = made.stream();
  expect(Buffer.from(stream.write(Buffer.from("Continue? [y/n] "))).toString()).toBe("Continue? [y/n] ");
  expect(stream.isHolding()).toBe(false);
  expect(Buffer.from(stream.write(Buffer.from("\nnext line\n"))).toString()).toBe("\nnext line\n");
  const large = Buffer.from("QUJDREVGR0hJSktM\n".repeat(20_000));
  const out = [stream.write(large), stream.end()];
  expect(Buffer.concat(out).equals(large)).toBe(true);
});

test("a compressed secret is not found, as documented", () => {
  const made = redactor(["token", SECRET]);
  expect(made.redactBytes(gzipSync(SECRET.repeat(3))).names).toEqual([]);
});

test("however the bytes are split, the output is the same", { timeout: 60_000 }, () => {
  const words = fc.constantFrom(
    "abab",
    "abababab",
    "babababa",
    "x",
    "abab-abab",
    "%61%62",
    "YWJhYmFiYWI",
    "6162616261626162",
    "61 62 61 62\n",
    "0010: 6162 6162  abab\n",
    "YWJhYmFi\n",
    "YWJhYmFiYWJhYmFi\n",
    "\\u0061\\x62",
    "=61=62=\n",
    "&#97;&#x62;",
    "%2561",
    "\\",
    "\n",
    "value: ",
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 40 }), fc.array(fc.nat(12), { maxLength: 60 }), (parts, sizes) => {
      const made = redactor(["one", "abababab"], ["two", "babababa"], ["three", "abab-abab"]);
      const bytes = Buffer.from(parts.join(""));
      const pieces: Uint8Array[] = [];
      let at = 0;
      for (const size of sizes) {
        pieces.push(bytes.subarray(at, at + size));
        at = Math.min(bytes.length, at + size);
      }
      pieces.push(bytes.subarray(at));
      expect(streamed(made, pieces)).toEqual(streamed(made, [bytes]));
      expect(streamed(made, [bytes]).text).not.toMatch(/abababab|babababa|abab-abab/);
    }),
    { numRuns: 2_000 },
  );
});

test("overlapping matches are redacted as one, and all their secrets are named", () => {
  const made = redactor(["one", "abcdefgh"], ["two", "efghijkl"], ["inner", "cdefghij"]);
  const whole = streamed(made, [Buffer.from("-abcdefghijkl-")]);
  expect(whole).toEqual({ text: "-[REDACTED:one][REDACTED:two][REDACTED:inner]-", names: ["one", "two", "inner"] });
});

test("a secret that ends another is named as well", () => {
  const made = redactor(["long", "prefix-of-tail-1234"], ["canary", "tail-1234"]);
  expect(made.redactText("prefix-of-tail-1234").names).toEqual(["long", "canary"]);
});

test("nothing is changed if there is no secret", { timeout: 60_000 }, () => {
  const made = redactor(["one", SECRET], ["two", "correct horse battery staple"], ["three", "0123456789abcdef"]);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.string({ unit: "binary", maxLength: 400 }), (bytes, text) => {
      expect(Buffer.from(made.redactBytes(bytes).value).equals(bytes)).toBe(true);
      expect(streamed(made, [bytes]).text).toBe(Buffer.from(bytes).toString("latin1"));
      expect(made.redactText(text)).toEqual({ value: text, names: [] });
      expect(made.redactText(`${text}\ud800 half`).value).toBe(`${text}\ud800 half`);
    }),
    SETTINGS,
  );
  const page =
    "Correct horses eat 0123 battery staples; 0123456789abcde, s3cr&t/Pass. A=B%20C &amp; 00000010: 6162  ab\n";
  expect(made.redactText(page.repeat(50)).value).toBe(page.repeat(50));
});

test("the text around a secret is unchanged, beyond ASCII too", () => {
  const made = redactor(["token", SECRET]);
  expect(made.redactText(`😀 é ${SECRET} €\ud800.`).value).toBe("😀 é [REDACTED:token] €\ud800.");
});

test("a secret with spaces is found wrapped at another place", () => {
  const made = redactor(["phrase", "correct horse battery staple"]);
  expect(made.redactText("it is correct\n  horse battery\n staple.").value).toBe("it is [REDACTED:phrase].");
});

test("bytes that are not text are redacted as well", () => {
  const key = Uint8Array.from({ length: 32 }, (_, at) => (at * 37 + 200) & 255);
  const made = redactor(["key", key]);
  for (const encoded of [Buffer.from(key), Buffer.from(Buffer.from(key).toString("base64"))])
    expect(streamed(made, [encoded]).names).toEqual(["key"]);
});

test("JSON is redacted in keys, values and numbers, and stays JSON", () => {
  const made = redactor(["token", "tok-12345678"], ["pin", "1234567890"]);
  const json = { "tok-12345678": 1, "[REDACTED:token]": 2, list: ["x tok-12345678 y", 1234567890, null, true, 7] };
  const { value, names } = made.redactJson(json);
  expect(JSON.parse(JSON.stringify(value))).toEqual({
    "[REDACTED:token]": 1,
    "[REDACTED:token] (2)": 2,
    list: ["x [REDACTED:token] y", "[REDACTED:pin]", null, true, 7],
  });
  expect(names).toEqual(["token", "pin"]);
});

test("JSON with a member called __proto__ keeps it, and a value nested too deep is not returned", () => {
  const made = redactor(["token", "tok-12345678"]);
  const odd = JSON.parse('{"__proto__": "tok-12345678"}');
  expect(JSON.stringify(made.redactJson(odd).value)).toBe('{"__proto__":"[REDACTED:token]"}');
  const deep = JSON.parse(`${"[".repeat(redactedDepthMax + 1)}"tok-12345678"${"]".repeat(redactedDepthMax + 1)}`);
  expect(JSON.stringify(made.redactJson(deep).value)).not.toContain("tok-12345678");
});

test.each([
  ["too short", "1234567", /at least 8/],
  ["too short in characters", "ééééééé", /at least 8/],
  ["too large", "x".repeat(secretBytesMax + 1), /at most/],
])("a secret that is %s is refused with its name", (_, value, message) => {
  const made = redactorOf([{ name: "odd", bytes: Buffer.from(value) }]);
  expect(made).toMatchObject({ ok: false, code: "invalid_input", name: "odd" });
  if (!made.ok) expect(made.message).toMatch(message);
});

test("too many secrets altogether are refused", () => {
  const bytes = new Uint8Array(secretBytesMax).fill(65);
  const secrets = Array.from({ length: redactedBytesMax / secretBytesMax + 1 }, (_, at) => ({ name: `${at}`, bytes }));
  expect(redactorOf(secrets)).toMatchObject({ ok: false, name: null });
});

test("the largest secrets are found", () => {
  const value = Buffer.alloc(secretBytesMax, "0123456789abcdefghijklmnopqrstuvwxyz-");
  const made = redactor(["large", value]);
  expect(streamed(made, [Buffer.from(`(${value.toString("base64")})`)]).names).toEqual(["large"]);
  expect(made.redactText(`(${percentAll(value)})`).names).toEqual(["large"]);
});

test("without secrets nothing is found", () => {
  const made = redactor();
  expect(made.redactText("anything at all")).toEqual({ value: "anything at all", names: [] });
  expect(streamed(made, [Buffer.from("anything")]).text).toBe("anything");
});

test("text that is nearly a secret throughout is read in one pass", { timeout: 60_000 }, () => {
  const made = redactor(["one", `${"a".repeat(200)}b`], ["two", "aaaaaaaac"], ["three", "=".repeat(12)]);
  const hostile = Buffer.from(`${"a".repeat(1_000_000)}${"aGVsbG8=\n".repeat(50_000)}${"%25".repeat(100_000)}`);
  expect(streamed(made, [hostile]).names).toEqual([]);
  expect(made.redactBytes(hostile).names).toEqual([]);
  const full = redactor(["same", "aaaaaaaa"]);
  expect(streamed(full, [hostile.subarray(0, 1_000_000)]).text).toBe("[REDACTED:same]");
  expect(Buffer.from(full.redactBytes(hostile.subarray(0, 1_000_000)).value).toString()).toBe("[REDACTED:same]");
});

test("a wiped redactor cannot be used", () => {
  const made = redactor(["token", SECRET]);
  made.redactText(SECRET);
  made.forget();
  expect(() => made.redactText(SECRET)).toThrow();
});

test("a redactor has its own copy: what its owner wipes is still found", () => {
  const bytes = Buffer.from(SECRET);
  const made = redactor(["wiped", bytes]);
  bytes.fill(0);
  expect(made.redactText(`a ${SECRET} b`)).toEqual({ value: "a [REDACTED:wiped] b", names: ["wiped"] });
});
