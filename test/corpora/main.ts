// The corpora runner as a program.
import { start } from "./start.ts";

process.exitCode = await start(process.argv.slice(2), {
  out: (line) => console.log(line),
  fault: (line) => console.error(line),
});
