// The tour: a scripted agent asks for two dozen things, in every notation, then runs programs inside its bounds. It ends
// with status 0 when everything went as expected. On a terminal it pauses at each page; `--all` prints everything.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { shownResult, startAgent } from "./tour-agent.mjs";
import { fetching, openNetwork } from "./tour-network.mjs";
import { Pages, TourEnded } from "./tour-pages.mjs";
import { asked, askedAgain, connections, decisions, kept, programs } from "./tour-stops.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const ambit = join(here, "..", "bin", "ambit");
const workspace = join(here, "workspace");
/** What is trusted and written on the tour is forgotten after it. */
const own = realpathSync(mkdtempSync(join(tmpdir(), "ambit-tour-")));
const environment = {
  ...process.env,
  XDG_STATE_HOME: join(own, "state"),
  XDG_CONFIG_HOME: join(own, "config"),
  ...(process.stdout.isTTY && !process.env.NO_COLOR ? { FORCE_COLOR: "1" } : {}),
};
const counted = { stops: 0, unexpected: 0 };
const pages = new Pages(process.argv.slice(2));

let isWhole = true;
try {
  for (const stop of decisions) await visit(workspace, stop);
  await runPrograms();
} catch (error) {
  if (!(error instanceof TourEnded)) throw error;
  isWhole = false;
} finally {
  rmSync(own, { recursive: true, force: true });
}
const seen = isWhole ? "" : "; you ended the tour early";
process.stdout.write(`\n${counted.stops - counted.unexpected} of ${counted.stops} as expected${seen}\n`);
process.stdout.write(
  "Try it yourself: cd examples/workspace && ../../bin/ambit trust && ../../bin/ambit can scout fs.write notes.md\n",
);
process.exitCode = counted.unexpected === 0 ? 0 : 1;

async function runPrograms() {
  const project = join(own, "project");
  const network = await openNetwork();
  try {
    agent(project, "maker", ["proc.exec", "proc.eval", "sandbox.exec", granted(network.port)]);
    agent(project, "narrow", ["proc.exec{cmds=[git]}"]);
    agent(project, "counted", ["proc.exec{cmds=[hostname],calls=2}"]);
    agent(project, "careful", ["proc.exec{cmds=[date],ask}"]);
    agent(project, "lead", ["agent.grant{ids=[aide]}", "memory.read", "memory.write{keys=[plans/**]}"]);
    agent(project, "aide", ["records.read"]);
    agent(project, "helper", [
      "fs.read",
      "fs.write{paths=[notes/**]}",
      "memory.read",
      "memory.write",
      "proc.exec{cmds=[cat,ls,wc]}",
      "proc.exec{cmds=[date],ask}",
      `net.get{hosts=[docs.example.test],ports=[${network.port}],private=[docs.example.test=127.0.0.0/8]}`,
    ]);
    writeFileSync(join(project, "README.md"), "# A project\n\nWhat an agent may read.\n");
    mkdirSync(join(own, "config", "ambit"), { recursive: true });
    writeFileSync(join(own, "config", "ambit", "config.yml"), `resolver: ${JSON.stringify(network.resolver)}\n`);
    const [trusting, ...rest] = programs;
    await visit(project, trusting);
    // A person's word: outside the home folder the daemon does not start by itself.
    await start(project, ["daemon", "start"]);
    const tried = await start(project, ["exec", "maker", "--", "true"]);
    if (tried.status !== 0) {
      counted.stops++;
      counted.unexpected++;
      const { text } = await start(project, ["doctor"]);
      const why = "this machine has no sandbox, so the tour can run no program";
      await pages.show(`\n# ${why}\n${tried.text}\n# ambit doctor says:\n${text}`);
      return;
    }
    for (const stop of rest) await visit(project, stop);
    for (const stop of kept) await visit(project, stop);
    const get = fetching();
    if (get === null) await pages.show("\n# there is no curl, wget or python3 here to show the network with\n");
    else for (const stop of connections(get, network.port)) await visit(project, stop);
    await serveModel(project, network.port);
    await stayOpen(project);
  } finally {
    await start(project, ["daemon", "stop"]);
    network.close();
  }
}

