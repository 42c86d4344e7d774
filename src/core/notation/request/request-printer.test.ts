import { describe, expect, test } from "vitest";
import type { Arguments } from "../../authority/axes/constraint.ts";
import type { Value } from "../../authority/axes/scope.ts";
import { type VerbEntry, verbEntry } from "../../authority/catalog.ts";
import { ANY_TEXT, FOREIGN_TEXT } from "../../authority/patterns/reserved.ts";
import { segmentsOf } from "../../authority/patterns/sequence.ts";
import { requestText } from "./request-printer.ts";

function shown(verb: string, ...values: readonly Value[]): string {
  return requestText({ verb: verbEntry(verb) as VerbEntry, values });
}

describe("a witness is shown with placeholders for any value", () => {
  test.each<[string, string]>([
    [shown("fs.read", segmentsOf(["a", ANY_TEXT])), "fs.read '/a/<any>'"],
    [
      shown("net.get", { name: segmentsOf(["com", "a", ANY_TEXT]), address: null }, 443),
      "net.get 'https://<any>.a.com/'",
    ],
    [
      shown("net.connect", { name: null, address: { family: 4, number: 1n } }, undefined, "sni"),
      "net.connect '0.0.0.1:<unknown>'",
    ],
    [
      shown("proc.exec", segmentsOf(["w"]), segmentsOf(["git", `${ANY_TEXT}x`]), "rw"),
      "proc.exec in=/w root=rw -- git '<any>x'",
    ],
    [shown("secret.use", segmentsOf([ANY_TEXT, FOREIGN_TEXT]), undefined, undefined), "secret.use '<any>/<any>'"],
    [shown("tool.invoke", segmentsOf(["tool", "a", "b"]), undefined), "tool.invoke a.b"],
    [shown("fs.read", undefined), "fs.read '<unknown>'"],
    [shown("agent.update", undefined, undefined), "agent.update"],
  ])("%s", (text, expected) => {
    expect(text).toBe(expected);
  });
  test("arguments that are only partly known", () => {
    const probes: Arguments = {
      kind: "probes",
      open: true,
      at: new Map([
        ["path", [{ kind: "path", path: segmentsOf(["w", ANY_TEXT]) }]],
        ["n", [{ kind: "json", value: 5 }]],
      ]),
    };
    expect(shown("tool.invoke", segmentsOf(["tool", "x"]), probes)).toBe(
      `tool.invoke x '{"path":"/w/<any>","n":5,"<any>"}'`,
    );
  });
});

describe("a printed line cannot be misread", () => {
  test.each<[string, string, string]>([
    ["a line break", "a\nb", "'/a\\u000ab'"],
    ["an escape sequence", "a\u001b[2J", "'/a\\u001b[2J'"],
    ["right-to-left text", "a\u202eb", "'/a\\u202eb'"],
    ["a command", "a;rm -rf /", "'/a;rm -rf /'"],
    ["a substitution", "$(rm)", "'/$(rm)'"],
    ["a quote", "a'b", "'/a'\\''b'"],
  ])("%s", (_, name, expected) => {
    expect(shown("fs.read", segmentsOf([name]))).toBe(`fs.read ${expected}`);
  });
  test("in arguments it is still the same JSON", () => {
    const value: Arguments = { kind: "json", value: { text: "a\u202e'b" } };
    expect(shown("tool.invoke", segmentsOf(["tool", "x"]), value)).toBe(`tool.invoke x '{"text":"a\\u202e'\\''b"}'`);
  });
});
