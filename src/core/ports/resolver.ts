// Names to addresses. The gate decides on the answer; the connection goes to an address that was decided on.

/** Null for a failure of any kind, which is as good as an empty answer: nothing is dialled. */
export type Resolver = (host: string) => Promise<readonly string[] | null>;
