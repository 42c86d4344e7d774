// Name resolution. The gate decides on the result; the connection uses only an address that was decided on.

/** Null for any failure, which counts as an empty result: no connection is made. */
export type Resolver = (host: string) => Promise<readonly string[] | null>;
