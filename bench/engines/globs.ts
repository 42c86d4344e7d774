// Loops over glob libraries: every pattern compiled beforehand, a list for each verb.
import { loadPeer } from "../peers.ts";
import type { WrittenGrant, WrittenRequest } from "../workload.ts";
import { byVerb, type Engine } from "./engine.ts";

type Picomatch = (pattern: string, options: { readonly dot: boolean }) => (text: string) => boolean;

interface MinimatchDoor {
  readonly Minimatch: new (pattern: string, options: { readonly dot: boolean }) => { match(text: string): boolean };
}

export function picomatchLoop(grants: readonly WrittenGrant[], requests: readonly WrittenRequest[]): Engine {
  const picomatch = loadPeer("picomatch") as Picomatch;
  const lists = byVerb(grants, (grant) => picomatch(globOf(grant), { dot: true }));
  return {
    count(from, to) {
      let allowed = 0;
      for (let at = from; at < to; at++) {
        const { verb, value } = requests[at] as WrittenRequest;
        for (const matches of lists[verb]) {
          if (!matches(value)) continue;
          allowed++;
          break;
        }
      }
      return allowed;
    },
  };
}

export function minimatchLoop(grants: readonly WrittenGrant[], requests: readonly WrittenRequest[]): Engine {
  const { Minimatch } = loadPeer("minimatch") as MinimatchDoor;
  const lists = byVerb(grants, (grant) => new Minimatch(globOf(grant), { dot: true }));
  return {
    count(from, to) {
      let allowed = 0;
      for (let at = from; at < to; at++) {
        const { verb, value } = requests[at] as WrittenRequest;
        for (const pattern of lists[verb]) {
          if (!pattern.match(value)) continue;
          allowed++;
          break;
        }
      }
      return allowed;
    },
  };
}

function globOf({ kind, value }: WrittenGrant): string {
  return kind === "below" ? `*.${value}` : kind === "tree" ? `${value}/**` : value;
}
