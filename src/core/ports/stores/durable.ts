// The result of a durable write: the value once it is on disk, or a failure.

export type DurableResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: "audit_unavailable"; readonly message: string };

/** Resolves when it is durable; never rejects. */
export type Durable<T> = Promise<DurableResult<T>>;
