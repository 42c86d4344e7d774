// The result of a durable write: the value once it is on disk, or a failure.

import type { CodedFailure, Result } from "../../base/result.ts";
export type DurableResult<T> = Result<T, CodedFailure<"audit_unavailable">>;

/** Resolves when it is durable; never rejects. */
export type Durable<T> = Promise<DurableResult<T>>;
