// DNS questions as a resolver writes them, for tests.

/** A list of labels may contain what a dotted text cannot. `extra`: one record after the question. */
export function queryOf(name: string | readonly string[], type: number, extra: readonly number[] = []): Uint8Array {
  const labels = typeof name === "string" ? (name === "" ? [] : name.split(".")) : name;
  const header = Buffer.from([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, extra.length > 0 ? 1 : 0]);
  const parts = labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, "latin1")]);
  return Buffer.concat([header, ...parts, Buffer.from([0, type >> 8, type & 255, 0, 1]), Buffer.from(extra)]);
}
