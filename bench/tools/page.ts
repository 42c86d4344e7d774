// A typical web page: a head with scripts and styles, a navigation, an article of sections, tables and code, a footer.

const WORDS =
  "the gate decides before anything runs and what it decided is written down so that a reviewer can later see why a call was allowed".split(
    " ",
  );
export const LAST_WORDS = "the last sentence of the article";
const sectionsCount = 40;

/** About 60 kB, the same at every run. */
export function realisticPage(): string {
  let seed = 7;
  const next = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const sentence = (): string => {
    const words = Array.from({ length: 8 + next(12) }, () => WORDS[next(WORDS.length)]);
    return `${words.join(" ")}, <a href="/entry/${next(1000)}">see ${words[0]}</a> and <em>${words[1]}</em>.`;
  };
  const paragraph = (): string => `<p class="text body-text">${Array.from({ length: 4 }, sentence).join(" ")}</p>`;
  const links = Array.from({ length: 60 }, (_, at) => `<li class="item"><a href="/part/${at}">Part ${at}</a></li>`);
  const sections = Array.from({ length: sectionsCount }, (_, at) => {
    const extra =
      at % 4 === 0
        ? `<pre><code>const answer = decide(${at});\nif (!answer.ok) return answer;</code></pre>`
        : at % 4 === 1
          ? `<table><tr><th>name</th><th>value</th></tr><tr><td>row ${at}</td><td>${next(1000)}</td></tr></table>`
          : `<ul><li>${sentence()}</li><li>${sentence()}</li></ul>`;
    return `<section id="s${at}"><h2>Section ${at}</h2>${paragraph()}${extra}${paragraph()}</section>`;
  });
  return `<!doctype html><html lang="en"><head><title>A page</title><meta charset="utf-8">
<style>${".text{margin:0;padding:1px;color:#222}\n".repeat(60)}</style>
<script>${"window.data=(window.data||[]);window.data.push({a:1});\n".repeat(60)}</script></head>
<body><nav><ul>${links.join("")}</ul></nav><main><article><h1>How it is decided</h1>
${sections.join("\n")}<p>This is ${LAST_WORDS}.</p></article></main>
<footer><p>All of it is made up.</p></footer></body></html>`;
}
