// Instruments our sources for one measurement: every function reports its number when it is entered. The recorder is off
// until SIGUSR2 (or, for a command, until its first function runs) and writes what it saw into a folder that the build knows.
import { readFileSync } from "node:fs";
import { relative, sep } from "node:path";
import ts from "typescript";
import { root } from "../house/root.mjs";

const entriesMax = 1_000_000;
/** The command line's `start`, where its trace begins: the loading of modules is not the command. */
const commandPath = "src/main/cli.ts";

export class Instrument {
  /** By number: {path, line, name}. */
  functions = [];

  /** esbuild's plugin: adds a call to the start of every function body below src. */
  plugin() {
    return {
      name: "call-path",
      setup: ({ onLoad }) => {
        onLoad({ filter: /\.ts$/ }, ({ path }) => {
          const name = relative(root, path).split(sep).join("/");
          if (!name.startsWith("src/")) return undefined;
          return { contents: this.#instrumented(name, readFileSync(path, "utf8")), loader: "ts" };
        });
      },
    };
  }

  #instrumented(path, text) {
    const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
    const insertions = [];
    const visit = (node) => {
      if (ts.isFunctionLike(node) && node.body !== undefined) insertions.push(...this.#insertions(path, tree, node));
      ts.forEachChild(node, visit);
    };
    visit(tree);
    // From the end, so that earlier positions stay valid.
    insertions.sort((one, other) => other.at - one.at);
    let result = text;
    for (const { at, words } of insertions) result = result.slice(0, at) + words + result.slice(at);
    return result;
  }

  #insertions(path, tree, node) {
    const number = this.functions.length;
    const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree));
    this.functions.push({ path, line: line + 1, name: nameOf(node) });
    const { body } = node;
    const start = body.getStart(tree);
    const isFirst = path === commandPath && nameOf(node) === "start";
    const entered = `globalThis.__callPath(${number}, ${isFirst})`;
    if (ts.isBlock(body)) return [{ at: start + 1, words: `${entered};` }];
    return [
      { at: start, words: `(${entered},` },
      { at: body.getEnd(), words: ")" },
    ];
  }
}

function nameOf(node) {
  if (ts.isConstructorDeclaration(node)) return `${node.parent.name?.text ?? "class"}.constructor`;
  const own =
    node.name ??
    (ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent) ? node.parent.name : undefined);
  return own === undefined ? "(anonymous)" : own.getText();
}

/** Code that runs in the measured program, before everything else. A command writes its trace when it exits. */
export function recorder({ folder, program, isCommand }) {
  return `(${record})(${JSON.stringify({ folder, program, isCommand, entriesMax })});`;
}

function record({ folder, program, isCommand, entriesMax }) {
  const { renameSync, writeFileSync } = require("node:fs");
  let entries = [];
  let isOn = false;
  let traces = 0;
  globalThis.__callPath = (number, isFirst) => {
    if (isFirst) isOn = true;
    if (isOn && entries.length < entriesMax) entries.push(number);
  };
  const write = (end, value) => {
    const path = `${folder}/${program}-${process.pid}`;
    writeFileSync(`${path}.draft`, JSON.stringify(value));
    renameSync(`${path}.draft`, `${path}.${end}`);
  };
  if (isCommand) {
    process.on("exit", () => write("trace", entries));
    return;
  }
  // Each signal switches: on, or off with the trace written.
  process.on("SIGUSR2", () => {
    isOn = !isOn;
    if (isOn) entries = [];
    else traces++;
    write(isOn ? `on-${traces}` : `trace-${traces}`, isOn ? null : entries);
  });
  write("pid", process.pid);
}
