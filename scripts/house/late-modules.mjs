// Each of our modules is evaluated when something of it is first used, and so are the packages and the parts of Node it
// needs: a command pays for what it touches, whatever else there is. Nothing of ours does work when it is imported, so
// the order is free.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { root } from "./root.mjs";

/** A plugin for esbuild. */
export function lateModules(esbuild, ts) {
  return {
    name: "late-modules",
    setup({ onResolve, onLoad }) {
      // In a space of their own, where package.json does not say that every file is a module of the new style.
      onResolve({ filter: /\.ts$/ }, ({ path, resolveDir }) => ({
        path: resolve(resolveDir, path),
        namespace: "late",
      }));
      onLoad({ filter: /.*/, namespace: "late" }, ({ path }) => ({
        contents: lateText(ts, path),
        loader: "js",
        resolveDir: dirname(path),
      }));
      onResolve({ filter: /^yaml$/ }, ({ path }) => ({ path, namespace: "one-piece" }));
      onLoad({ filter: /.*/, namespace: "one-piece" }, async () => ({
        contents: await yamlText(esbuild),
        loader: "js",
      }));
    },
  };
}

/** TypeScript names a module `names_1` and writes `names_1.name` wherever `name` is used; here that becomes a call. */
function lateText(ts, path) {
  const { outputText } = ts.transpileModule(readFileSync(path, "utf8"), {
    fileName: path,
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true },
  });
  const modules = [];
  const declared = outputText.replace(
    /^(?:const|var) (\w+_\d+) = ((?:__import(?:Default|Star)\()?require\("[^"\n]+"\)\)?);$/gm,
    (_, name, wanted) => {
      modules.push(name);
      return `let ${name}$; const ${name}$$ = () => (${name}$ ??= ${wanted});`;
    },
  );
  if (modules.length === 0) return outputText;
  const names = modules.join("|");
  const text = declared.replace(new RegExp(`\\b(${names})(?=\\.)`, "g"), "($1$$$$())");
  const left = new RegExp(`\\b(?:${names})\\b(?!\\$)`).exec(text);
  if (left !== null) throw new Error(`${path}: ${left[0]} is used in a way that cannot wait`);
  return text;
}

/** What we use of the YAML reader, in one piece: as it is packed for Node it is 70 small modules, evaluated one by one. */
async function yamlText({ build }) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: { contents: `export { ${YAML_NAMES.join(", ")} } from ${JSON.stringify(yamlModule)};`, resolveDir: root },
    write: false,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    logLevel: "error",
  });
  return outputFiles[0].text;
}

const YAML_NAMES = ["CST", "Composer", "Lexer", "Parser", "Scalar", "isMap", "isScalar", "isSeq"];
const yamlModule = join(root, "node_modules", "yaml", "browser", "index.js");
