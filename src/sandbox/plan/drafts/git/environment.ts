// The environment of our own git in a sandbox: no configuration of the user, the system or the repository applies, and
// nothing it reads makes it run another program, fetch or follow a replaced object.
import type { Plan } from "../../plan.ts";
import type { ObjectFormat } from "./object-id.ts";

const SETTINGS: readonly (readonly [key: string, value: string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.splitIndex", "false"],
  ["core.sparseCheckout", "false"],
  ["core.pager", "cat"],
  ["core.editor", "false"],
  ["core.askPass", ""],
  ["core.alternateRefsCommand", "false"],
  ["core.attributesFile", "/dev/null"],
  ["core.excludesFile", "/dev/null"],
  ["core.commitGraph", "false"],
  ["core.multiPackIndex", "false"],
  ["core.fsync", "committed,reference,index"],
  // Large files are streamed, and packs are mapped in small windows, so that memory limits hold.
  ["core.bigFileThreshold", "16m"],
  ["core.packedGitWindowSize", "32m"],
  ["core.packedGitLimit", "256m"],
  ["pack.threads", "1"],
  ["pack.windowMemory", "128m"],
  ["index.threads", "1"],
  ["protocol.allow", "never"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["submodule.recurse", "false"],
  ["advice.detachedHead", "false"],
  ["uploadpack.packObjectsHook", ""],
  ["credential.helper", ""],
];

/** `own`: further variables of one plan, such as GIT_DIR and GIT_OBJECT_DIRECTORY. */
export function importEnvironment(own: Plan["environment"], lockMilliseconds = 0): Plan["environment"] {
  const settings = [
    ...SETTINGS,
    ["core.filesRefLockTimeout", String(lockMilliseconds)],
    ["core.packedRefsTimeout", String(lockMilliseconds)],
  ] as const;
  return [
    ["PATH", "/usr/local/bin:/usr/bin:/bin"],
    ["HOME", "/nonexistent"],
    ["LC_ALL", "C"],
    ["TZ", "UTC"],
    ["GIT_CONFIG_NOSYSTEM", "1"],
    ["GIT_CONFIG_GLOBAL", "/dev/null"],
    ["GIT_CONFIG_SYSTEM", "/dev/null"],
    ["GIT_ATTR_NOSYSTEM", "1"],
    ["GIT_NO_LAZY_FETCH", "1"],
    ["GIT_NO_REPLACE_OBJECTS", "1"],
    ["GIT_TERMINAL_PROMPT", "0"],
    ["GIT_ALLOW_PROTOCOL", ""],
    ["GIT_PAGER", "cat"],
    ["GIT_OPTIONAL_LOCKS", "0"],
    ["GIT_LITERAL_PATHSPECS", "1"],
    ["GIT_ALLOC_LIMIT", "1g"],
    ["GIT_COMMITTER_NAME", "ambit"],
    ["GIT_COMMITTER_EMAIL", "ambit@localhost"],
    ["GIT_CONFIG_COUNT", String(settings.length)],
    ...settings.flatMap(([key, setting], at): [string, string][] => [
      [`GIT_CONFIG_KEY_${at}`, key],
      [`GIT_CONFIG_VALUE_${at}`, setting],
    ]),
    ...own,
  ];
}

/** The `config` of our own git folders. */
export function importConfig(format: ObjectFormat, isBare: boolean, hasLogs: boolean): string {
  const version = format === "sha1" ? 0 : 1;
  const lines = ["[core]", `repositoryformatversion = ${version}`, `bare = ${isBare}`, `logAllRefUpdates = ${hasLogs}`];
  return `${[...lines, ...(format === "sha1" ? [] : ["[extensions]", `objectFormat = ${format}`])].join("\n")}\n`;
}
