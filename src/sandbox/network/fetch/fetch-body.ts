// The body of a response: decoded within a limit, redacted, and sent in chunks with backpressure.
import type { IncomingMessage } from "node:http";
import { type Duplex, pipeline } from "node:stream";
import zlib from "node:zlib";
import type { DenialCode } from "../../../core/authority/decision.ts";
import { codingsMax } from "./fetch-limits.ts";
import type { Method } from "./fetch-messages.ts";

export type BodyEnd = { readonly code: DenialCode; readonly message: string } | null;

/** In the order they were applied; null where one is unknown. Without a body there is nothing to decode. */
export function codingsOf(response: IncomingMessage, method: Method): readonly string[] | null {
  const isEmpty = response.headers["content-length"] === "0" || [204, 304].includes(response.statusCode ?? 0);
  if (method === "HEAD" || isEmpty) return [];
  const codings = (response.headers["content-encoding"] ?? "")
    .split(",")
    .map((one) => one.trim().toLowerCase())
    .filter((one) => one !== "" && one !== "identity");
  const isKnown = codings.every((one) => ["gzip", "x-gzip", "deflate", "br"].includes(one));
  return isKnown && codings.length <= codingsMax ? codings : null;
}

/** Calls `take` for each chunk and awaits it. Bytes beyond the limit are never passed on. */
export async function readBody(
  response: IncomingMessage,
  codings: readonly string[],
  bytesMax: number,
  take: (bytes: Buffer) => Promise<void>,
): Promise<BodyEnd> {
  const body = decoded(response, codings);
  let length = 0;
  try {
    for await (const piece of body) {
      const bytes = piece as Buffer;
      length += bytes.length;
      if (length > bytesMax) return { code: "budget_exhausted", message: `the body has more than ${bytesMax} bytes` };
      await take(bytes);
    }
    if (!response.complete) return { code: "not_available", message: "the body ended too early" };
    return null;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "unknown";
    return { code: "not_available", message: `the body cannot be read (${code})` };
  } finally {
    body.destroy();
    response.destroy();
  }
}

function decoded(response: IncomingMessage, codings: readonly string[]): IncomingMessage | Duplex {
  const steps = codings.toReversed().map(decoder);
  const last = steps.at(-1);
  if (last === undefined) return response;
  // Errors of any stage surface at the last one.
  pipeline([response, ...steps], () => undefined);
  return last;
}

/** Small chunks: the expansion of a few compressed bytes is never buffered at once. */
const chunkSize = 32_768;

function decoder(coding: string): Duplex {
  switch (coding) {
    case "br":
      return zlib.createBrotliDecompress({ chunkSize });
    case "deflate":
      return zlib.createInflate({ chunkSize });
    default:
      return zlib.createGunzip({ chunkSize });
  }
}
