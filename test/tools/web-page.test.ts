// Pages are converted in a process of their own: readable content comes out, and no page makes it run forever.
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/base/json.ts";
import type { PageText } from "../../src/tools/web/convert-page.ts";
import { type ConvertPage, pageProcess, waitingPageProcess } from "../../src/tools/web/page-process.ts";
import { presentWith } from "../../src/tools/web/present-result.ts";
import { bundleProgram } from "../e2e/bundle.ts";

let program: string;
let show: ConvertPage = async () => null;
const patient = { timeout: 120_000 };

beforeAll(async () => {
  program = await bundleProgram(fileURLToPath(new URL("../../src/tools/web/page-main.ts", import.meta.url)));
  show = pageProcess(program, 60_000);
});

async function page(text: string, format: "markdown" | "text" = "markdown"): Promise<PageText> {
  const shown = await show({ kind: "html", format, url: "https://example.test/a/b", text });
  if (shown === null) throw new Error("the page had no result");
  return shown;
}

const FILLER =
  "<p>A paragraph, long enough that it is taken for what the page is about, with commas, and more words.</p>";
const article = (inner: string): string =>
  `<html><head><title>The title</title></head><body><nav><a href="/n">elsewhere</a></nav><article>${FILLER.repeat(5)}${inner}</article></body></html>`;

describe("a page as Markdown", () => {
  test("is its main content, with its title", async () => {
    const { title, text } = await page(article("<h2>Part</h2><p>It is <b>bold</b> and <em>leaning</em>.</p>"));
    expect(title).toBe("The title");
    expect(text).toContain("## Part\n\nIt is **bold** and _leaning_.");
    expect(text).not.toContain("elsewhere");
  });

  test.each([
    ["a relative link", '<a href="../c?x=1">to</a>', "[to](https://example.test/c?x=1)"],
    ["a link within the host", '<a href="/c">to</a>', "[to](https://example.test/c)"],
    ["a picture", '<img src="p.png" alt="it">', "![it](https://example.test/a/p.png)"],
    ["a javascript link", '<p>x <a href="javascript:alert(1)">to</a></p>', "x to"],
    ["code", "<pre><code>let x = 1;\nlet y;</code></pre>", "```\nlet x = 1;\nlet y;\n```"],
    ["a list", "<ul><li>one</li><li>two</li></ul>", "-   one\n-   two"],
    [
      "a table",
      "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2|3</td></tr></tbody></table>",
      "| a | b |\n| --- | --- |\n| 1 | 2\\|3 |",
    ],
  ])("%s", async (_, html, markdown) => {
    expect((await page(article(html))).text).toContain(markdown);
  });

  test("resolves links by the page's base, if that is a page URL", async () => {
    const based = (base: string): string =>
      article('<a href="x">to</a>').replace("<head>", `<head><base href="${base}">`);
    expect((await page(based("https://other.test/y/"))).text).toContain("(https://other.test/y/x)");
    expect((await page(based("javascript:0"))).text).toContain("(https://example.test/a/x)");
  });

  test("omits what is not meant for readers", async () => {
    const html = article(
      "<script>var hidden1</script><style>.hidden2{}</style><template>hidden3</template><iframe src=hidden4></iframe>" +
        '<p style="display:none">hidden5</p><p hidden>hidden6</p><!-- hidden7 --><img src="data:image/png;base64,hidden8">',
    );
    const { text } = await page(html);
    expect(text).toContain("A paragraph");
    expect(text).not.toMatch(/hidden\d/);
  });

  test("exists for a page without a beginning, without content, and for an empty one", async () => {
    expect(await page("<p>only <i>this</i>")).toMatchObject({ text: "only _this_" });
    expect(await page("just words")).toMatchObject({ text: "just words", title: null });
    expect(await page(" ")).toMatchObject({ text: "" });
  });
});

test("a page as text is all of its text, in lines", async () => {
  const html =
    '<title>T &amp; U</title><h1>One</h1><p>a<b>b</b> &lt;c&gt; &#x41;&#0;</p><script>no</script><td>1</td><td>2<a title=">">x</a>';
  expect(await page(html, "text")).toEqual({ title: "T & U", text: "One\n\nab <c> A\ufffd\n\n1 2x", more: false });
});

