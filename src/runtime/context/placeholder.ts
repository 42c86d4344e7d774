// Secret placeholders: `{{secret:name}}`. A tool sees this text and never the value.

const PLACEHOLDER = /\{\{secret:([^{}\s]{1,256})\}\}/g;

export function placeholderOf(name: string): string {
  return `{{secret:${name}}}`;
}

export function secretsIn(text: string): readonly string[] {
  return [...text.matchAll(PLACEHOLDER)].map((match) => match[1] as string);
}

/** INVARIANT: a value is substituted once and never scanned for more placeholders. */
export function filled(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(PLACEHOLDER, (whole, name: string) => values.get(name) ?? whole);
}

/** The same bytes with every value redacted: a server may echo the request. */
export function withoutValues(
  bytes: Uint8Array,
  values: readonly { readonly value: Uint8Array; readonly shown: Uint8Array }[],
): Uint8Array {
  let all = bytes;
  for (const { value, shown } of values) all = replaced(all, value, shown);
  return all;
}

function replaced(bytes: Uint8Array, value: Uint8Array, shown: Uint8Array): Uint8Array {
  if (value.length === 0 || value.length > bytes.length) return bytes;
  const parts: Uint8Array[] = [];
  let kept = 0;
  for (let at = bytes.indexOf(value[0] as number); at >= 0 && at <= bytes.length - value.length; ) {
    if (isAt(bytes, value, at)) {
      parts.push(bytes.subarray(kept, at), shown);
      kept = at + value.length;
      at = bytes.indexOf(value[0] as number, kept);
    } else at = bytes.indexOf(value[0] as number, at + 1);
  }
  return parts.length === 0 ? bytes : joined([...parts, bytes.subarray(kept)]);
}

function isAt(bytes: Uint8Array, value: Uint8Array, at: number): boolean {
  for (let step = 0; step < value.length; step++) if (bytes[at + step] !== value[step]) return false;
  return true;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
