// Several axes at once: a host with its port, and a program with its folder and its mode. The requests miss on each axis in turn,
// so no axis can be left out.
import { parseArgv, parseArgvPattern } from "../../src/core/authority/axes/argv.ts";
import { parseHost } from "../../src/core/authority/axes/destination.ts";
import { parsePath, tree } from "../../src/core/authority/axes/path.ts";
import { chainLevel } from "../../src/core/authority/chain.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import type { Request } from "../../src/core/authority/request.ts";
import type { Cell } from "../cell-process.ts";
import { secondsOfUnits } from "../clock.ts";
import { asIs, chainOf, entry, grant, hosts, MOMENT, PATH_SETTINGS, read, sequences } from "../engines/ambit.ts";
import type { Engine } from "../engines/engine.ts";
import type { Row } from "../row.ts";
import { requestsCount } from "../workload.ts";
import { ask, checkAnswers } from "./decisions.ts";

interface ExpectedDecision {
  readonly request: Request;
  readonly allowed: boolean;
}

interface Axes {
  readonly name: string;
  grant(at: number): Grant;
  /** `miss` is the axis to miss on, or -1. */
  request(at: number, miss: number): Request;
  readonly axes: number;
}

/** As many projects as grants, and in each the same few programs: only the folder distinguishes the grants. */
const programs: readonly string[] = ["git", "npm", "node", "make", "cargo", "python3", "rg", "ls"];

const families: readonly Axes[] = [
  {
    name: "host x port",
    axes: 2,
    grant: (at) =>
      grant("net.get", [
        hosts(`*.region${at}.example.com`, `cdn${at}.example.net`),
        {
          kind: "ports",
          of: [
            { low: 443, high: 443 },
            { low: 8000, high: 8099 },
          ],
        },
      ]),
    request: (at, miss) => {
      const host = miss === 0 ? `node.region${at}x.example.com` : `node.region${at}.example.com`;
      return { verb: entry("net.get"), values: [read(parseHost(host, asIs)), miss === 1 ? 8100 : 8042] };
    },
  },
  {
    name: "root x argv x mode, many programs",
    axes: 3,
    grant: (at) => process(at, `tool${at}`),
    request: (at, miss) => run(at, `tool${at}`, miss),
  },
  {
    name: "root x argv x mode, 8 programs",
    axes: 3,
    grant: (at) => process(at, programs[at % programs.length] as string),
    request: (at, miss) => run(at, programs[at % programs.length] as string, miss),
  },
];

export function measureAxes({ subject, size }: Cell, ready: () => void): readonly Row[] {
  ready();
  return families.map(({ name, axes, grant: grantAt, request: requestAt }): Row => {
    const chain = chainOf(Array.from({ length: size }, (_, at) => grantAt(at)));
    const asked = Array.from({ length: requestsCount }, (_, at): ExpectedDecision => {
      const allowed = at % 2 === 0;
      return { request: requestAt((at * 7919) % size, allowed ? -1 : ((at - 1) / 2) % axes), allowed };
    });
    const engine: Engine = {
      count(from, to) {
        let allowed = 0;
        for (let at = from; at < to; at++)
          if (chainLevel(chain, (asked[at] as ExpectedDecision).request, MOMENT, "use") >= 0) allowed++;
        return allowed;
      },
    };
    checkAnswers(subject, engine, asked);
    const value = secondsOfUnits((units) => ask(engine, asked.length, units));
    return { subject, case: `decide ${name} N=${size}`, value, unit: "ns" };
  });
}

function process(at: number, program: string): Grant {
  return grant("proc.exec", [
    sequences(tree(["srv", `project${at}`])),
    sequences(read(parseArgvPattern(`${program} log **`)), read(parseArgvPattern(`${program} show *`))),
    { kind: "words", of: ["ro"] },
  ]);
}

function run(at: number, program: string, miss: number): Request {
  const root = read(parsePath(miss === 0 ? `/srv/project${at}x/src` : `/srv/project${at}/src`, PATH_SETTINGS));
  const argv = read(parseArgv([program, miss === 1 ? "push" : "log", "--oneline", "HEAD"]));
  return { verb: entry("proc.exec"), values: [root, argv, miss === 2 ? "rw" : "ro"] };
}
