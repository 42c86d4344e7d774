// Limits on input and output of the agent tools.

export const agentIdCharactersMax = 256;
export const instructionsCharactersMax = 65_536;
export const versionCharactersMax = 64;
/** Items of one query about agents. */
export const queryItemsMax = 16;
export const queryItemCharactersMax = 4096;
/** Agents examined for one query; the next page continues after them. */
export const agentsLookedAtMax = 256;
export const agentsShownMax = 50;
export const agentsShownUsual = 20;
export const descriptionCharactersMax = 300;
