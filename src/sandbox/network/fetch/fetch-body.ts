// The body of a response: decoded within a limit, redacted, and cut into pieces that wait for each other.
import type { IncomingMessage } from "node:http";
import { type Duplex, pipeline } from "node:stream";
import zlib from "node:zlib";
import type { DenialCode } from "../../../core/authority/decision.ts";
import { codingsMax } from "./fetch-limits.ts";
import type { Method } from "./fetch-messages.ts";

export type BodyEnd = { readonly code: DenialCode; readonly message: string } | null;

/** In the order they were applied; null where one of them is not understood. Where there is no body there is nothing to decode. */
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

/** Calls `take` for each piece and waits for it. What comes after the limit is never taken. */
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
  // Errors of any step come out of the last one.
  pipeline([response, ...steps], () => undefined);
  return last;
}

/** Small pieces: what a few bytes can grow into is never held at once. */
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
