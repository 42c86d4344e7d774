// What an answer may last, how often it may be used, and how long a question stays open.

/** Questions of one agent that wait at a time. */
export const pendingPerAgentMax = 20;
/** A question nobody answered is gone after a day. */
export const questionMillisecondsMax = 86_400_000;
/** An answer reaches as far as a working day; what is meant for longer is an edit of the record. */
export const answerMillisecondsMax = 28_800_000;
export const answerMillisecondsMin = 1000;
export const answerUsesMax = 1000;
/** People who can be needed for one answer. */
export const approversMax = 10;
export const reasonCharactersMax = 2000;
/** Requests of one call that can be widened together; a call that asks for more is approved exactly or not at all. */
export const askingWidenedMax = 16;
