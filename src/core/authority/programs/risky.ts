// Options that make a program run another program, load code, or write somewhere it was not told to.
// Versioned data: `covers`, `within` and the witnesses all read this one table. It is an early and clear answer,
// not the boundary; the sandbox is.
import { ANY_TEXT } from "../patterns/reserved.ts";

export const RISKY_OPTIONS_VERSION = 3;

/** What of a program's options is risky, and as much of how the program reads options as it takes to find them. */
export interface Risk {
  /**
   * Whole words: `-exec`, `--upload-pack`. A long option also counts with `=value`, with one dash or two, with `_` for
   * `-`, in other capitals, and shortened as GNU programs allow. `-O*` counts with its value glued on; `@*` is a file
   * of further words.
   */
  readonly words: readonly string[];
  /** Single letters: `-I` alone, with its value glued on, or among other letters. `+` is a word that begins with it. */
  readonly letters: string;
  /** Harmless letters that take a value: what is glued on behind one of them is no bundle of letters. */
  readonly values: string;
  /** Any `NAME=value` is risky: a variable names the program that runs. */
  readonly isAssigning: boolean;
  /** The names of the long options, as `plainName` spells them. */
  readonly long: readonly string[];
}

const TABLE: Readonly<Record<string, string>> = {
  find: "-exec -execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf",
  fd: "--exec --exec-batch :xX",
  fdfind: "--exec --exec-batch :xX",
  git: "-c --exec-path --config-env --upload-pack --receive-pack --exec --ext-diff --textconv --open-files-in-pager --output --template --config --separate-git-dir --git-dir --work-tree --paginate --extcmd --tool --help --show-signature --verify-signatures --filters --sendmail-cmd --to-cmd --cc-cmd --smtp-server -C -O* -x",
  tar: "--to-command --checkpoint-action --use-compress-program --rsh-command --info-script --new-volume-script --rmt-command --transform --xform --absolute-names --remove-files --files-from :IFPT/bfCgHKLNVX",
  rg: "--pre --pre-glob --search-zip --hostname-bin :z",
  sort: "--compress-program --output --temporary-directory :oT",
  sed: "--in-place --file --expression :iIfe",
  awk: "--file --exec --include --load --source --profile --pretty-print --dump-variables --debug :fEileWpodD",
  gawk: "--file --exec --include --load --source --profile --pretty-print --dump-variables --debug :fEileWpodD",
  mawk: "--file :fW",
  xargs: "--arg-file :a",
  env: "--split-string --chdir :SC",
  ssh: "-o -F -E -J -L -R -D -W -w -S :oFEJLRDWwS",
  scp: "-o -F -S -J :oFSJ",
  sftp: "-o -F -S -b -J :oFSbJ",
  rsync: "--rsh --rsync-path --daemon --files-from --write-batch --log-file --remove-source-files :e",
  curl: "--config --output --output-dir --remote-name --remote-name-all --remote-header-name --dump-header --trace --trace-ascii --cookie-jar --netrc-file --upload-file --unix-socket --abstract-unix-socket --proxy --preproxy --engine --stderr --libcurl --etag-save --hsts --alt-svc --expand-* :KoOJDcTx",
  wget: "--execute --config --output-document --output-file --append-output --directory-prefix --input-file --use-askpass --post-file --body-file --save-cookies --warc-file --hsts-file :eOoaPi",
  zip: "--unzip-command :T",
  unzip: "-d* :d",
  "7z": "-o* -O* @*",
  man: "--pager --html --preprocessor :PH",
  less: "--lesskey-file --lesskey-src --log-file --LOG-FILE :oOk+",
  more: ":+",
  vi: ":cS+",
  vim: "--cmd :cSsuU+",
  nvim: "--cmd --listen :cSsulL+",
  emacs: "--eval --load --funcall --execute --script --batch :lf",
  make: "--file --makefile --directory --eval --include-dir = :fCIE/jloW",
  gmake: "--file --makefile --directory --eval --include-dir = :fCIE/jloW",
  cmake: "--build --install --workflow --toolchain :PECD",
  cargo: "--config --manifest-path :ZC+",
  rustc: "--out-dir @* :CZo",
  go: "-exec -toolexec -overlay -modfile",
  gcc: "-wrapper -B -specs -fplugin -o @* -Xlinker -Xassembler -Xpreprocessor -iplugindir :Bo",
  cc: "-wrapper -B -specs -fplugin -o @* -Xlinker -Xassembler -Xpreprocessor -iplugindir :Bo",
  clang:
    "-B -fplugin -Xclang -load -o @* -Xlinker -Xassembler -Xpreprocessor -iplugindir -fuse-ld --ld-path -ccc-gcc-name :Bo",
  npm: "--script-shell --prefix --userconfig --globalconfig --node-options --call --cache --init-module --editor --viewer --shell --git --scripts-prepend-node-path --workspace --workspaces :cwC",
  npx: "--call --package :cp",
  pnpm: "--dir --config --script-shell --shell-emulator --node-options :C",
  yarn: "--cwd --use-yarnrc --script-shell",
  node: "--eval --print --require --import --loader --experimental-loader --env-file --openssl-config --inspect --inspect-brk --env-file-if-exists --experimental-config-file --experimental-default-config-file --test-reporter --test-reporter-destination --test-global-setup --build-snapshot --run --inspect-wait --redirect-warnings --trace-event-file-pattern --cpu-prof --heap-prof --diagnostic-dir --report-dir --report-directory :epr",
  deno: "--config --import-map --allow-all --allow-run --allow-ffi --preload --import --require --eval :Ac",
  bun: "--eval --preload --config :er",
  python: ":cmW",
  python3: ":cmW",
  javac: "@* -processor -processorpath --processor-path -proc -d -J* -Xplugin*",
  java: "@* -jar -cp -classpath --class-path -agentlib* -agentpath* -javaagent* -XX* -D*",
  pytest: "@* --rootdir --confcutdir --basetemp --override-ini --pdbcls :pco",
  perl: ":eEMmIidDFxV",
  ruby: "--require --enable :erICSxi",
  php: ":rdzcBRFE",
  lua: ":el",
  bash: "--init-file --rcfile :cO",
  sh: ":c",
  dash: ":c",
  zsh: ":c",
  pip: "--target --prefix --root --index-url --extra-index-url --config-settings --editable --requirement --log :te",
  pip3: "--target --prefix --root --index-url --extra-index-url --config-settings --editable --requirement --log :te",
  docker: "--volume --mount --privileged --device --pid --host --config :vH",
  strace: "--output :oE",
  gdb: "--command --eval-command --init-command --ex :x",
  time: "--output :o",
  tcpdump: ":zw",
  nmap: "--script -o* --resume --datadir --servicedb --versiondb",
  dd: "of",
  split: "--filter",
  date: "--set --file :sf",
  jq: "--from-file --rawfile --slurpfile --library-path :fL",
  yq: "--inplace --from-file --split-exp :is",
  sqlite3: "-cmd -init",
  psql: "--command --file --output --log-file :cfoL",
  mysql: "--execute --tee --init-command :e",
  openssl: "-engine -provider -provider-path -out -config",
  gpg: "--output --exec-path --photo-viewer --homedir :o",
  nc: "--exec --sh-exec :ec",
  ncat: "--exec --sh-exec --lua-exec :ec",
  file: "--magic-file --compile --uncompress --uncompress-noreport :mCzZ",
  patch: "--output --directory :od",
  script: "--command :c",
  watch: "--exec",
  parallel: "--sshlogin --pipe-part :S",
  eslint: "--fix --config --resolve-plugins-relative-to --rulesdir --output-file --plugin :co",
  prettier: "--write --config --plugin",
  tsc: "--outDir --outdir --outFile --outfile --build --init --project @* :bp",
  jest: "--config --globalSetup --runner --testEnvironment :c",
};

