// The environment of a sandbox, from empty: our own variables, and configured ones that cannot run a program.

import type { Plan } from "../plan.ts";
import type { ExistingName, HostEnvironment } from "../plan-facts.ts";
import { homeFolder, temporaryFolder } from "../plan-path.ts";
import { gitSettings } from "./git-settings.ts";
import { searchPath } from "./search-path.ts";

export type Variables = Plan["environment"];

export function environmentOf(
  plan: Pick<Plan, "root" | "runtime" | "network">,
  host: HostEnvironment,
  found: readonly ExistingName[] = [],
): Variables {
  const user = /^[a-z_][a-z0-9_.-]{0,31}$/i.test(host.user) ? host.user : "user";
  const own: Variables = [
    ["PATH", searchPath(plan.runtime, found)],
    ["HOME", `/${homeFolder(plan).join("/")}`],
    ["TMPDIR", `/${temporaryFolder(plan).join("/")}`],
    ["USER", user],
    ["LOGNAME", user],
    ["SHELL", "/bin/sh"],
    ...plainWord("LANG", host.language, LANGUAGE, "C.UTF-8"),
    ...plainWord("TERM", host.terminal, TERMINAL, "dumb"),
    ...plainWord("TZ", host.timeZone, TIME_ZONE, null),
    ...(plan.network === null ? [] : gitSettings()),
  ];
  const taken = new Set(own.map(([name]) => name));
  const allowed = host.allowed.filter(
    ([name, value], at) =>
      !taken.has(name) && isPassedOn(name, value) && host.allowed.findIndex(([other]) => other === name) === at,
  );
  return [...own, ...allowed];
}

const LANGUAGE = /^(C|POSIX|[a-z]{2,3}(_[A-Z]{2})?)(\.(UTF-8|utf8))?$/;
const TERMINAL = /^[a-z0-9][a-z0-9+._-]{0,63}$/i;
/** A time zone name; a path or a leading colon would be a file to read. */
const TIME_ZONE = /^[A-Z][A-Za-z0-9_+-]{0,31}(\/[A-Za-z0-9_+-]{1,32}){0,2}$/;

function plainWord(name: string, value: string | null, pattern: RegExp, otherwise: string | null): Variables {
  const word = value !== null && pattern.test(value) ? value : otherwise;
  return word === null ? [] : [[name, word]];
}

const valueCharactersMax = 32_768;

/** Whether a configured variable may be passed on: it can load, run or redirect nothing. */
export function isPassedOn(name: string, value: string): boolean {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name) || value.includes("\0") || value.length > valueCharactersMax)
    return false;
  // Old shells imported functions, and with them programs, from the environment.
  if (value.trimStart().startsWith("() {")) return false;
  const upper = name.toUpperCase();
  return !REFUSED.has(upper) && !REFUSED_STARTS.some((start) => upper.startsWith(start)) && !REFUSED_ENDS.test(upper);
}

/** Prefixes: families of which some member loads code, names a program or a settings file. */
const REFUSED_STARTS: readonly string[] = [
  ...["LD_", "DYLD_", "GLIBC_", "GCONV_", "MALLOC_", "LIBPATH", "AMBIT_", "BWRAP_"],
  ...["BASH", "ZSH", "FISH", "KSH", "PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT", "SHELL"],
  ...["NODE_", "NPM_", "YARN_", "PNPM_", "BUN_", "DENO_", "TS_NODE", "ELECTRON_"],
  ...["PYTHON", "PIP_", "UV_", "CONDA_", "VIRTUAL_ENV", "PERL", "RUBY", "GEM_", "BUNDLE_", "IRB", "RAKE"],
  ...["JAVA_", "_JAVA", "JDK_", "JRE_", "JVM_", "CLASSPATH", "MAVEN_", "MVN_", "GRADLE_", "ANT_", "SBT_", "KOTLIN_"],
  ...["GIT_", "SSH_", "GPG_", "GNUPG", "SUDO_", "HG", "SVN_", "CVS_", "RSYNC_"],
  ...["DOTNET_", "COMPLUS_", "CORECLR_", "COR_", "MONO_", "POWERSHELL_", "PSMODULE"],
  ...["RUST", "CARGO_", "GO111", "GOFLAGS", "GOTOOL", "GOROOT", "GOPATH", "GOENV", "CGO_", "CC", "CXX", "CPP"],
  ...["LUA", "PHP", "TCL", "GUILE_", "ERL_", "ELIXIR_", "JULIA_", "R_", "OCAML", "CAML", "GHC", "OPAM", "SWIFT_"],
  ...["GTK_", "QT_", "GIO_", "GST_", "XDG_", "DBUS_", "GDK_", "DISPLAY", "WAYLAND_", "XAUTH"],
  ...["OPENSSL_", "SSL_", "CURL_", "WGET", "DOCKER_", "KUBE", "VIM", "NVIM", "EMACS", "LESS", "MAKE", "CMAKE_", "PKG_"],
  ...["RES_", "RESOLV", "LOCALDOMAIN", "HOSTALIASES", "TERMINFO", "TERMCAP", "TZDIR", "LOCPATH", "NLSPATH", "LC_"],
];
const REFUSED: ReadonlySet<string> = new Set([
  ...["ENV", "IFS", "CDPATH", "FPATH", "GLOBIGNORE", "POSIXLY_CORRECT", "ZDOTDIR", "INPUTRC", "MAIL", "MAILPATH"],
  ...["EDITOR", "VISUAL", "PAGER", "BROWSER", "AR", "LD", "AS", "NM", "HISTFILE", "EXINIT", "GVIMINIT", "CI_JOB_TOKEN"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY", "RSH", "PWD", "OLDPWD", "HOSTNAME"],
]);
/** Suffixes: such a variable holds a search path or arguments for a program. */
const REFUSED_ENDS =
  /(PATH|LIBS?|_?OPTS?|_?OPTIONS|FLAGS|_?ARGS|COMMAND|_CMD|PRELOAD|STARTUP|_ENV|RC|_INIT|_?HOOKS?|WRAPPER|ASKPASS|EDITOR|PAGER|BROWSER|_SHELL|_DIRS?|_HOME|_CONFIG|_CONF|PROXY|_SOCK|_EXEC|_PROGRAM|_PLUGINS?|_MODULES?|_AGENT|DEBUGGER|INCLUDE)$/;
