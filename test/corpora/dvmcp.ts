// Vulnerable MCP servers as servers of the real gateway. A model that does everything it is told calls each tool and reads each
// resource of each challenge: with the server alone every one of them gives the secret away (the control), and through ambit no
// tool reaches the user's file and no resource is read, because nothing grants it. A second agent, which is granted one resource,
// reads that one and no other.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Data, list, text } from "./data.ts";
import { type Case, type Group, HELD, type Outcome } from "./tally.ts";

const CANARY = "the private key of the user";
const answerMilliseconds = 60_000;

interface Item {
  readonly kind: string;
  readonly name: string;
  readonly uri: string | null;
}

export async function runDvmcp(file: Data): Promise<readonly Group[]> {
  const challenges = list(file, "challenges");
  const fixture = new ServedChallenges(challenges.map((challenge) => list(challenge, "items")));
  try {
    await fixture.begin();
    const groups: Group[] = [];
    for (const [at, challenge] of challenges.entries()) {
      const cases: Case[] = [];
      for (const one of list(challenge, "items")) {
        const item = itemOf(one);
        const outcome = await fixture.outcome(at, item);
        cases.push({ name: item.name, shown: item.uri ?? item.name, outcome });
      }
      groups.push({ corpus: "dvmcp", group: text(challenge, "level") ?? `#${at}`, cases });
    }
    return byGroup(groups);
  } finally {
    fixture.end();
  }
}

function itemOf(one: Data): Item {
  return { kind: text(one, "kind") ?? "", name: text(one, "name") ?? "", uri: text(one, "uri") };
}

/** One row for each level. */
function byGroup(groups: readonly Group[]): readonly Group[] {
  return [...new Set(groups.map(({ group }) => group))].map((group) => ({
    corpus: "dvmcp",
    group,
    cases: groups.filter((one) => one.group === group).flatMap(({ cases }) => cases),
  }));
}

class ServedChallenges {
  readonly #base = mkdtempSync(join(tmpdir(), "ambit-dvmcp-"));
  readonly #challenges: readonly (readonly Data[])[];
  readonly #canary = join(this.#base, "home", "key");
  readonly #script = join(process.cwd(), "test", "mcp", "servers", "described.mjs");
  #victim: Peer | null = null;
  readonly #direct: Peer[] = [];

  constructor(challenges: readonly (readonly Data[])[]) {
    this.#challenges = challenges;
  }

  get #environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env["PATH"],
      NO_COLOR: "1",
      XDG_STATE_HOME: join(this.#base, "state"),
      XDG_CONFIG_HOME: join(this.#base, "config"),
    };
  }

