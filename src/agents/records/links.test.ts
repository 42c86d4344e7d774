import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { linksIn, linksPerRecordMax, type WrittenLink } from "./link-scanner.ts";
import { type LinkSource, linkGraph } from "./links.ts";

describe("the links of a body", () => {
  it.each<readonly [string, readonly string[]]>([
    ["see [[notes/a]]", ["wiki notes/a"]],
    ["[[a|the label]] [[b#heading]] [[c.md]] ![[d]]", ["wiki a", "wiki b", "wiki c", "wiki d"]],
    ["[[ a ]]", ["wiki a"]],
    ["[[a]] and [[a]]", ["wiki a"]],
    ["[[]] [[#heading]] [[a] ] [ [a]]", []],
    ["[x](a.md)", ["path a.md"]],
    ["[x](../b/c.md#part 'title')", ["path ../b/c.md"]],
    ["[x](<two words.md>)", ["path two words.md"]],
    ["[x](two%20words.md) [y](%zz.md)", ["path two words.md", "path %zz.md"]],
    ["[ref]: a.md", ["path a.md"]],
    ["[x](a.txt) [y](https://x.example/a.md) [z](/a.md) [m](mailto:a.md)", []],
    ["`[[a]]` [[b]] ``[[c]] ` [[d]]`` [[e]]", ["wiki b", "wiki e"]],
    ["a ` single [[b]]", ["wiki b"]],
    ["```\n[[a]]\n```\n[[b]]", ["wiki b"]],
    ["~~~~\n[[a]]\n~~~\n[[b]]\n~~~~\n[[c]]", ["wiki c"]],
    ["```\n[[never closed]]", []],
    ["``` a ` b\n[[a]]", ["wiki a"]],
    ["line\r\n[[a]]\r[[b]]\n", ["wiki a", "wiki b"]],
  ])("%j", (body, expected) => {
    expect(linksIn(body).links.map(({ kind, target }) => `${kind} ${target}`)).toEqual(expected);
  });

  test("at the limit one more is reported missing", () => {
    const body = (count: number): string => Array.from({ length: count }, (_, at) => `[[n${at}]]\n`).join("");
    expect(linksIn(body(linksPerRecordMax))).toMatchObject({ cut: false });
    expect(linksIn(body(linksPerRecordMax + 1))).toMatchObject({ cut: true });
    expect(linksIn(body(linksPerRecordMax + 1)).links).toHaveLength(linksPerRecordMax);
  });

  it.each([
    ["opening brackets", "[".repeat(1_000_000)],
    ["half links", "](".repeat(500_000)],
    ["angles", "](<".repeat(330_000)],
    ["backticks of every length", Array.from({ length: 1400 }, (_, at) => "`".repeat(at + 1)).join(" ")],
    ["single backticks", "` ".repeat(500_000)],
    ["fences", "```\n".repeat(250_000)],
    ["definitions", "[a]: ".repeat(200_000)],
    ["words that could be definitions", `[${"a".repeat(1_000_000)}`],
  ])("a million characters of %s are parsed to their end", (_what, body) => {
    expect(linksIn(body).links.length).toBeLessThanOrEqual(linksPerRecordMax);
  });
});

function record(id: string, links: readonly WrittenLink[], path = `${id}.md`): LinkSource {
  return { id, path, links };
}

const wiki = (target: string): WrittenLink => ({ kind: "wiki", target });
const path = (target: string): WrittenLink => ({ kind: "path", target });

describe("the target of a link", () => {
  const others = ["a", "notes/b", "notes/deep/c", "other/c", "x/only"].map((id) => record(id, []));
  const named = record("by-name", [], "files/renamed.md");
  it.each<readonly [WrittenLink, string | null]>([
    [wiki("a"), "a"],
    [wiki("notes/b"), "notes/b"],
    // Relative to the record that contains the link.
    [wiki("b"), "notes/b"],
    [wiki("deep/c"), "notes/deep/c"],
    [wiki("../a"), "a"],
    [wiki("../../a"), null],
    // By the last part, if it is unique.
    [wiki("only"), "x/only"],
    [wiki("c"), null],
    [wiki("nowhere"), null],
    [wiki("by-name"), "by-name"],
    [path("b.md"), "notes/b"],
    [path("../a.md"), "a"],
    [path("../../a.md"), null],
    [path("../files/renamed.md"), "by-name"],
    [path("../by-name.md"), null],
    [path("../../../etc/passwd.md"), null],
  ])("%j", (link, to) => {
    const graph = linkGraph([...others, named, record("notes/from", [link])]);
    expect(graph.linksOf("notes/from")).toEqual([{ ...link, to }]);
    for (const { id } of [...others, named]) expect(graph.backlinksOf(id)).toEqual(id === to ? ["notes/from"] : []);
  });

  test("a cycle of links stays a cycle, and a record is not a backlink of itself", () => {
    const graph = linkGraph([record("a", [wiki("b"), wiki("a")]), record("b", [wiki("a")])]);
    expect([graph.backlinksOf("a"), graph.backlinksOf("b")]).toEqual([["b"], ["a"]]);
    expect(graph.linksOf("a").map(({ to }) => to)).toEqual(["b", "a"]);
  });
});

test("b is a link of a exactly if a is a backlink of b", () => {
  const id = fc.constantFrom("a", "b", "c", "d/a", "d/b", "d/e/c", "f/g");
  const link = fc.oneof(
    id.map(wiki),
    fc.constantFrom("g", "e/c", "../a", "./b", "x", "..").map(wiki),
    fc.constantFrom("a.md", "../a.md", "e/c.md", "../f/g.md", "../../x.md").map(path),
  );
  const records = fc.uniqueArray(fc.tuple(id, fc.array(link, { maxLength: 5 })), { selector: ([one]) => one });
  fc.assert(
    fc.property(records, (list) => {
      const all = list.map(([one, links]) => record(one, links));
      const graph = linkGraph(all);
      for (const from of all)
        for (const to of all) {
          const leads = from.id !== to.id && graph.linksOf(from.id).some((one) => one.to === to.id);
          expect(graph.backlinksOf(to.id).includes(from.id)).toBe(leads);
        }
    }),
    { numRuns: 1000 },
  );
});
