// A trigger: a name whose file a tool runs or obeys without a separate action of the person.

/** never: an agent's change of it does not reach the project. ask: it does once a person approves. */
export type TriggerClass = "ask" | "never";

/**
 * anywhere: at every depth below a root. top: at the top of a root, a registered workspace or a home folder. home: at
 * the top of the user's home folder.
 */
export type TriggerPosition = "anywhere" | "top" | "home";

export interface Trigger {
  /** Names from its position on; one `*` in a name matches any run of characters. Includes everything below. */
  readonly names: readonly string[];
  readonly place: TriggerPosition;
  readonly class: TriggerClass;
  /** What reads it, for messages. */
  readonly tool: string;
  /** No configuration moves it to another class. */
  readonly isFixed: boolean;
}

/** Names of one tool, written as `a/b/c`, for the two data files. */
export type TriggerRow = readonly [tool: string, place: TriggerPosition, paths: readonly string[]];

export function triggersOf(
  rows: readonly TriggerRow[],
  options: Pick<Trigger, "class" | "isFixed">,
): readonly Trigger[] {
  return rows.flatMap(([tool, place, paths]) =>
    paths.map((path) => ({ names: path.split("/"), place, tool, ...options })),
  );
}