/** What a model meets: the same bounds, behind the protocol its client speaks. */
async function serveModel(project, port) {
  const words = [process.execPath, ambit, "mcp", "serve", "--agent", "helper"];
  const agent = startAgent(words, { cwd: project, env: environment });
  try {
    const names = await agent.ask("tools");
    await pages.show(
      `\n# a model is served; of all tools it is shown those its grants can ever allow\n${names.join(" ")}\n`,
    );
    const call = async ([why, wanted, name, given]) => {
      counted.stops++;
      const { verdict, lines, approval } = shownResult(await agent.ask("call", name, given));
      const missed = verdict === wanted ? "" : `  UNEXPECTED: wanted ${wanted}, got ${verdict}\n`;
      if (missed !== "") counted.unexpected++;
      await pages.show(`\n# ${why}\n> ${name} ${JSON.stringify(given)}\n${lines.trimEnd()}\n${missed}`);
      return approval;
    };
    let waits = "";
    for (const stop of asked(port)) waits = (await call(stop)) ?? waits;
    await visit(
      project,
      ["the person says yes, at a terminal that the client does not share", 0, ["approve", waits, "--yes"]],
      true,
    );
    for (const stop of askedAgain) await call(stop);
  } finally {
    await agent.close();
  }
  const { text } = await start(project, ["log", "--agent", "helper", "--count", "1", "--json"]);
  const session = /"session":"(s_[^"]+)"/.exec(text)?.[1] ?? "";
  await visit(project, ["everything the model did, as it is kept", 0, ["log", "--session", session]]);
}

/** On a terminal everything stays as it is, for your own client to try. */
async function stayOpen(project) {
  const line = `claude mcp add ambit -- ${ambit} mcp serve --agent helper`;
  if (!process.stdout.isTTY || !process.stdin.isTTY) {
    process.stdout.write(`\nConnect a client of your own, in a project of your own: ${line}\n`);
    return;
  }
  const own = ["XDG_STATE_HOME", "XDG_CONFIG_HOME"].map((name) => `-e ${name}=${environment[name]}`).join(" ");
  process.stdout.write(`\nThe daemon is running. Connect a client to it, in another terminal:\n`);
  process.stdout.write(`  cd ${project} && ${line.replace(" -- ", ` ${own} -- `)}\n`);
  process.stdout.write(`Press Enter to end the tour; nothing of it is left then.\n`);
  process.stdin.resume();
  await once(process.stdin, "data");
  process.stdin.pause();
}

function granted(port) {
  return `net.connect{hosts=[api.example.test],ports=[${port}],private=[api.example.test=127.0.0.0/8]}`;
}

function agent(project, id, grants) {
  mkdirSync(join(project, ".ambit", "agents"), { recursive: true });
  const lines = grants.map((grant) => `  - ${JSON.stringify(grant)}\n`).join("");
  writeFileSync(join(project, ".ambit", "agents", `${id}.md`), `---\nsandbox: .\ncapabilities:\n${lines}---\n`);
}

async function visit(cwd, [why, wanted, words], isAtOwnTerminal = false) {
  counted.stops++;
  const shown = words[0] === "can" ? "" : `$ ambit ${words.map(quoted).join(" ")}\n`;
  const { status, text } = await start(cwd, words, isAtOwnTerminal);
  const isExpected = wanted === "fails" ? status !== 0 && status !== 125 && status !== null : status === wanted;
  if (!isExpected) counted.unexpected++;
  const missed = isExpected ? "" : `  UNEXPECTED: wanted ${wanted}, got ${status}\n`;
  await pages.show(`\n# ${why}\n${shown}${text}${missed}`);
}

/** `isAtOwnTerminal`: on a pseudo-terminal of its own, as in another window. */
async function start(cwd, words, isAtOwnTerminal = false) {
  const line = [process.execPath, ambit, ...words];
  const [command, ...rest] = isAtOwnTerminal ? ["script", "-qec", line.map(quoted).join(" "), "/dev/null"] : line;
  const child = spawn(command, rest, {
    cwd,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part) => {
      text += part;
    });
  const [status] = await once(child, "close");
  return { status, text };
}

/** As it would be typed. */
function quoted(word) {
  return /^[A-Za-z0-9_./:@=,+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
