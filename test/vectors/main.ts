// `npm run vectors -- <folder> [--json]`.
import { vectors } from "./command.ts";

process.exitCode = await vectors(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  problem: (text) => process.stderr.write(text),
});
