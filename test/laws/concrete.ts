// A concrete witness: unknown text becomes text that occurs nowhere else, so that the reference can decide it.

import type { Arguments, Probe } from "../../src/core/authority/axes/constraint.ts";
import type { Destination } from "../../src/core/authority/axes/destination.ts";
import type { Value } from "../../src/core/authority/axes/scope.ts";
import type { AxisKind } from "../../src/core/authority/catalog.ts";
import { ANY_TEXT, FOREIGN_TEXT } from "../../src/core/authority/patterns/reserved.ts";
import type { Segments } from "../../src/core/authority/patterns/sequence.ts";
import { riskOf } from "../../src/core/authority/programs/risky.ts";
import type { Request } from "../../src/core/authority/request.ts";
import type { Json } from "../../src/core/base/json.ts";
import { guard } from "./requests.ts";
import type { SequenceKind } from "./sequences.ts";

/** Fresh text: longer than any option, of a character that no pattern and no option of the alphabet contains. */
class Fresh {
  #count = 0;
  next(): string {
    this.#count++;
    return `\u00b5${"\u00e6".repeat(this.#count)}`;
  }
  in(text: string): string {
    return text.split(ANY_TEXT).reduce((before, part) => before + this.next() + part);
  }
}

export function concrete(request: Request): Request {
  const fresh = new Fresh();
  return {
    verb: request.verb,
    values: request.verb.axes.map((axis, at) => concreteValue(axis.kind, request.values[at], fresh)),
  };
}

function concreteValue(kind: AxisKind, value: Value, fresh: Fresh): Value {
  if (value === undefined || typeof value !== "object") return value;
  if ("segments" in value) return concreteSegments(kind as SequenceKind, value, fresh);
  if ("address" in value) return concreteDestination(value, fresh);
  return concreteArguments(value, fresh);
}

function concreteSegments(kind: SequenceKind, { segments, guarded }: Segments, fresh: Fresh): Segments {
  const program = segments[0] ?? "";
  const list = segments.map((text, at) => {
    if (!text.includes(ANY_TEXT)) return text;
    if (guarded?.[at] === true) return riskyWord(program, fresh);
    // After a single dash, unknown text may begin with a dash of its own, and only then is it not a bundle of letters.
    if (kind === "argv" && at > 0 && text.startsWith(`-${ANY_TEXT}`))
      return `-${fresh.in(`-${text.slice(1)}`)}`.replace(/^-(\u00b5|-)/, "--$1");
    return fresh.in(text);
  });
  return guard(kind, list);
}

/** A risky option of the program that no pattern contains. */
function riskyWord(program: string, fresh: Fresh): string {
  const risk = riskOf(program);
  const word = risk?.words[0];
  if (word !== undefined) return word.endsWith("*") ? word.slice(0, -1) + fresh.next() : `${word}=${fresh.next()}`;
  return `-${risk?.letters[0] ?? ""}${fresh.next()}`;
}

function concreteDestination(value: Destination, fresh: Fresh): Destination {
  if (value.name === null) return value;
  return {
    name: { segments: value.name.segments.map((text) => fresh.in(text)), guarded: null },
    address: value.address,
  };
}

/** One call in which every constrained argument is the list of all its probes. */
function concreteArguments(value: Arguments, fresh: Fresh): Arguments {
  if (value.kind === "json") return value;
  const built: { [key: string]: Json } = {};
  for (const [place, probes] of value.at) {
    const keys = [...place.matchAll(/"(?:[^"\\]|\\.)*"|[^.]+/g)].map(([key]) =>
      key.startsWith('"') ? (JSON.parse(key) as string) : key,
    );
    let object = built;
    for (const key of keys.slice(0, -1)) {
      object[key] ??= {};
      object = object[key] as { [key: string]: Json };
    }
    object[keys.at(-1) as string] = probes.map((probe) => concreteProbe(probe, fresh));
  }
  if (value.open) built["unnamed"] = true;
  return { kind: "json", value: built };
}

function concreteProbe(probe: Probe, fresh: Fresh): Json {
  switch (probe.kind) {
    case "json":
      return typeof probe.value === "string" ? probe.value.replaceAll(FOREIGN_TEXT, "\u0001") : probe.value;
    case "text":
      return fresh.in(probe.text);
    case "path":
      return `/${probe.path.segments.map((text) => fresh.in(text)).join("/")}`;
    case "url":
      return `https://${
        probe.host.name === null
          ? addressInUrl(probe.host)
          : probe.host.name.segments
              .map((text) => text.replaceAll(ANY_TEXT, "fresh"))
              .reverse()
              .join(".")
      }/`;
  }
}

function addressInUrl({ address }: Destination): string {
  if (address === null) throw new Error("a literal has an address");
  if (address.family === 6)
    return `[${[...address.number.toString(16).padStart(32, "0").matchAll(/.{4}/g)].join(":")}]`;
  return [24n, 16n, 8n, 0n].map((shift) => (address.number >> shift) & 255n).join(".");
}
