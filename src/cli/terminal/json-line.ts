// A value as one line of JSON for a terminal or a pipe. INVARIANT: no control, format or line character stands in it as itself,
// C1 and bidirectional ones included: escaped, the value is the same.

export function jsonLine(value: object): string {
  // Not escaped, it would speak to the terminal it is shown on.
  return JSON.stringify(value).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${hexadecimal(character.charCodeAt(at))}`).join(""),
  );
}

function hexadecimal(unit: number): string {
  return unit.toString(16).padStart(4, "0");
}
