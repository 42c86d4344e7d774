// Content digests of text.

/** SHA-256 of the text's UTF-8, in lower-case hexadecimal. */
export type Digest = (text: string) => string;
