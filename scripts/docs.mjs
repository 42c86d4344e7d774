// `npm run docs`: the documentation as a web site in site/dist. VitePress is a package of its own in site/, installed on the first run and
// never by anything else. A link that leads nowhere fails the build, and so does a page that loads anything from another host.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "./house/child.mjs";
import { stampAt } from "./house/digest.mjs";
import { root, say } from "./house/root.mjs";

/** What a reader of the repository is led to: its opening pages, the documentation, the notations and the figures. */
const PAGES = /^([A-Z]+\.md|(docs|spec)\/.*\.md|bench\/README\.md)$/;

const millisecondsMax = 600_000;
const folder = join(root, "site");
const stamp = join(folder, "node_modules", ".ambit-stamp");
process.exitCode = await main();

async function main() {
  const digest = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  if (stampAt(stamp) !== digest) {
    say("installing into site: VitePress, about 120 megabytes (npm ci)");
    const settings = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
    const { ok, output } = await run(["npm", "ci", "--prefix", folder, ...settings], { cwd: folder, millisecondsMax });
    if (!ok) return fail(`VitePress could not be installed:\n${output}`);
    writeFileSync(stamp, `${digest}\n`);
  }
  copyPages();
  say("building the site");
  const program = join(folder, "node_modules", "vitepress", "bin", "vitepress.js");
  const { ok, output } = await run([process.execPath, program, "build", folder], { cwd: folder, millisecondsMax });
  if (!ok) return fail(output);
  const built = join(folder, "dist");
  copyFileSync(join(root, "LICENSE"), join(built, "LICENSE.txt"));
  const pages = readdirSync(built, { recursive: true }).filter((name) => name.endsWith(".html"));
  const foreign = pages.filter((name) => loadsFromElsewhere(readFileSync(join(built, name), "utf8")));
  if (foreign.length > 0) return fail(`pages that load something from another host: ${foreign.join(", ")}`);
  const lost = pages.flatMap((name) => lostAnchors(built, name));
  if (lost.length > 0) return fail(`links to headings that are not there:\n${lost.join("\n")}`);
  say(`${pages.length} pages in site/dist`);
  return 0;
}

/** VitePress finds its own packages only from pages that lie below its folder. */
function copyPages() {
  const pages = join(folder, "pages");
  rmSync(pages, { recursive: true, force: true });
  const words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md", "docs/*.md", "spec/*.md"];
  const listed = execFileSync("git", words, { cwd: root, encoding: "utf8" }).split("\0");
  for (const name of new Set(listed.filter((path) => PAGES.test(path)))) {
    mkdirSync(dirname(join(pages, name)), { recursive: true });
    copyFileSync(join(root, name), join(pages, name));
  }
}

/** Scripts, styles, fonts and pictures; a link that a reader may follow is none of them. */
function loadsFromElsewhere(page) {
  return /<(script|img|iframe|source|video|audio)\b[^>]*\bsrc="(https?:)?\/\/|<link\b[^>]*\bhref="(https?:)?\/\//i.test(
    page,
  );
}

/** VitePress looks at pages, not at their headings. */
function lostAnchors(built, name) {
  const links = readFileSync(join(built, name), "utf8").matchAll(/<a\b[^>]*\bhref="([^":]*)#([^"]+)"/g);
  return [...links].flatMap(([, path, anchor]) => {
    const file = path === "" ? name : join(path.startsWith("/") ? "" : dirname(name), path);
    const page = ["", ".html", "index.html"].map((end) => join(built, `${file}${end}`)).find((one) => isFile(one));
    const isThere = page !== undefined && readFileSync(page, "utf8").includes(`id="${decodeURIComponent(anchor)}"`);
    return isThere ? [] : [`${name}: ${path}#${anchor}`];
  });
}

function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function fail(message) {
  say(message);
  return 1;
}
