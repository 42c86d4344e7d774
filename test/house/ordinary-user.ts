/** A user id that no account has. */
export const ORDINARY = 12_345;
