// Shows foreign text in a message: quoted, escaped, and never long.

const quotedCharactersMax = 80;

export function quoteText(text: string): string {
  return JSON.stringify(text.length > quotedCharactersMax ? `${text.slice(0, quotedCharactersMax)}...` : text);
}
