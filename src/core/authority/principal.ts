// On whose behalf a session acts, and the condition of a grant that names it. A principal has a kind and a name, `user:ann`
// or `group:ops`; a session has several. Later kinds (tasks, teams, tenants) are further values of the same field.

export const PRINCIPAL_KINDS = ["user", "group"] as const;
export type PrincipalKind = (typeof PRINCIPAL_KINDS)[number];

/** `kind:name`. In a condition the name `*` stands for every user: for any session that has one. */
export type Principal = `${PrincipalKind}:${string}`;

export const EVERY_USER: Principal = "user:*";

/** Names of users and groups: they are file names, and stand in lists and log entries without quotes. */
export const PRINCIPAL_NAME: RegExp = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$/;

export function principal(kind: PrincipalKind, name: string): Principal {
  return `${kind}:${name}`;
}

/** The principals of a session: its user, and the groups that the user's record names. */
export function principalsOf(user: string | null, groups: readonly string[]): readonly Principal[] {
  if (user === null) return [];
  return [principal("user", user), ...groups.map((group) => principal("group", group))];
}

/** INVARIANT: monotone. More principals never satisfy less, so a session without any is the hardest case. */
export function principalsHold(condition: readonly Principal[] | null, acting: readonly Principal[]): boolean {
  if (condition === null) return true;
  for (const one of condition) {
    if (one === EVERY_USER ? acting.some((other) => other.startsWith("user:")) : acting.includes(one)) return true;
  }
  return false;
}

/** A user that no condition can name: it cannot be written. */
const UNNAMED: Principal = "user:";

/**
 * The sessions in which a condition holds by the least: one for each of its principals. Whatever holds in all of them holds
 * wherever the condition does.
 */
export function leastPrincipals(condition: readonly Principal[] | null): readonly (readonly Principal[])[] {
  if (condition === null) return [[]];
  return condition.map((one) => {
    if (one === EVERY_USER) return [UNNAMED];
    return one.startsWith("user:") ? [one] : [one, UNNAMED];
  });
}

export interface PrincipalMeet {
  readonly of: readonly Principal[] | null;
  /** False where one list names a user and the other a group: both at once have no spelling, and are left out. */
  readonly complete: boolean;
}

export function meetPrincipals(left: readonly Principal[] | null, right: readonly Principal[] | null): PrincipalMeet {
  if (left === null || right === null) return { of: left ?? right, complete: true };
  const within = (list: readonly Principal[], one: Principal): boolean =>
    list.includes(one) || list.includes(EVERY_USER);
  const of = [...left.filter((one) => within(right, one)), ...right.filter((one) => within(left, one))];
  const pairs = left.flatMap((one) => right.map((other) => [one, other] as const));
  const isWritten = (one: Principal): boolean => of.includes(one);
  const complete = pairs.every(([one, other]) => isWritten(one) || isWritten(other) || areApart(one, other));
  return { of: [...new Set(of)], complete };
}

/** No session has both: it acts for one user. */
function areApart(left: Principal, right: Principal): boolean {
  return left.startsWith("user:") && right.startsWith("user:") && left !== right;
}
