// The skips that CI allows, each with its reason. Every other skipped test fails the run there, and so does an entry whose reason
// does not hold or whose tests all ran: the list cannot become outdated unnoticed.
import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { groupFolders } from "../../src/sandbox/linux/group-folders.ts";

/** A test that was skipped, as the test runner reports it. */
export interface Skip {
  readonly file: string;
  readonly title: string;
}

export interface AllowedSkip {
  readonly file: string;
  /** Matches the full title, with the names of its `describe` blocks. */
  readonly title: RegExp;
  readonly reason: string;
  /** Whether the reason is true on this machine, for this user. If not, the tests must run. */
  readonly holds: () => boolean;
}

const isRoot = (): boolean => process.getuid?.() === 0;
const isUser = (): boolean => !isRoot();
const lacks = (program: string) => (): boolean =>
  !(process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

const rootWritesAnywhere = "root may write in every folder; the part of CI that runs as an ordinary user tries this";
const onlyRootMounts = "only root mounts file systems and changes owners; the part of CI that runs as root tries this";

/** Setup installs these on CI if it can; a machine without a package manager or rights does without them. */
const notInstalled = (file: string, program: string, title: RegExp): AllowedSkip => ({
  file,
  title,
  reason: `${program} is not installed, and setup could not install it`,
  holds: lacks(program),
});

export const allowedSkips: readonly AllowedSkip[] = [
  ...["zsh", "fish", "tmux", "vim", "emacs", "gdb", "direnv", "cargo"].map((program) =>
    notInstalled("test/triggers/tools.test.ts", program, new RegExp(`^${program}\\b`)),
  ),
  notInstalled("test/triggers/tools.test.ts", "nvim", /^neovim$/),
  {
    file: "test/e2e/run-packages.test.ts",
    title: /^go test/,
    reason: "go is not installed, and setup does not fetch its 300 megabytes for one test",
    holds: lacks("go"),
  },
  ...["zsh", "fish"].map((program) =>
    notInstalled("test/e2e/shells.test.ts", program, new RegExp(`^Tab in ${program}`)),
  ),
  ...["dbus-daemon", "dbus-send", "gnome-keyring-daemon", "secret-tool"].flatMap((program) => [
    notInstalled("test/secrets/keychain-real.test.ts", program, /^a real keychain/),
    notInstalled("test/secrets/keys-daemon.test.ts", program, /^a real keychain/),
  ]),
  {
    file: "test/native/musl.test.ts",
    title: /^the native program builds with musl/,
    reason:
      "musl-gcc (Debian: musl-tools) is not installed, and setup does not install a second C library for one test",
    holds: lacks("musl-gcc"),
  },
  notInstalled("test/secrets/keys.test.ts", "age", /can be decrypted by the program age/),
  {
    file: "src/platform/real-path.test.ts",
    title: /a link of another user ends it/,
    reason: onlyRootMounts,
    holds: isUser,
  },
  {
    file: "test/sandbox/drafts.test.ts",
    title: /the state folder is not writable$/,
    reason: rootWritesAnywhere,
    holds: isRoot,
  },
  {
    file: "src/agents/disk/record-files.test.ts",
    title: /a closed folder is one problem/,
    reason: "root reads every folder; the part of CI that runs as an ordinary user tries this",
    holds: isRoot,
  },
  {
    file: "src/sandbox/linux/group-folders.test.ts",
    title: /not where we may not write$/,
    reason: rootWritesAnywhere,
    holds: isRoot,
  },
  {
    file: "test/draft/bad-input.test.ts",
    title: /^a root that folds case \(not run: this kernel mounts no tmpfs with casefold/,
    reason: "file systems that fold case need a kernel that mounts one for a test; the title has the kernel's answer",
    holds: isRoot,
  },
  {
    file: "test/sandbox/drafts.test.ts",
    title: /group that is not mapped|a mount is inside the root|the state folder is on an overlay/,
    reason: onlyRootMounts,
    holds: isUser,
  },
  {
    file: "test/draft/bad-input.test.ts",
    title:
      /a full disk|mounted read-only|another disk|a mount below the root|a disk of its own|only root mounts file systems/,
    reason: onlyRootMounts,
    holds: isUser,
  },
  { file: "test/draft/growth.test.ts", title: /^a full disk/, reason: onlyRootMounts, holds: isUser },
  { file: "test/sandbox/folders.test.ts", title: /below \/usr\/local/, reason: onlyRootMounts, holds: isUser },
  {
    file: "test/sandbox/other-user.test.ts",
    title: /^an unprivileged caller/,
    reason: onlyRootMounts,
    holds: isUser,
  },
  {
    file: "test/files/atomic.test.ts",
    title: /keeps the owner|on a full disk|as an unprivileged user/,
    reason: onlyRootMounts,
    holds: isUser,
  },
  ...(["memory", "processes"] as const).map((limit) => ({
    file: "test/sandbox/groups.test.ts",
    title: new RegExp(`limits ${limit}:`),
    reason: `the system lets this user make no control group that limits ${limit}`,
    holds: () => !groupFolders().some(({ holds }) => holds.includes(limit)),
  })),
  {
    file: "test/broker/sandbox.test.ts",
    title: /^HTTP clients|TLS client hello|second one on a connection|on port 443$/,
    reason: "this user may not bind ports 80 and 443; the part of CI that runs as root tries this",
    holds: () => isUser() && Number(readFileSync("/proc/sys/net/ipv4/ip_unprivileged_port_start", "utf8")) > 80,
  },
  { file: "test/daemon/peers.test.ts", title: /^another user gets no answer/, reason: onlyRootMounts, holds: isUser },
];

/** What is wrong with the skips of a run: unlisted ones, and entries that no skip of a file that ran needs. */
export function skipProblems(
  skips: readonly Skip[],
  filesRun: readonly string[],
  allowed: readonly AllowedSkip[],
): readonly string[] {
  const allows = (entry: AllowedSkip, skip: Skip): boolean =>
    entry.file === skip.file && entry.title.test(skip.title) && entry.holds();
  const unlisted = skips
    .filter((skip) => !allowed.some((entry) => allows(entry, skip)))
    .map(({ file, title }) => `${file}: "${title}" was skipped, and test/house/skips.ts gives no reason for it`);
  const stale = allowed
    .filter((entry) => filesRun.includes(entry.file) && entry.holds() && !skips.some((skip) => allows(entry, skip)))
    .map(({ file, title }) => `${file}: no test ${title} was skipped; remove the entry from test/house/skips.ts`);
  return [...unlisted, ...stale];
}
