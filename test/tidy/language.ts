// Words that are not used for programs and processes, in the text of sources (C too), tests and benchmarks: comments, titles, messages
// and names. A daemon, a client, a user or an approver has a name that says what it is.
import { examine, type Finding, type Report, type Source } from "./source.ts";

const BANNED = /\b(nobody|somebody|anybody|whoever|whomever)\b/i;
/** The operating system's user of that name, as its files spell it; only the sandbox's own files of users have it. */
const USER = /"nobody"|nobody:x:/g;
const USER_FILES = "src/sandbox/plan/start/";
/** The list of the words itself, and the tests of this check. */
const DEFINITION = ["test/tidy/language.ts", "test/tidy/planted.test.ts"];

export function checkLanguage(sources: readonly Source[]): Report {
  return examine(sources, ({ path }) => !DEFINITION.includes(path), findingsIn);
}

function findingsIn({ path, text }: Source): readonly Finding[] {
  return text.split("\n").flatMap((line, at) => {
    const word = BANNED.exec(path.startsWith(USER_FILES) ? line.replace(USER, "") : line)?.[1];
    return word === undefined ? [] : [{ path, line: at + 1, what: `says "${word}"` }];
  });
}
