// Words that are not used for programs and processes, in the text of product sources: comments, messages and names. A daemon, a
// client, a user or an approver has a name that says what it is.
import { examine, type Finding, isInSrc, isTest, type Report, type Source } from "./source.ts";

const BANNED = /\b(nobody|somebody|whoever|whomever)\b/i;
/** The user of the operating system, as its files spell it. */
const USER = /"nobody"|nobody:x:/g;
/** Rooms whose text still has to be rewritten; the list only gets shorter. */
const UNFINISHED = ["src/daemon/tools/", "src/daemon/contexts/", "src/runtime/context/", "src/tools/"];

export function checkLanguage(sources: readonly Source[]): Report {
  return examine(
    sources,
    (source) => isInSrc(source) && !isTest(source) && !UNFINISHED.some((room) => source.path.startsWith(room)),
    findingsIn,
  );
}

function findingsIn({ path, text }: Source): readonly Finding[] {
  return text.split("\n").flatMap((line, at) => {
    const word = BANNED.exec(line.replace(USER, ""))?.[1];
    return word === undefined ? [] : [{ path, line: at + 1, what: `says "${word}"` }];
  });
}
