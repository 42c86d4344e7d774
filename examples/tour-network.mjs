// A server and a resolver for the tour, on loopback: nothing of it leaves this machine.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";

/** What fetches a page here; null where nothing a sandbox has does. */
export function fetching() {
  const known = [
    ["/usr/bin/curl", "curl", "-sS", "--max-time", "5"],
    ["/usr/bin/wget", "wget", "-qO-", "--timeout=5", "--tries=1"],
    [
      "/usr/bin/python3",
      "python3",
      "-c",
      "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())",
    ],
  ];
  return known.find(([path]) => existsSync(path))?.slice(1) ?? null;
}

export async function openNetwork() {
  const server = createServer((request, response) => response.end(`hello ${request.headers.host}\n`));
  server.listen(0, "127.0.0.1");
  const resolver = createSocket("udp4");
  resolver.on("message", (question, from) => resolver.send(answer(question), from.port, from.address));
  resolver.bind(0, "127.0.0.1");
  await Promise.all([once(server, "listening"), once(resolver, "listening")]);
  return {
    port: server.address().port,
    resolver: `127.0.0.1:${resolver.address().port}`,
    close() {
      server.close();
      server.closeAllConnections();
      resolver.close();
    },
  };
}

/** Every name is this machine; only the older kind of address exists. */
function answer(question) {
  let end = 12;
  while (end < question.length && question[end] !== 0) end += question[end] + 1;
  const isAddress = question.readUInt16BE(end + 1) === 1;
  const head = Buffer.from(question.subarray(0, 12));
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(isAddress ? 1 : 0, 6);
  head.writeUInt32BE(0, 8);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([head, question.subarray(12, end + 5), ...(isAddress ? [record] : [])]);
}