describe("the conversion of a hostile page ends, and returns what it can", patient, () => {
  test.each([
    ["nested a hundred thousand deep", `<p>x${"<div>".repeat(100_000)}hello${"</div>".repeat(100_000)}`, "hello"],
    ["never closed", `${"<b><i><span>".repeat(40_000)}hello`, "hello"],
    ["with one attribute of megabytes", `<p title="${"x".repeat(1_900_000)}">hello</p>`, "hello"],
    ["with an endless attribute", `hello<p title="${"x".repeat(1_900_000)}`, "hello"],
    ["of character entities alone", `<p>hello ${"&amp;&#x41;&notreal;".repeat(100_000)}</p>`, "hello"],
    ["of unfinished tags", `hello${"<".repeat(2_000_000)}`, "hello"],
    ["of unclosed comments", `hello${"<!--".repeat(400_000)}`, "hello"],
    ["of unclosed scripts", `hello${"<script>".repeat(200_000)}`, "hello"],
    ["of a hundred thousand elements", `${"<p>hello</p>".repeat(100_000)}`, "hello"],
  ])("%s", async (_, html, words) => {
    for (const format of ["markdown", "text"] as const) {
      const { text } = await page(html, format);
      expect(text).toContain(words);
      expect(text.length).toBeLessThanOrEqual(400_000);
    }
  });

  test("and one that takes too long is ended: its text is shown, or the source", async () => {
    const asked: string[] = [];
    const none = presentWith(async ({ format }) => {
      asked.push(format);
      return format === "text" ? { title: null, text: "as text", more: false } : null;
    });
    const result = { url: "https://a.test/", text: "<p>x", more: false, pending: { kind: "html", format: "markdown" } };
    expect(await none("web_fetch", {}, result)).toEqual({
      url: "https://a.test/",
      final_url: "https://a.test/",
      text: "as text",
      markdown: "as text",
      more: false,
    });
    expect(asked).toEqual(["markdown", "text"]);
    const hasty = presentWith(pageProcess(program, 1));
    expect(await hasty("web_fetch", {}, result)).toEqual({
      url: "https://a.test/",
      final_url: "https://a.test/",
      text: "<p>x",
      more: false,
    });
    const missing = presentWith(pageProcess("/nowhere/page.cjs"));
    expect(await missing("web_fetch", {}, result)).toMatchObject({ text: "<p>x" });
  });
});

test("an idle process converts the next page, and an ended one is replaced", async () => {
  const page = (text: string) =>
    ({ kind: "html", format: "text", url: "https://example.com/", text: `<p>${text}</p>` }) as const;
  const waiting = waitingPageProcess(program, 60_000);
  for (const text of ["one", "two", "three"]) expect((await waiting(page(text)))?.text.trim()).toBe(text);
  const hasty = waitingPageProcess(program, 1);
  for (let again = 0; again < 3; again++) expect(await hasty(page("x"))).toBeNull();
  expect(await waitingPageProcess("/nowhere/page.cjs")(page("x"))).toBeNull();
});

describe("the output for a person", () => {
  const shown = async (kind: string, text: string): Promise<JsonObject> =>
    (await presentWith(show)(
      "web_fetch",
      {},
      {
        status: 200,
        url: "https://a.test/",
        text,
        more: false,
        pending: { kind, format: "markdown" },
      },
    )) as JsonObject;

  test("is the page and its title", async () => {
    expect(await shown("html", article(""))).toMatchObject({ status: 200, title: "The title", more: false });
  });

  test("is indented JSON, unless that would change it or be endless", async () => {
    expect((await shown("json", '{"a":[1]}'))["text"]).toBe('{\n  "a": [\n    1\n  ]\n}');
    for (const text of ['{"a":12345678901234567890}', "[".repeat(500_000), "{not json"])
      expect((await shown("json", text))["text"]).toBe(text.slice(0, 400_000));
  });

  test("of any other tool, or of no page, is unchanged", async () => {
    const present = presentWith(async () => ({ title: null, text: "changed", more: false }));
    const result = { url: "u", text: "t", pending: { kind: "html", format: "markdown" } };
    expect(await present("memory_get", {}, result)).toBe(result);
    for (const other of [null, "text", [], { text: "t" }])
      expect(await present("web_fetch", {}, other as never)).toBe(other);
    const odd = { ...result, pending: { kind: "exe", format: "markdown" } };
    expect(await present("web_fetch", {}, odd)).toEqual({ ...odd, final_url: "u" });
  });
});
