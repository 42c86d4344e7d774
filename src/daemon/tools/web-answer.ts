// What came back of a fetch: read as far as was wanted, decoded, and refused where it is not text or not whole.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { FetchResult } from "../../sandbox/network/fetch/fetch-client.ts";
import { contentOf } from "../../tools/web/content.ts";
import type { WebCall } from "../../tools/web/fetch-input.ts";
import { webResultData } from "../../tools/web/result.ts";
import type { Carried } from "./owner-tool.ts";

export async function answered(call: WebCall, fetched: FetchResult & { readonly ok: true }): Promise<Carried> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of fetched.body) {
    pieces.push(piece);
    length += piece.length;
    if (length > call.bytesMax) break;
  }
  const more = length > call.bytesMax;
  const end = more ? null : await fetched.end;
  // What did not end well is not whole, and is not shown as if it were.
  if (end !== null && !end.ok) return failed(end.code, end.message);
  const bytes = Buffer.concat(pieces).subarray(0, call.bytesMax);
  const { status, url, hops, headers } = fetched;
  const type = headers.find(([name]) => name === "content-type")?.[1] ?? null;
  const content = contentOf(type, bytes, more);
  if (!content.ok) {
    const size = more ? `more than ${call.bytesMax}` : String(bytes.length);
    return failed("not_available", `the answer is not text: ${content.type ?? "of no known type"}, ${size} bytes`);
  }
  const isPending = call.format !== "raw" && content.kind !== "text" && content.text !== "";
  return {
    ok: true,
    isUntrusted: true,
    value: webResultData({
      status,
      url,
      // The last one is where it ended.
      hops: Math.max(0, hops.length - 1),
      contentType: content.type,
      text: content.text,
      more,
      bytes: bytes.length,
      ...(isPending ? { pending: { kind: content.kind, format: call.format } } : {}),
    }),
  };
}

export function failed(code: DenialCode, message: string): Carried {
  return { ok: false, code, message };
}
