// Limits on the duration and uses of an answer, and on how long a question stays open.

/** Pending questions of one agent. */
export const pendingPerAgentMax = 20;
/** An unanswered question expires after a day. */
export const questionMillisecondsMax = 86_400_000;
/** An answer lasts a working day at most; a longer one is an edit of the record. */
export const answerMillisecondsMax = 28_800_000;
export const answerMillisecondsMin = 1000;
export const answerUsesMax = 1000;
/** People that one answer can require. */
export const approversMax = 10;
export const reasonCharactersMax = 2000;
/** Requests of one call that can be widened together; a call with more is approved exactly or not at all. */
export const askingWidenedMax = 16;
