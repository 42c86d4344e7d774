// What the state owner answers: the value once it is on disk, or that it could not be kept. Never both, never silence.

export type Kept<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: "audit_unavailable"; readonly message: string };

/** Resolves when it is durable; never rejects. */
export type Durable<T> = Promise<Kept<T>>;