/** Options of a program's sub-commands. They count in every command line that has the sub-command among its words. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  git: {
    clone: ":cu/bjo",
    fetch: ":u/jo",
    difftool: "--tool :xt/SU",
    mergetool: "--tool :t",
    rebase: "--edit-todo :x/sXCS",
    grep: ":O/efmABC",
    archive: ":o",
    "format-patch": "--output-directory :o",
    add: "--edit --patch --interactive :eip",
    bisect: "run",
    submodule: "foreach",
  },
};

/** The programs the table knows, for witnesses whose program is unknown. */
export const RISKY_PROGRAMS: readonly string[] = Object.keys(TABLE);

export function riskOf(program: string): Risk | null {
  const name = baseName(program);
  return Object.hasOwn(TABLE, name) ? riskIn(TABLE[name] as string) : null;
}

/** The sub-commands of a program that have risky options of their own. */
export function riskyCommands(program: string): readonly string[] {
  const name = baseName(program);
  return Object.hasOwn(COMMANDS, name) ? Object.keys(COMMANDS[name] as object) : [];
}

export function commandRisk(program: string, command: string): Risk | null {
  const name = baseName(program);
  const commands = Object.hasOwn(COMMANDS, name) ? (COMMANDS[name] as Readonly<Record<string, string>>) : {};
  return Object.hasOwn(commands, command) ? riskIn(commands[command] as string) : null;
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}

