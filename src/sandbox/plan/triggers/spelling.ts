// Spellings of one file name. File systems fold case, normalize Unicode, drop ignorable code points and offer short
// names; names that any of them could treat as equal have one key here. More names are equal here than on any one disk.

/** The code points that HFS+ drops from names (git has the same list), and all that Unicode calls ignorable. */
const IGNORABLE = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]|\p{Default_Ignorable_Code_Point}/gu;
const PRINTABLE_ASCII = /^[ -~]*$/;

/** The key that all spellings of a name share. Short names have keys of their own: see `isShortName`. */
export function nameKey(name: string): string {
  const folded = PRINTABLE_ASCII.test(name) ? name.toLowerCase() : foldUnicode(name);
  return withoutTail(folded);
}

export function pathKey(path: readonly string[]): string {
  return path.map(nameKey).join("/");
}

/**
 * Lower after upper case folds what either of them alone leaves distinct: long s, Kelvin sign, sharp s, final sigma.
 */
function foldUnicode(name: string): string {
  const plain = name.replace(IGNORABLE, "").normalize("NFKD").replace(IGNORABLE, "");
  return plain.toLowerCase().toUpperCase().toLowerCase().normalize("NFKD");
}

/** NTFS drops trailing dots and spaces, and treats what follows a colon as a stream of the same file. */
function withoutTail(folded: string): string {
  const colon = folded.indexOf(":");
  const name = colon > 0 ? folded.slice(0, colon) : folded;
  const end = name.replace(/[. ]+$/, "");
  return end === "" ? name : end;
}

const SHORT_NAME = /^([^~.]{1,6})~([1-9][0-9]{0,5})(?:\.([^.~]{1,3}))?$/;
/** Of the forms that end in a hash: two characters of the name and four digits. */
const HASHED = /^(.{1,2})[0-9a-f]{4}$/;

/**
 * Whether a key is the short form (8.3) that NTFS and FAT give a long name: `git~1` for `.git`, `gitmod~1` and `gi7eba~1` for
 * `.gitmodules`. The number depends on what else is in the folder, so every number counts.
 */
export function isShortName(key: string, longKey: string): boolean {
  if (!key.includes("~")) return false;
  const [, stem = "", number = "", extension = ""] = SHORT_NAME.exec(key) ?? [];
  if (stem === "") return false;
  const plain = longKey.replace(/^\.+/, "").replace(/ /g, "");
  const dot = plain.lastIndexOf(".");
  const [base, ending] = dot > 0 ? [plain.slice(0, dot), plain.slice(dot + 1)] : [plain, ""];
  if (ending.slice(0, 3) !== extension) return false;
  const letters = base.replace(/\./g, "").replace(/[+,;=[\]]/g, "_");
  // A longer number leaves fewer characters of the name.
  const count = Math.min(6, 7 - number.length);
  if (stem === letters.slice(0, count)) return true;
  const [, start = null] = HASHED.exec(stem) ?? [];
  return start !== null && letters.length >= 3 && letters.startsWith(start);
}

/** Whether a name is one that git reads as `.git` on any file system. */
export function isGitName(name: string): boolean {
  // Fast path: most names cannot match.
  if (PRINTABLE_ASCII.test(name) && !name.includes("~") && !/^\.git/i.test(name)) return false;
  const key = nameKey(name);
  return key === ".git" || isShortName(key, ".git");
}

/** Whether a name is that of the folder with authority files. */
export function isAuthorityName(name: string): boolean {
  if (PRINTABLE_ASCII.test(name) && !name.includes("~") && !/^\.ambit/i.test(name)) return false;
  const key = nameKey(name);
  return key === ".ambit" || isShortName(key, ".ambit");
}
