// Redirects, fetched for real: names resolve to a server of ours on loopback that redirects from one step of the chain to the
// next, and literal addresses stay what they are.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json, JsonObject } from "../../src/core/base/json.ts";
import { ownAddress } from "../broker/fixture.ts";
import { WebFixture } from "../tools/web-fixture.ts";
import type { Family, Outcome } from "./outcome.ts";
import { BadRow, has, type Row, textAt, textsAt } from "./row.ts";

export const redirects: Family = {
  answers: ["expect", "hop", "reason", "final", "hops"],
  run: async (row) => {
    const outside = new Outside();
    await outside.start();
    try {
      return has(row, "rule") ? await stripped(row, outside) : await followed(row, outside);
    } finally {
      await outside.stop();
    }
  },
};

class Outside {
  readonly #fixture = new WebFixture();
  readonly #address = ownAddress(1);
  #port = 0;
  /** The redirect target of each address. */
  readonly steps: Map<string, { readonly status: number; readonly to: string }> = new Map();
  readonly taken: { readonly host: string; readonly headers: IncomingMessage["headers"] }[] = [];

  async start(): Promise<void> {
    await this.#fixture.start();
    this.#port = await this.#fixture.http(this.#address, (request, response) => this.#serve(request, response));
  }

  stop(): Promise<void> {
    return this.#fixture.stop();
  }

  /** A name is ours, also a single letter. Everything else is left unchanged. */
  address(written: string): string {
    const whole = /^[a-z]$/.test(written) ? `http://${written}.example/` : written;
    const url = new URL(whole);
    if (!/\.example(\.com)?$/.test(url.hostname)) return whole;
    this.#fixture.names.names.set(url.hostname, [[this.#address]]);
    return `http://${url.hostname}:${this.#port}${url.pathname}`;
  }

  async fetch(address: string, headers: JsonObject = {}): Promise<Awaited<ReturnType<WebFixture["web"]>>> {
    const opened = ["*.example", "*.example.com"].map((name) => `${name}=${this.#address}`);
    return this.#fixture.web({ specs: [`net.get{hosts=[*],private=[${opened.join()}]}`] }, { url: address, headers });
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { host = "", ...headers } = request.headers;
    this.taken.push({ host, headers });
    const step = this.steps.get(`http://${host}${request.url}`);
    if (step === undefined) response.writeHead(200, { "Content-Type": "text/plain" }).end("the end");
    else response.writeHead(step.status, { Location: step.to }).end();
  }
}

async function followed(row: Row, outside: Outside): Promise<Outcome> {
  const [first, ...rest] = chainOf(row);
  if (first === undefined) throw new BadRow("`chain` is empty");
  let before = outside.address(first);
  const start = before;
  for (const step of rest) {
    const [, status, to] = /^(\d{3}) (\S+)$/.exec(step) ?? [];
    if (status === undefined || to === undefined) throw new BadRow(`${step} is no step`);
    outside.steps.set(before, { status: Number(status), to: outside.address(to) });
    before = outside.address(to);
  }
  const got = await outside.fetch(start);
  const { said, by, value } = got;
  const isDenied = by === "gate" || by === "way";
  const answer: Record<string, Json> = { expect: said === "done" ? "allow" : isDenied ? "deny" : said };
  const expected: Record<string, Json> = { expect: textAt(row, "expect") };
  if (has(row, "hop")) {
    expected["hop"] = row["hop"] as Json;
    answer["hop"] = outside.taken.length;
  }
  if (has(row, "final")) {
    expected["final"] = outside.address(textAt(row, "final"));
    answer["final"] = value["url"] ?? null;
  }
  if (has(row, "hops")) {
    expected["hops"] = row["hops"] as Json;
    answer["hops"] = value["hops"] ?? null;
  }
  return { kind: "compared", expected, got: answer, wider: said === "done" && expected["expect"] === "deny" };
}

/** This many redirects, each to another host. */
function chainOf(row: Row): readonly string[] {
  if (!has(row, "chain_hops")) return textsAt(row, "chain");
  const many = Number(row["chain_hops"]);
  if (!(many >= 0 && many <= 20)) throw new BadRow("`chain_hops` is no number of redirects");
  const letters = Array.from({ length: many + 1 }, (_, at) => String.fromCharCode(97 + at));
  return letters.map((letter, at) => (at === 0 ? letter : `302 ${letter}`));
}

/** The header names before "stripped": each sent to one origin that redirects to another. A forbidden header never arrives. */
async function stripped(row: Row, outside: Outside): Promise<Outcome> {
  const names = /^(.+) stripped when origin changes$/.exec(textAt(row, "rule"))?.[1]?.split(/,\s*/) ?? [];
  const [from, to] = [outside.address("a"), outside.address("b")];
  outside.steps.set(from, { status: 302, to });
  const dropped: string[] = [];
  for (const name of names) {
    outside.taken.length = 0;
    const { said } = await outside.fetch(from, { [name]: "mine", "X-Other": "kept" });
    const [first, second] = outside.taken.map(({ headers }) => headers);
    const isRefused = said === "invalid_input" && first === undefined;
    const isDropped = first?.[name.toLowerCase()] === "mine" && second !== undefined && !(name.toLowerCase() in second);
    if (isRefused || (isDropped && second?.["x-other"] === "kept")) dropped.push(name);
  }
  if (names.length === 0) throw new BadRow("`rule` names no headers");
  return {
    kind: "compared",
    expected: { stripped: names },
    got: { stripped: dropped },
    wider: dropped.length < names.length,
  };
}
