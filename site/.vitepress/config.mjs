// The documentation as a web site: a copy of the Markdown files of the repository, with the table of guides of the README as the
// list of pages, and a search that needs no server. `npm run docs` builds it; VitePress refuses a link that leads nowhere.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const root = fileURLToPath(new URL("../..", import.meta.url));
const decisions = readdirSync(join(root, "docs", "decisions")).sort();

export default defineConfig({
  title: "ambit",
  description: "A capability-security layer for the tools of AI agents.",
  lang: "en",
  srcDir: "pages",
  outDir: "dist",
  cacheDir: "node_modules/.cache/vitepress",
  rewrites: { "README.md": "index.md", "bench/README.md": "bench/index.md" },
  // Two braces are text in our pages, never an expression to compute: delimiters that no page can contain.
  vue: { template: { compilerOptions: { delimiters: ["\u0001{", "}\u0001"] } } },
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  markdown: {
    // Text in angle brackets is a placeholder of ours, never HTML.
    html: false,
    // As GitHub names headings, so that a link works in both.
    anchor: { slugify: (text) => text.trim().toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-") },
    config: (md) => {
      md.core.ruler.push("links-of-the-repository", ({ tokens }) => {
        const links = tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === "link_open");
        for (const link of links) link.attrSet("href", pageOf(link.attrGet("href") ?? ""));
      });
    },
  },
  // Fonts of the reader's machine: no page asks another host for anything.
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: [...guides(), { text: "Decisions", collapsed: true, items: decisions.map(decisionItem) }],
    docFooter: { prev: false, next: false },
  },
});

/** What a link of the repository is on the site. */
function pageOf(href) {
  return href
    .replace(/\bREADME\.md\b/, "index.md")
    .replace(/(^|\/)decisions\/?$/, `$1decisions/${decisions[0]}`)
    .replace(/(^|\/)LICENSE$/, "$1LICENSE.txt");
}

/** The rows of the README's table: what a reader wants to do, and the pages for it. */
function guides() {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [, table = ""] = /## Guides\n\n((?:\|.*\n)+)/.exec(readme) ?? [];
  const rows = table.trim().split("\n").slice(2);
  return rows.map((row) => {
    const [, wish = "", pages = ""] = row.split("|").map((cell) => cell.trim());
    const items = [...pages.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, text, target]) => ({
      text,
      link: target.startsWith("#") ? `/${target}` : `/${pageOf(target)}`.replace(/\.md\b/, ""),
    }));
    return { text: wish.replaceAll("`", ""), collapsed: true, items };
  });
}

function decisionItem(name) {
  const [title = name] = readFileSync(join(root, "docs", "decisions", name), "utf8").split("\n", 1);
  return { text: title.replace(/^# /, ""), link: `/docs/decisions/${name.replace(/\.md$/, "")}` };
}
