// Preparation: parsing a grant's text, compiling a link, and the memory of the index.
import { type CompiledLink, compile } from "../../src/core/authority/compiled.ts";
import type { Grant } from "../../src/core/authority/grant.ts";
import type { Link } from "../../src/core/authority/link.ts";
import { readCompact } from "../../src/core/notation/compact/compact.ts";
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import type { Reading } from "../../src/core/notation/reading.ts";
import type { Cell } from "../cell-process.ts";
import { secondsOfUnits } from "../clock.ts";
import { asIs, grantOf, linkOf, PATH_SETTINGS } from "../engines/ambit.ts";
import { heapBytes } from "../heap.ts";
import type { Row } from "../row.ts";
import { type WrittenGrant, writtenGrants } from "../workload.ts";

const weighedGrantsMin = 100_000;

const READING: Reading = { pathSettings: PATH_SETTINGS, toAscii: asIs, ceiling: null };

export function measureBuild({ subject, size }: Cell, ready: () => void): readonly Row[] {
  const written = writtenGrants(size);
  const link = linkOf(written.map(grantOf));
  const texts = written.map(compactText);
  for (const text of texts) readOne(text);
  ready();
  const bytes = indexBytes(link);
  const parse = secondsOfUnits((units) => {
    for (let unit = 0; unit < units; unit++) for (const text of texts) readOne(text);
  }, 2);
  const compiling = secondsOfUnits((units) => {
    for (let unit = 0; unit < units; unit++) compile(link);
  }, 2);
  return [
    { subject, case: `parse, a grant of N=${size}`, value: parse / size, unit: "ns" },
    { subject, case: `compile, a grant of N=${size}`, value: compiling / size, unit: "ns" },
    { subject, case: `index, a grant of N=${size}`, value: bytes / size, unit: "bytes" },
  ];
}

/** What compiling adds to the heap; the grants themselves were there before. Small links are measured many at once. */
function indexBytes(link: Link): number {
  const kept: CompiledLink[] = [compile(link)];
  const copies = Math.max(1, Math.ceil(weighedGrantsMin / link.grants.length));
  const before = heapBytes();
  for (let copy = 0; copy < copies; copy++) kept.push(compile(link));
  const after = heapBytes();
  // Used afterwards, so that nothing of it was collected before the measurement.
  if (kept.some((compiled) => compiled.link !== link)) throw new Error("a compiled link keeps its link");
  return (after - before) / copies;
}

function readOne(text: string): Grant {
  const diagnostics = new Diagnostics();
  const span = { source: "bench", start: 0, end: text.length };
  const grant = readCompact(text, { reading: READING, diagnostics, span, root: null });
  if (grant === null || diagnostics.list.length > 0) throw new Error(`${text}: ${JSON.stringify(diagnostics.list)}`);
  return grant;
}

function compactText({ verb, kind, value }: WrittenGrant): string {
  switch (kind) {
    case "below":
      return `${verb}{hosts=[*.${value}]}`;
    case "exact":
      return `${verb}{hosts=[${value}]}`;
    case "tree":
      return `${verb}{in=${value}}`;
    case "program":
      return `${verb}{in=/srv,cmds=[${value}]}`;
  }
}
