// The only key of a model that a program in a sandbox has.

/** Accepted by no provider. The relay replaces it; any other credential beside a request is an alarm. */
export const KEY_PLACEHOLDER = "sk-ambit-placeholder-the-key-is-kept-outside";
