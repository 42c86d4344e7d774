// A number with its noun, as a person says it.

export function countText(count: number, word: string, words: string): string {
  return `${count} ${count === 1 ? word : words}`;
}
