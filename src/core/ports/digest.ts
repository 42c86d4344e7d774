// A text as a short name of its own that no other text has.

/** SHA-256 of the text's UTF-8, in lower-case hexadecimal. */
export type Digest = (text: string) => string;
