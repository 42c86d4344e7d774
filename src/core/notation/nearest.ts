// The name that was probably meant, by Jaro similarity. It sees no swapped letters in names as short as `web`, so two swapped
// neighbours count by themselves.

const similarityMin = 0.8;
const nameCharactersMax = 256;

/** The most similar of the names, the first among equals; null when none is similar enough. */
export function nearestName(text: string, names: readonly string[], least: number = similarityMin): string | null {
  let best: string | null = null;
  let bestSimilarity = least;
  for (const name of names) {
    const similarity = jaro(text, name);
    if (similarity > bestSimilarity || (best === null && similarity === bestSimilarity)) {
      best = name;
      bestSimilarity = similarity;
    }
  }
  return best ?? names.find((name) => isSwapped(text, name)) ?? null;
}

/** Whether the texts differ in two neighbouring letters that changed places, and in nothing else. */
function isSwapped(text: string, name: string): boolean {
  if (text.length !== name.length || text.length > nameCharactersMax) return false;
  let at = 0;
  while (at < text.length && text[at] === name[at]) at++;
  const isCrossed = at + 1 < text.length && text[at] === name[at + 1] && text[at + 1] === name[at];
  return isCrossed && text.slice(at + 2) === name.slice(at + 2);
}

function jaro(left: string, right: string): number {
  const [short, long] = left.length <= right.length ? [left, right] : [right, left];
  // Even if every letter of the shorter matched, the lengths alone would keep it below the threshold.
  if (short.length === 0 || short.length < long.length * 0.4 || long.length > nameCharactersMax) return 0;
  const reach = Math.max(0, Math.floor(long.length / 2) - 1);
  const taken = new Uint8Array(long.length);
  const matched: string[] = [];
  for (let at = 0; at < short.length; at++) {
    const last = Math.min(long.length - 1, at + reach);
    for (let there = Math.max(0, at - reach); there <= last; there++) {
      if (taken[there] === 1 || short[at] !== long[there]) continue;
      taken[there] = 1;
      matched.push(short[at] as string);
      break;
    }
  }
  if (matched.length === 0) return 0;
  let place = 0;
  let crossed = 0;
  for (let there = 0; there < long.length; there++) {
    if (taken[there] === 1 && long[there] !== matched[place++]) crossed++;
  }
  const count = matched.length;
  return (count / short.length + count / long.length + (count - crossed / 2) / count) / 3;
}
