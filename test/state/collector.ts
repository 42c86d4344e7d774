// A collector for a second copy of the log, as a user would write one: it reads lines from a socket, appends them to a file, and
// answers with the position and hash of the last stored entry. Or a lying one, for tests.
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { createServer, type Socket } from "node:net";

export type CollectorMode = "honest" | "boasting" | "nonsense" | "bare" | "closing" | "mute" | "slow";

const [, , path = "", file = "", mode = "honest"] = process.argv;

interface Line {
  readonly kind: string;
  readonly place?: number;
  readonly hash?: string;
  readonly text?: string;
}

/** How long a slow collector takes to answer. */
const slowMilliseconds = 300;

let kept = 0;
let hash = "";
/** Position of the last signed note. */
let noted = -1;
let hasHeader = false;
const rotations = new Set<string>();
if (existsSync(file))
  for (const text of readFileSync(file, "utf8").split("\n").slice(0, -1)) take(JSON.parse(text) as Line);
const out = openSync(file, "a", 0o600);

/** Stores each line once and in order, also when it arrives twice or from an earlier connection. */
function isWanted({ kind, place = 0, text = "" }: Line): boolean {
  if (kind === "header") return !hasHeader;
  if (kind === "entry") return place === kept + 1;
  if (kind === "checkpoint") return place === kept && noted !== kept;
  return kept === 0 && !rotations.has(text);
}

function take({ kind, place = 0, hash: its = "", text = "" }: Line): void {
  if (kind === "header") hasHeader = true;
  else if (kind === "entry") [kept, hash] = [place, its];
  else if (kind === "checkpoint") noted = place;
  else rotations.add(text);
}

function keep(texts: readonly string[]): void {
  let wanted = "";
  for (const text of texts) {
    const line = JSON.parse(text) as Line;
    if (!isWanted(line)) continue;
    take(line);
    wanted += `${text}\n`;
  }
  if (wanted !== "") writeSync(out, wanted);
  fsyncSync(out);
}

function serve(socket: Socket): void {
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("error", () => undefined);
  if (mode === "closing") {
    socket.end();
    return;
  }
  socket.on("data", (text: unknown) => {
    const lines = (rest + String(text)).split("\n");
    rest = lines.pop() ?? "";
    if (lines.length === 0 || mode === "mute") return;
    if (mode === "nonsense") {
      socket.write("kept all of it\n");
      return;
    }
    if (mode === "honest" || mode === "slow" || mode === "bare") keep(lines);
    // It stores nothing of what it acknowledges.
    const isBeginning = lines.length === 1 && lines[0]?.includes('"kind":"header"') === true;
    const place = mode === "boasting" && !isBeginning ? 1_000_000 : kept;
    const answer = place === 0 || mode === "bare" ? `${place}\n` : `${place} ${hash || "0".repeat(64)}\n`;
    if (mode === "slow") setTimeout(() => socket.write(answer), slowMilliseconds);
    else socket.write(answer);
  });
}

createServer(serve).listen(path, () => process.send?.("listening"));
process.on("disconnect", () => {
  closeSync(out);
  process.exit(0);
});
