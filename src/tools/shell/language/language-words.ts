// Words of the shell itself: they are not programs, so a script cannot run them here.

/** Reserved words of the grammar. Only if no part of them is quoted. */
const RESERVED: ReadonlySet<string> = new Set(
  "! { } [[ ]] if then elif else fi for in do done while until case esac function select coproc".split(" "),
);

/** Built-ins that change or query the shell itself: its folder, its variables, its jobs. There is no shell here. */
const BUILT_IN: ReadonlySet<string> = new Set(
  [
    ". : alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown enable eval",
    "exec exit export fc fg getopts hash history jobs let local logout mapfile popd pushd read readarray readonly return",
    "set shift shopt source suspend times trap type typeset ulimit umask unalias unset wait",
  ]
    .join(" ")
    .split(" "),
);

export function isReserved(word: string): boolean {
  return RESERVED.has(word);
}

export function isBuiltIn(word: string): boolean {
  return BUILT_IN.has(word);
}
