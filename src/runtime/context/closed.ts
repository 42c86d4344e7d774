// Sealed objects: no prototype, no getter, immutable, and functions without a path to their constructor.

type Member = string | number | boolean | null | object | ((...all: never[]) => unknown);

/** INVARIANT: every member is a value, a function or sealed already; a function loses access to its constructor. */
export function closed<T extends Readonly<Record<string, Member>>>(members: T): T {
  const object = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const member = members[key];
    object[key] = typeof member === "function" ? closedFunction(member as (...all: never[]) => unknown) : member;
  }
  return Object.freeze(object) as T;
}

/** An arrow function has no `prototype` of its own; its inherited one leads to `Function`. */
export function closedFunction<F extends (...all: never[]) => unknown>(act: F): F {
  Object.setPrototypeOf(act, null);
  return Object.freeze(act);
}
