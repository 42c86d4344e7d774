// The outside world in its own network namespace: every address a name may resolve to is ours, every server records its
// connections, and the owner of the sandbox runs in it as it would on a machine. No packet leaves the namespace.   outside
// CONFIGURATION RESULT command ... The configuration is written with the resolver's address added; the result lists servers
// reached and names queried.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import { argv } from "node:process";
import { NamesOutside } from "../broker/names-outside.ts";
import { ADDRESSES, LEADS } from "./outside-names.ts";

const PORTS: readonly number[] = [22, 80, 443, 8_080];

const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nCANARY";

const [configuration = "", result = "", command = "", ...words] = argv.slice(2);
void main().then((status) => {
  process.exitCode = status;
});

async function main(): Promise<number> {
  address("link", "set", "lo", "up");
  for (const one of ADDRESSES) address("addr", "add", one, "dev", "lo");
  const reached: string[] = [];
  const servers = PORTS.map((port) => canary(port, reached));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const names = new NamesOutside();
  for (const [name, answers] of Object.entries(LEADS)) names.names.set(name, answers);
  appendFileSync(configuration, `resolver: ${await names.start()}\n`);
  const child = spawn(command, words, { stdio: "inherit" });
  const [status] = (await once(child, "exit")) as [number | null];
  writeFileSync(result, JSON.stringify({ reached, asked: [...names.asked.keys()] }));
  names.stop();
  for (const server of servers) server.close();
  return status ?? 1;
}

function address(...words: readonly string[]): void {
  const { status, stderr } = spawnSync("ip", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ip ${words.join(" ")}: ${stderr}`);
}

/** Returns configured answers, and records where it was contacted. */
function canary(port: number, reached: string[]): net.Server {
  const server = net.createServer((socket) => {
    reached.push(`${socket.localAddress}/${port}`);
    socket.on("error", () => undefined);
    socket.on("data", () => socket.write(ANSWER));
  });
  return server.listen({ port, host: "::" });
}
