// The best plain loop: for each verb a list of strings, and the one comparison of strings that decides.
import type { Verb, WrittenGrant, WrittenRequest } from "../workload.ts";
import type { Engine } from "./engine.ts";

interface Lists {
  readonly suffixes: string[];
  readonly hosts: string[];
  readonly prefixes: string[];
  readonly programs: string[];
}

export function stringLoop(grants: readonly WrittenGrant[], requests: readonly WrittenRequest[]): Engine {
  const lists: Lists = { suffixes: [], hosts: [], prefixes: [], programs: [] };
  for (const { kind, value } of grants) {
    if (kind === "below") lists.suffixes.push(`.${value}`);
    else if (kind === "exact") lists.hosts.push(value);
    else if (kind === "tree") lists.prefixes.push(`${value}/`);
    else lists.programs.push(value);
  }
  return {
    count(from, to) {
      let allowed = 0;
      for (let at = from; at < to; at++) {
        const { verb, value } = requests[at] as WrittenRequest;
        if (covers(lists, verb, value)) allowed++;
      }
      return allowed;
    },
  };
}

function covers(lists: Lists, verb: Verb, value: string): boolean {
  switch (verb) {
    case "net.get":
      for (const suffix of lists.suffixes) if (value.endsWith(suffix)) return true;
      return equalsOne(lists.hosts, value);
    case "fs.read":
      for (const prefix of lists.prefixes) if (value.startsWith(prefix)) return true;
      return false;
    case "proc.exec":
      return equalsOne(lists.programs, value);
  }
}

function equalsOne(list: readonly string[], value: string): boolean {
  for (const one of list) if (one === value) return true;
  return false;
}
