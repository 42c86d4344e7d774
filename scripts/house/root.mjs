// The checkout's path, and how scripts print: always on stderr, so a runner's stdout stays its own.
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");

export const say = (line) => process.stderr.write(`ambit: ${line}\n`);
