// Time zones: the machine's data about them is a port, because it changes with the machine.

export interface Zone {
  readonly name: string;
  /** What its clocks are ahead of UTC at a moment, in milliseconds. */
  offsetAt(instant: number): number;
}

export interface Zones {
  /** The machine's own. */
  local(): string;
  /** Null for a name that is none. */
  named(name: string): Zone | null;
}
