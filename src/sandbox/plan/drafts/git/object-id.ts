// Object ids in both of git's formats: 40 hexadecimal digits of SHA-1 or 64 of SHA-256, lower case.

export type ObjectFormat = "sha1" | "sha256";

export const ID_BYTES: Readonly<Record<ObjectFormat, number>> = { sha1: 20, sha256: 32 };

const ID: Readonly<Record<ObjectFormat, RegExp>> = { sha1: /^[0-9a-f]{40}$/, sha256: /^[0-9a-f]{64}$/ };

/** The null id stands for "no such ref" and is never an object. */
export function isObjectId(text: string, format: ObjectFormat): boolean {
  return ID[format].test(text) && !/^0+$/.test(text);
}

export function nullId(format: ObjectFormat): string {
  return "0".repeat(2 * ID_BYTES[format]);
}