/** One row of a table: words, `:` and letters, `/` and the letters that take a value. `=` alone is an assignment. */
function riskIn(row: string): Risk {
  const colon = row.lastIndexOf(":");
  const [letters = "", values = ""] = colon < 0 ? [] : row.slice(colon + 1).split("/");
  const all = (colon < 0 ? row : row.slice(0, colon)).split(" ").filter((word) => word !== "");
  const words = all.filter((word) => word !== "=").flatMap(bothDashes);
  const long = words.filter((word) => /^--?[A-Za-z][A-Za-z-]+$/.test(word)).map(plainName);
  return { words, letters, values, isAssigning: all.includes("="), long: [...new Set(long)] };
}

/** Many programs take their long options with one dash or with two: both count. */
function bothDashes(word: string): readonly string[] {
  if (/^-[A-Za-z][A-Za-z-]+$/.test(word)) return [word, `-${word}`];
  return /^--[A-Za-z][A-Za-z-]+$/.test(word) ? [word, word.slice(1)] : [word];
}

/** `--experimental_loader`, `--experimentalLoader` and `-experimental-loader` are one option to some program each. */
function plainName(name: string): string {
  return name.replace(/[-_]/g, "").toLowerCase();
}

/** Programs for which a word behind `--` is never an option. */
const ENDING: ReadonlySet<string> = new Set(["git", "sort"]);

export function endsOptions(program: string): boolean {
  return ENDING.has(baseName(program));
}

/** Programs whose first word is a bundle of letters even without a dash: `tar xIf ./program a.tar`. */
const DASHLESS: ReadonlySet<string> = new Set(["tar"]);

export function takesDashlessOptions(program: string): boolean {
  return DASHLESS.has(baseName(program));
}

/** Fewer letters behind one dash are a bundle. */
const shortenedLettersMin = 3;

export function isRiskyOption(risk: Risk, token: string): boolean {
  // In a witness: unknown text behind one dash may begin with another dash, and then it is no bundle of letters.
  if (token.startsWith(`-${ANY_TEXT}`)) return isRiskyOption(risk, `-${token}`);
  const equals = token.indexOf("=");
  const name = equals < 0 ? token : token.slice(0, equals);
  for (const word of risk.words) {
    if (name === word || (word.endsWith("*") && token.startsWith(word.slice(0, -1)))) return true;
  }
  if (!token.startsWith("-")) {
    if (token.startsWith("+")) return risk.letters.includes("+");
    return risk.isAssigning && equals >= 0 && !token.startsWith(ANY_TEXT);
  }
  const plain = plainName(name);
  if (token.startsWith("--")) return plain !== "" && risk.long.some((option) => option.startsWith(plain));
  // `npm -script-sh=x`: some programs also take a long option shortened behind one dash.
  const isShortened = plain.length >= shortenedLettersMin && risk.long.some((option) => option.startsWith(plain));
  return isShortened || risk.long.includes(plain) || isRiskyBundle(risk, token.slice(1));
}

/** Reads letter by letter, as `getopt` does, up to the first that takes the rest for its value. */
export function isRiskyBundle({ letters, values }: Risk, bundle: string): boolean {
  for (const letter of bundle) {
    if (letter !== "+" && letters.includes(letter)) return true;
    // Unknown text in a witness may be, or end in, a letter that takes a value.
    if (values.includes(letter) || (letter === ANY_TEXT && values !== "")) return false;
  }
  return false;
}
