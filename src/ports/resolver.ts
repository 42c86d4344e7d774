// Names to addresses. The gate decides on the answer; the connection goes to an address that was decided on.

/** Null for a failure of any kind; the gate treats it like an empty answer, which is a denial. */
export type Resolver = (host: string) => Promise<readonly string[] | null>;
