// One spec as a YAML scalar: plain if every reader parses it alike, else quoted.
import { visible } from "../../core/notation/visible.ts";

/** No space, colon, quote or `#`: nothing in it ends the scalar or starts another construct in a block. */
const BARE_IN_BLOCK = /^[a-z][A-Za-z0-9_.{}[\]=*,/~+@%-]*$/;
/** Between brackets, commas and braces are punctuation. */
const BARE_IN_FLOW = /^[a-z]+\.[a-z_]+$/;

/** `like`: the text that is replaced, whose quotes are kept if possible. */
export function scalarText(spec: string, isFlow: boolean, like = ""): string {
  const quote = like[0];
  const quoted = visible(JSON.stringify(spec));
  if (quote === "'" && quoted === JSON.stringify(spec) && !/[\r\n\t]/.test(spec))
    return `'${spec.replace(/'/g, "''")}'`;
  if (quote === '"') return quoted;
  return (isFlow ? BARE_IN_FLOW : BARE_IN_BLOCK).test(spec) ? spec : quoted;
}
