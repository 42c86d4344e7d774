// Where a second copy of the log is kept, and how long a call waits for it. The user's to say.

import { parseRoot, pathText } from "../../authority/axes/path.ts";
import { utf8Length } from "../../base/bytes.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { nearestName } from "../nearest.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { kindName, reportRefusal, textOf } from "../scope/scope-values.ts";
import { type Entry, entryOf, type TreeNode } from "../tree.ts";

export interface WrittenAudit {
  readonly sink: SinkTarget;
  readonly timeoutMilliseconds: number;
}

/** By its whole path: a file that grows, or the socket of a collector. */
export interface SinkTarget {
  readonly kind: "file" | "socket";
  readonly path: string;
}

export const sinkTimeoutMilliseconds = 2000;
const timeoutMillisecondsMin = 100;
const timeoutMillisecondsMax = 60_000;
const pathCharactersMax = 4096;
/** The kernel's own limit is a few bytes above it, and another on every system. */
const socketBytesMax = 100;

const KEYS: readonly string[] = ["sink", "timeout"];
const EXAMPLE = "audit: { sink: ~/log/ambit.jsonl, timeout: 2s }";
const SOCKET = "unix:";

export function sinkText({ kind, path }: SinkTarget): string {
  return kind === "socket" ? `${SOCKET}${path}` : path;
}

export function readAudit({ value }: Entry, reading: Reading, diagnostics: Diagnostics): WrittenAudit | null {
  if (value.kind !== "map") {
    diagnostics.error("wrong_type", value.span, `\`audit\` is a map, not ${kindName(value)}`, { fix: EXAMPLE });
    return null;
  }
  for (const { key, keySpan } of value.entries)
    if (!KEYS.includes(key))
      diagnostics.error("unknown_key", keySpan, `\`audit\` has no ${quoteText(key)}`, {
        suggestion: nearestName(key, KEYS),
      });
  const written = entryOf(value, "sink");
  if (written === null) {
    diagnostics.error("missing_field", value.span, "`audit` needs `sink`, the target of the second copy of the log", {
      fix: EXAMPLE,
    });
    return null;
  }
  const sink = targetOf(written, reading, diagnostics);
  const given = entryOf(value, "timeout");
  const timeoutMilliseconds = given === null ? sinkTimeoutMilliseconds : timeoutOf(given.value, diagnostics);
  return sink === null || timeoutMilliseconds === null ? null : { sink, timeoutMilliseconds };
}

function targetOf(entry: Entry, reading: Reading, diagnostics: Diagnostics): SinkTarget | null {
  const written = textOf(entry, diagnostics);
  if (written === null) return null;
  const { text, span } = written;
  const kind = text.startsWith(SOCKET) ? "socket" : "file";
  const path = kind === "socket" ? text.slice(SOCKET.length) : text;
  const isWhole = path.startsWith("/") || path.startsWith("~/");
  if (!isWhole || path.endsWith("/") || path.length > pathCharactersMax || HIDDEN.test(path)) {
    diagnostics.error("bad_value", span, "`sink` is the absolute path of a file, or `unix:` and the path of a socket", {
      fix: EXAMPLE,
    });
    return null;
  }
  const parsed = parseRoot(path, reading.pathSettings);
  if (!parsed.ok) {
    reportRefusal(parsed, span, diagnostics);
    return null;
  }
  const whole = pathText(parsed.value);
  if (kind === "socket" && whole.length * 3 > socketBytesMax && utf8Length(whole) > socketBytesMax) {
    diagnostics.error("bad_value", span, `the path of a socket has at most ${socketBytesMax} bytes`, {
      fix: "sink: unix:/run/user/1000/collector.sock",
    });
    return null;
  }
  return { kind, path: whole };
}

/** No name of a file that a person writes has them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const HIDDEN = /[\u0000-\u001f\u007f]/;

function timeoutOf(value: TreeNode, diagnostics: Diagnostics): number | null {
  const text = value.kind === "scalar" && typeof value.value === "string" ? value.value : "";
  const [, count, unit] = /^(\d{1,6})(ms|s)$/.exec(text) ?? [];
  const milliseconds = Number(count) * (unit === "s" ? 1000 : 1);
  if (milliseconds >= timeoutMillisecondsMin && milliseconds <= timeoutMillisecondsMax) return milliseconds;
  diagnostics.error("bad_value", value.span, "`timeout` is a duration from 100ms to 60s, with a unit", {
    fix: "timeout: 2s",
  });
  return null;
}
