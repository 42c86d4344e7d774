// Differences between glob libraries and our path patterns. Each is recognized from pattern, input and the library's options
// alone, and excuses only the answer that our rule predicts.

export interface GlobInput {
  readonly pattern: string;
  readonly input: string;
  readonly options: readonly string[];
  readonly library: string;
}

export interface GlobDifference {
  readonly name: string;
  readonly holds: (given: GlobInput) => boolean;
}

const dots = /(^|\/)\.\.?(\/|$)/;

/** The first that matches names the case, so the narrowest comes first. */
export const globDifferences: readonly GlobDifference[] = [
  { name: "empty input", holds: ({ input }) => input === "" },
  { name: "dot segments", holds: ({ pattern, input }) => dots.test(input) || dots.test(pattern) },
  {
    name: "extended globs are ordinary characters",
    holds: ({ pattern }) => /[@+*?!]\(|\|/.test(pattern) || /\(.*\)/.test(pattern),
  },
  { name: "backslash is an ordinary character", holds: ({ pattern, input }) => /\\/.test(pattern + input) },
  { name: "quotes are ordinary characters", holds: ({ pattern }) => /["'`]/.test(pattern) },
  { name: "plain text, not a regular expression", holds: ({ pattern }) => /[$^+]/.test(pattern) },
  { name: "leading # is no comment", holds: ({ pattern }) => pattern.startsWith("#") },
  { name: "home folder", holds: ({ pattern, input }) => /^~(\/|$)/.test(pattern) || /^~(\/|$)/.test(input) },
  { name: "option of the library", holds: ({ options }) => options.some((each) => each !== "dot") },
  { name: "dotfiles are ordinary names", holds: ({ input }) => /(^|\/)\.[^./]|(^|\/)\.\.[^/]/.test(input) },
  {
    name: "absolute against relative",
    holds: ({ pattern, input }) => /(^|[{,])\//.test(pattern) !== input.startsWith("/"),
  },
  { name: "trailing slash", holds: ({ pattern, input }) => /\/(\}|,|$)/.test(pattern) || input.endsWith("/") },
  { name: "repeated slash", holds: ({ pattern, input }) => /\/\//.test(pattern) || /\/\//.test(input) },
  { name: "/a/** covers /a", holds: ({ pattern }) => /\/\*\*(\/\*\*)*$|\/\*\*[},]/.test(pattern) },
  {
    name: "** is any number of segments",
    holds: ({ pattern, library }) => /^go/.test(library) && /\*\*/.test(pattern),
  },
];
