// Upper limits of one fetch; a caller's own limits lie within these.

export const fetchesMax = 64;
export const fetchHeadersMax = 100;
export const requestBodyBytesMax = 4_194_304;
export const responseBodyBytesMax = 67_108_864;
export const fetchMillisecondsMax = 600_000;
export const redirectsMax = 10;
export const fetchSecretsMax = 16;
export const codingsMax = 3;
export const informationMax = 8;
/** The size of a body chunk on its way to the daemon, and how many may be in flight. */
export const pieceBytesMax = 65_536;
export const piecesAheadMax = 4;
export const addressesMax = 64;
export const resolversMax = 16;
