// The size of the core as shipped: the decision, the gate, containment and explanation, minified.
import { gzipSync } from "node:zlib";
import { OURS } from "../engines/all.ts";
import { rootFolder } from "../place.ts";
import type { Row } from "../row.ts";

const modules: readonly string[] = [
  "gate/call.ts",
  "gate/decide.ts",
  "authority/screen.ts",
  "authority/within.ts",
  "authority/explain.ts",
];

export async function measureSize(): Promise<readonly Row[]> {
  // Not needed by the cells, which start many times.
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    stdin: {
      contents: modules.map((path) => `export * from "./src/${path}";`).join("\n"),
      resolveDir: rootFolder,
      loader: "ts",
    },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    write: false,
    logLevel: "error",
  });
  const bytes = outputFiles[0]?.contents ?? new Uint8Array();
  return [
    { subject: OURS, case: "authority and gate, minified", value: bytes.length, unit: "bytes" },
    { subject: OURS, case: "authority and gate, gzip", value: gzipSync(bytes, { level: 9 }).length, unit: "bytes" },
  ];
}
