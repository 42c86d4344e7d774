// A collector of a second copy of the log, as somebody would write one: lines come in over a socket, are put into a file, and
// the place that is kept so far is answered. Or one that lies, as the tests want it.
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { createServer, type Socket } from "node:net";

export type Manner = "honest" | "boasting" | "nonsense" | "closing" | "mute";

const [, , path = "", file = "", manner = "honest"] = process.argv;

interface Line {
  readonly kind: string;
  readonly place?: number;
}

let kept = 0;
let hasHeader = false;
if (existsSync(file))
  for (const text of readFileSync(file, "utf8").split("\n").slice(0, -1)) {
    const line = JSON.parse(text) as Line;
    hasHeader ||= line.kind === "header";
    if (line.kind === "entry") kept = line.place ?? kept;
  }
const out = openSync(file, "a", 0o600);

/** Each entry once and in order, whatever comes in twice or from an earlier connection. */
function isWanted({ kind, place = 0 }: Line): boolean {
  if (kind === "header") return !hasHeader;
  if (kind === "entry") return place === kept + 1;
  return kind === "checkpoint" ? place === kept : kept === 0;
}

function keep(texts: readonly string[]): void {
  let wanted = "";
  for (const text of texts) {
    const line = JSON.parse(text) as Line;
    if (!isWanted(line)) continue;
    hasHeader ||= line.kind === "header";
    if (line.kind === "entry") kept = line.place ?? kept;
    wanted += `${text}\n`;
  }
  if (wanted !== "") writeSync(out, wanted);
  fsyncSync(out);
}

function serve(socket: Socket): void {
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("error", () => undefined);
  if (manner === "closing") {
    socket.end();
    return;
  }
  socket.on("data", (text: unknown) => {
    const lines = (rest + String(text)).split("\n");
    rest = lines.pop() ?? "";
    if (lines.length === 0 || manner === "mute") return;
    if (manner === "nonsense") {
      socket.write("kept all of it\n");
      return;
    }
    if (manner === "honest") keep(lines);
    // Nothing of what it says it has is anywhere.
    const isBeginning = lines.length === 1 && lines[0]?.includes('"kind":"header"') === true;
    socket.write(`${manner === "boasting" && !isBeginning ? 1_000_000 : kept}\n`);
  });
}

createServer(serve).listen(path, () => process.send?.("listening"));
process.on("disconnect", () => {
  closeSync(out);
  process.exit(0);
});
