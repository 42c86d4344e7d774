// Options that make a program run another program, load code, or write somewhere it was not told to.
// Versioned data: `covers`, `within` and the witnesses all read this one table. It is an early and clear answer,
// not the boundary; the sandbox is.
import { ANY_TEXT } from "./reserved.ts";

export const RISKY_OPTIONS_VERSION = 2;

/** What of a program's options is risky. */
export interface Risk {
  /**
   * Whole words: `-exec`, `--upload-pack`. A long option also counts with `=value` and shortened as GNU programs
   * allow; `-O*` counts with its value glued on.
   */
  readonly words: readonly string[];
  /** Single letters: `-I` alone, with its value glued on, or among other letters. */
  readonly letters: string;
}

const TABLE: Readonly<Record<string, string>> = {
  find: "-exec -execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf",
  fd: "--exec --exec-batch :xX",
  fdfind: "--exec --exec-batch :xX",
  git: "-c --exec-path --config-env --upload-pack --receive-pack --exec --ext-diff --textconv --open-files-in-pager --output --template --config --separate-git-dir --git-dir --work-tree --paginate --extcmd --tool --help --show-signature --verify-signatures --filters -C -O* -x",
  tar: "--to-command --checkpoint-action --use-compress-program --rsh-command --info-script --new-volume-script --rmt-command --transform --xform --absolute-names --remove-files :IFP",
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
  curl: "--config --output --output-dir --remote-name --remote-name-all --remote-header-name --dump-header --trace --trace-ascii --cookie-jar --netrc-file --upload-file --unix-socket --abstract-unix-socket --proxy --preproxy --engine --stderr --libcurl --etag-save --hsts --alt-svc :KoOJDcTx",
  wget: "--execute --config --output-document --output-file --append-output --directory-prefix --input-file --use-askpass --post-file --body-file --save-cookies --warc-file --hsts-file :eOoaPi",
  zip: "--unzip-command :T",
  unzip: "-d*",
  "7z": "-o*",
  man: "--pager --html --preprocessor :PH",
  less: "--lesskey-file --lesskey-src --log-file --LOG-FILE :oOk+",
  more: ":+",
  vi: ":cS+",
  vim: "--cmd :cSsuU+",
  nvim: "--cmd --listen :cSsulL+",
  emacs: "--eval --load --funcall --execute --script --batch :lf",
  make: "--file --makefile --directory --eval --include-dir :fCIE",
  gmake: "--file --makefile --directory --eval --include-dir :fCIE",
  cmake: ":PE",
  cargo: "--config --manifest-path :ZC",
  rustc: ":CZ",
  go: "-exec -toolexec -overlay -modfile",
  gcc: "-wrapper -B -specs -fplugin -o :Bo",
  cc: "-wrapper -B -specs -fplugin -o :Bo",
  clang: "-B -fplugin -Xclang -load -o :Bo",
  npm: "--script-shell --prefix --userconfig --globalconfig --node-options --call --cache :c",
  npx: "--call --package :cp",
  pnpm: "--dir --config :C",
  yarn: "--cwd --use-yarnrc",
  node: "--eval --print --require --import --loader --experimental-loader --env-file --openssl-config --inspect --inspect-brk :epr",
  deno: "--config --import-map --allow-all --allow-run --allow-ffi :A",
  bun: "--eval --preload --config :er",
  python: ":cmW",
  python3: ":cmW",
  perl: ":eEMmIi",
  ruby: ":erI",
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
  nmap: "--script",
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
  file: "--magic-file --compile :mC",
  patch: "--output --directory :od",
  script: "--command :c",
  watch: "--exec",
  parallel: "--sshlogin --pipe-part :S",
  eslint: "--fix --config --resolve-plugins-relative-to --rulesdir --output-file --plugin :co",
  prettier: "--write --config --plugin",
  tsc: "--outDir --outdir --outFile --outfile --build --init --project :bp",
  jest: "--config --globalSetup --runner --testEnvironment :c",
};

/** The programs the table knows, for witnesses whose program is unknown. */
export const RISKY_PROGRAMS: readonly string[] = Object.keys(TABLE);

export function riskOf(program: string): Risk | null {
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (!Object.hasOwn(TABLE, name)) return null;
  const entry = TABLE[name] as string;
  const colon = entry.lastIndexOf(":");
  const words = (colon < 0 ? entry : entry.slice(0, colon)).split(" ").filter((word) => word !== "");
  const letters = colon < 0 ? "" : entry.slice(colon + 1);
  return { words: words.flatMap(bothDashes), letters };
}

/** Many programs take their long options with one dash or with two: both count. */
function bothDashes(word: string): readonly string[] {
  if (/^-[A-Za-z][A-Za-z-]+$/.test(word)) return [word, `-${word}`];
  return /^--[A-Za-z][A-Za-z-]+$/.test(word) ? [word, word.slice(1)] : [word];
}

/** Programs for which a word behind `--` is never an option. */
const ENDING: ReadonlySet<string> = new Set(["git", "sort"]);

export function endsOptions(program: string): boolean {
  return ENDING.has(program.slice(program.lastIndexOf("/") + 1));
}

export function isRiskyOption(risk: Risk, token: string): boolean {
  // In a witness: unknown text behind one dash may begin with another dash, and then it is no bundle of letters.
  if (token.startsWith(`-${ANY_TEXT}`)) return isRiskyOption(risk, `-${token}`);
  const equals = token.indexOf("=");
  const name = equals < 0 ? token : token.slice(0, equals);
  for (const word of risk.words) {
    if (name === word || (word.endsWith("*") && token.startsWith(word.slice(0, -1)))) return true;
    if (word.startsWith("--") && name.length > 2 && word.startsWith(name)) return true;
  }
  if (risk.letters.includes("+") && token.startsWith("+")) return true;
  if (!token.startsWith("-") || token.startsWith("--")) return false;
  for (const letter of risk.letters) if (letter !== "+" && token.indexOf(letter, 1) > 0) return true;
  return false;
}
