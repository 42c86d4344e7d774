// What one sandbox may cost the broker. Past a limit the answer is a refusal, never a truncation.

export const sandboxesMax = 1024;
export const chainsMax = 256;
export const linksPerChainMax = 64;
export const specsPerLinkMax = 4096;

/** At once, for one sandbox. */
export const connectionsMax = 256;
/** A bucket that holds `burst` and is filled again by `perSecond`. */
export const connectionRate = { burst: 4096, perSecond: 1024 } as const;
export const questionRate = { burst: 4096, perSecond: 2048 } as const;

export const namesMax = 4096;
export const denialsMax = 256;
export const questionBytesMax = 1232;
export const nameConnectionsMax = 16;
export const nameConnectionIdleMilliseconds = 5_000;

/** Fewer than the threads the system's resolver is asked on: one sandbox cannot hold up the names of another. */
export const lookupsMax = 3;
export const lookupsWaitingMax = 256;
export const lookupMilliseconds = 10_000;
export const cachedNamesMax = 1024;
export const cachedMillisecondsMax = 30_000;

/** Until a program that has to speak first has said enough to be judged by. */
export const openingMilliseconds = 30_000;
export const dialMilliseconds = 10_000;
export const idleMilliseconds = 900_000;
export const ownerMilliseconds = 30_000;

export const helloBytesMax = 16_384;
/** What may arrive between the first and the second hello: early data that the server turns down. */
export const retryBytesMax = 65_536;
export const headBytesMax = 32_768;
export const headLinesMax = 200;

export const credentialConnectionsMax = 8;
export const credentialBytesMax = 4096;
export const credentialMilliseconds = 60_000;
