import { expect, test } from "vitest";
import { type IndexSources, pipIndex } from "./pip-index.ts";

const help = (index: string): string =>
  `  -i, --index-url <url>       Base URL of the Python Package Index (default ${index}). This should\n  --extra-index-url <url>  Extra\n`;
const sources: IndexSources = {
  option: null,
  environment: {},
  uvSettings: null,
  pip: { help: help("https://index.example.test/simple"), settings: "global.timeout='60'\n" },
};
const pip = (more: Partial<NonNullable<IndexSources["pip"]>>): Partial<IndexSources> => ({
  pip: { help: sources.pip?.help ?? "", settings: "", ...more },
});

test.each<[string, Partial<IndexSources>, string]>([
  ["pip's own", {}, "https://index.example.test/simple/"],
  [
    "an option",
    { option: "https://other.example.test/simple", uvSettings: undefined, pip: null },
    "https://other.example.test/simple/",
  ],
  [
    "pip's own beside settings of uv that name none",
    { uvSettings: "[pip]\nstrict = true\n" },
    "https://index.example.test/simple/",
  ],
  [
    "an index without TLS, which the daemon judges",
    pip({ help: help("http://localhost:1/x/") }),
    "http://localhost:1/x/",
  ],
])("%s", (_, more, registry) => {
  expect(pipIndex({ ...sources, ...more })).toEqual({ ok: true, registry });
});

test.each<[string, Partial<IndexSources>, string]>([
  ["no pip", { pip: null }, "pip does not run here"],
  ["help without an index", pip({ help: "usage" }), "does not say which index"],
  ["a credential", pip({ help: help("https://u:****@index.example.test/simple") }), "plain URL without a credential"],
  ["a credential in an option", { option: "https://u:p@index.example.test/" }, "plain URL without a credential"],
  ["a folder", pip({ help: help("file:///opt/simple") }), "plain URL"],
  ["a further index", pip({ settings: "global.extra-index-url='https://b.test'\n" }), "your pip has extra-index-url"],
  [
    "a further index in a variable",
    pip({ settings: ":env:.extra-index-url='https://b.test'\n" }),
    "has extra-index-url",
  ],
  [
    "files beside the index",
    pip({ settings: "a.b='c'\ndownload.find-links='/opt'\n" }),
    "your pip has download.find-links",
  ],
  [
    "an index for installs",
    pip({ settings: "install.index-url='https://b.test'\n" }),
    "your pip has install.index-url",
  ],
  ["a variable of uv", { environment: { UV_DEFAULT_INDEX: "https://b.test" } }, "your variable UV_DEFAULT_INDEX"],
  ["settings of uv", { uvSettings: '[[index]]\nurl = "https://b.test"\n' }, "your uv.toml names an index"],
  ["settings of uv that cannot be read", { uvSettings: undefined }, "cannot be read"],
])("%s is refused", (_, more, why) => {
  expect(pipIndex({ ...sources, ...more })).toMatchObject({ ok: false, message: expect.stringContaining(why) });
});