  async begin(): Promise<void> {
    const [project, config] = [join(this.#base, "project"), join(this.#base, "config", "ambit")];
    for (const folder of [
      join(this.#base, "home"),
      join(this.#base, "items"),
      config,
      join(project, ".ambit", "agents"),
    ])
      mkdirSync(folder, { recursive: true });
    writeFileSync(this.#canary, CANARY);
    const names = this.#challenges.map((_, at) => `dv${at}`);
    const entries = this.#challenges.map((items, at) => {
      writeFileSync(this.#itemsFile(at), JSON.stringify(items));
      const command = JSON.stringify(["node", this.#script, this.#itemsFile(at), this.#canary]);
      const runtime = JSON.stringify([join(process.cwd(), "test", "mcp", "servers"), join(this.#base, "items")]);
      return `  ${names[at]}: { command: ${command}, runtime: ${runtime} }`;
    });
    writeFileSync(join(config, "mcp.yml"), `servers:\n${entries.join("\n")}\n`);
    // Every tool may be called: what is refused to them is refused by their walls.
    const tools = names.map((name) => `${name}__*`).join(",");
    const record = `---\ncapabilities:\n  - tool.invoke{tools=[${tools},resources_read]}\n  - mcp.resource{servers=[dv1],uris=["company://public"]}\n---\n`;
    writeFileSync(join(project, ".ambit", "agents", "victim.md"), record);
    for (const words of [
      ["trust", "--yes"],
      ["daemon", "start"],
    ]) {
      const { status, stderr } = spawnSync(process.execPath, [join("bin", "ambit"), ...words].map(absolute), {
        cwd: project,
        env: this.#environment,
        encoding: "utf8",
      });
      if (status !== 0) throw new Error(`ambit ${words.join(" ")}: ${stderr}`);
    }
    const serve = [absolute(join("bin", "ambit")), "mcp", "serve", "--agent", "victim"];
    this.#victim = await Peer.start(serve, project, this.#environment);
    for (const at of this.#challenges.keys())
      this.#direct.push(await Peer.start([this.#script, this.#itemsFile(at), this.#canary], project, process.env));
  }

  async outcome(at: number, { kind, name, uri }: Item): Promise<Outcome> {
    const direct = this.#direct[at] as Peer;
    const victim = this.#victim as Peer;
    if (kind === "tool") {
      const control = await direct.ask("tools/call", { name, arguments: {} });
      if (!control.includes(CANARY)) return { kind: "missed", note: "the control did not reach the file" };
      const held = await victim.ask("tools/call", { name: `dv${at}__${name}`, arguments: {} });
      if (held.includes(CANARY)) return { kind: "missed", note: "the tool read the user's file" };
      // A tool that did not even run would hold for another reason than its walls. Two tools of one name are not offered.
      const isTwice = this.#challenges[at]?.filter((one) => text(one, "name") === name).length !== 1;
      return held.includes("not read: ENOENT") || isTwice ? HELD : { kind: "refused", note: held.slice(0, 200) };
    }
    const own = (uri ?? "").replaceAll(/\{[^}]*\}/g, "someone");
    const control = await direct.ask("resources/read", { uri: own });
    if (!control.includes("the secret of")) return { kind: "missed", note: "the control did not read the resource" };
    const answer = await victim.ask("resources/read", { uri: `dv${at}+${own}` });
    const isRead = answer.includes("the secret of");
    if (at === 1 && own === "company://public") return isRead ? HELD : { kind: "refused", note: answer.slice(0, 200) };
    return isRead ? { kind: "missed", note: "the resource was read" } : HELD;
  }

  end(): void {
    this.#victim?.end();
    for (const one of this.#direct) one.end();
    spawnSync(process.execPath, [absolute(join("bin", "ambit")), "daemon", "stop"], { env: this.#environment });
    rmSync(this.#base, { recursive: true, force: true });
  }

  #itemsFile(at: number): string {
    return join(this.#base, "items", `${at}.json`);
  }
}

function absolute(path: string): string {
  return path.startsWith("bin/") ? join(process.cwd(), path) : path;
}

/** A server as a process, and a client that only asks. */
class Peer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (line: string) => void>();
  #number = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout === null) throw new Error("no output");
    createInterface({ input: child.stdout }).on("line", (line) => {
      const { id } = JSON.parse(line) as { readonly id?: number };
      const give = id === undefined ? undefined : this.#waiting.get(id);
      if (id !== undefined) this.#waiting.delete(id);
      give?.(line);
    });
  }

  static async start(words: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Peer> {
    const child = spawn(process.execPath, words, { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
    await once(child, "spawn");
    const peer = new Peer(child);
    const clientInfo = { name: "corpora", version: "0" };
    await peer.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    return peer;
  }

  /** The whole line of the answer. */
  ask(method: string, params: object): Promise<string> {
    const id = ++this.#number;
    return new Promise((done, failed) => {
      const timer = setTimeout(() => failed(new Error(`${method} was not answered`)), answerMilliseconds);
      this.#waiting.set(id, (line) => {
        clearTimeout(timer);
        done(line);
      });
      this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  }

  end(): void {
    this.#child.kill();
  }
}
