// Limits of one sandbox at the broker. Beyond a limit requests are refused, never truncated.

export const sandboxesMax = 1024;
export const chainsMax = 256;
export const linksPerChainMax = 64;
export const specsPerLinkMax = 4096;

/** Concurrent, for one sandbox. */
export const connectionsMax = 256;
/** A bucket that holds `burst` and refills by `perSecond`. */
export const connectionRate = { burst: 4096, perSecond: 1024 } as const;
export const questionRate = { burst: 4096, perSecond: 2048 } as const;

export const namesMax = 4096;
export const denialsMax = 256;
export const questionBytesMax = 1232;
export const nameConnectionsMax = 16;
export const nameConnectionIdleMilliseconds = 5_000;

/** Fewer than the threads of the system's resolver: one sandbox cannot block another's lookups. */
export const lookupsMax = 3;
export const lookupsWaitingMax = 256;
export const lookupMilliseconds = 10_000;
export const cachedNamesMax = 1024;
export const cachedMillisecondsMax = 30_000;

/** Timeout for a program that must speak first to send enough to be decided on. */
export const openingMilliseconds = 30_000;
export const dialMilliseconds = 10_000;
export const idleMilliseconds = 900_000;
export const daemonMilliseconds = 30_000;

export const helloBytesMax = 16_384;
/** Bytes between the first and the second hello: early data that the server rejects. */
export const retryBytesMax = 65_536;
export const headBytesMax = 32_768;
export const headLinesMax = 200;

export const relayConnectionsMax = 64;
export const gitConnectionsMax = 32;
export const gitHostsMax = 64;
/** Without a byte in either direction: a server may run hooks for long before it answers a push. */
export const gitIdleMilliseconds = 600_000;
export const credentialBytesMax = 4096;
export const authoritiesCharactersMax = 1_048_576;
