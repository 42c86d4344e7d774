// Sealed objects: no prototype, no getter, immutable, and functions without a path to their constructor. And lazy ones, for
// our own code.

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

/** Makes each member. */
export type Makers<T> = { readonly [K in keyof T]: () => T[K] };

/** All members at once, sealed. */
export function closedOf<T>(make: Makers<T>): T {
  const entries = Object.entries(make as Readonly<Record<string, () => object>>);
  return closed(Object.fromEntries(entries.map(([name, one]) => [name, one()]))) as T;
}

/** Each member is made once, when it is first read: a call uses one or two of many. */
export function lazy<T>(make: Makers<T>): T {
  const object = Object.create(null) as object;
  for (const [name, one] of Object.entries(make as Readonly<Record<string, () => unknown>>)) {
    let made: { readonly value: unknown } | null = null;
    Object.defineProperty(object, name, {
      enumerable: true,
      get: () => {
        made ??= { value: one() };
        return made.value;
      },
    });
  }
  return Object.freeze(object) as T;
}
