// As many items as requested and as fit in one answer.
import type { Json } from "../../core/base/json.ts";
import { answerBytesMax } from "./limits.ts";

export interface FittedItems {
  readonly items: readonly Json[];
  readonly more: boolean;
}

/** `hasMore`: there are others beyond these. */
export function fitItems<T>(all: readonly T[], limit: number, hasMore: boolean, show: (item: T) => Json): FittedItems {
  const items: Json[] = [];
  let bytes = 0;
  for (const one of all.slice(0, limit)) {
    const item = show(one);
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > answerBytesMax) break;
    items.push(item);
  }
  return { items, more: hasMore || items.length < all.length };
}
