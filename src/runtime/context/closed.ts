// Objects that lead nowhere: no prototype, no getter, nothing that can be changed, and functions that are only that.

type Member = string | number | boolean | null | object | ((...all: never[]) => unknown);

/** INVARIANT: every member is a value, a function or closed already; a function loses the way to its constructor. */
export function closed<T extends Readonly<Record<string, Member>>>(members: T): T {
  const object = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const member = members[key];
    object[key] = typeof member === "function" ? closedFunction(member as (...all: never[]) => unknown) : member;
  }
  return Object.freeze(object) as T;
}

/** An arrow function has no `prototype` of its own; the one it inherits from leads to `Function`. */
export function closedFunction<F extends (...all: never[]) => unknown>(act: F): F {
  Object.setPrototypeOf(act, null);
  return Object.freeze(act);
}
