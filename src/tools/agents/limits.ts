// How much the tools over agents take and give.

export const agentIdCharactersMax = 256;
export const instructionsCharactersMax = 65_536;
export const versionCharactersMax = 64;
/** What one question about agents asks for. */
export const askedMax = 16;
export const askedCharactersMax = 4096;
/** Agents that are looked at for one question; the next one goes on behind them. */
export const agentsLookedAtMax = 256;
export const agentsShownMax = 50;
export const agentsShownUsual = 20;
export const descriptionCharactersMax = 300;
