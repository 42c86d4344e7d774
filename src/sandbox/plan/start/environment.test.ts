// The environment starts empty; no variable that loads, runs or redirects programs is ever passed.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HostEnvironment } from "../plan-facts.ts";
import { at, existingName, FACTS, NETWORK, PLAN } from "../testing/plan.ts";
import { environmentOf, isPassedOn } from "./environment.ts";

const HOST = FACTS.host;

function made(
  host: Partial<HostEnvironment> = {},
  plan: Parameters<typeof environmentOf>[0] = PLAN,
): Map<string, string> {
  const pairs = environmentOf(plan, { ...HOST, ...host });
  expect(new Set(pairs.map(([name]) => name)).size).toBe(pairs.length);
  return new Map(pairs);
}

test("all of it, without a network", () => {
  expect([...made()]).toEqual([
    ["PATH", "/home/u/.tools/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
    ["HOME", "/tmp/home"],
    ["TMPDIR", "/tmp"],
    ["USER", "u"],
    ["LOGNAME", "u"],
    ["SHELL", "/bin/sh"],
    ["LANG", "C.UTF-8"],
    ["TERM", "xterm-256color"],
    ["TZ", "Europe/Berlin"],
  ]);
});

describe("folders", () => {
  test("a tree that is a bin folder is searched itself; one with a colon would be two and is left out", () => {
    const path = made({}, { ...PLAN, runtime: [at("/opt/x/bin"), at("/opt/a:b")] }).get("PATH");
    expect(path).toBe("/opt/x/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  });

  test("of a toolchain with versions every bin folder, the newest first; nothing but folders", () => {
    const folders = ["node/v9.1.0/bin", "node/v20.2.0/bin", "node/v20.10.0/bin", "node/v20.10.0/lib"].map((path) =>
      existingName(`/opt/nvm/${path}`, "folder"),
    );
    const links = [existingName("/opt/nvm/node/v99/bin", "link")];
    const foreign = [existingName("/home/u/work/ws/bin", "folder")];
    const plan = { ...PLAN, runtime: [at("/opt/nvm"), at("/opt/asdf/shims")] };
    const pairs = environmentOf(plan, HOST, [...folders, ...links, ...foreign]);
    expect(pairs[0]?.[1].split(":").slice(0, 6)).toEqual([
      "/opt/nvm/bin",
      "/opt/nvm/node/v20.10.0/bin",
      "/opt/nvm/node/v20.2.0/bin",
      "/opt/nvm/node/v9.1.0/bin",
      "/opt/asdf/shims",
      "/usr/local/sbin",
    ]);
  });

  test("temporary ones are elsewhere if the root is in /tmp", () => {
    const variables = made({}, { ...PLAN, root: { path: at("/tmp/p"), mode: "draft" } });
    expect([variables.get("HOME"), variables.get("TMPDIR")]).toEqual(["/run/ambit/tmp/home", "/run/ambit/tmp"]);
  });
});

describe("variables of the host", () => {
  test.each([
    ["LANG", { language: "en_US.UTF-8" }, "en_US.UTF-8"],
    ["LANG", { language: "../../x" }, "C.UTF-8"],
    ["LANG", { language: null }, "C.UTF-8"],
    ["TERM", { terminal: "screen.xterm+256" }, "screen.xterm+256"],
    ["TERM", { terminal: "/tmp/evil" }, "dumb"],
    ["TZ", { timeZone: "America/Argentina/Ushuaia" }, "America/Argentina/Ushuaia"],
    ["TZ", { timeZone: "UTC" }, "UTC"],
    ["TZ", { timeZone: ":/etc/shadow" }, undefined],
    ["TZ", { timeZone: "/etc/shadow" }, undefined],
    ["TZ", { timeZone: "Europe/../../x" }, undefined],
    ["USER", { user: "a b" }, "user"],
  ])("%s of %j", (name, host, wanted) => expect(made(host).get(name)).toBe(wanted));
});

describe("variables named by a configuration", () => {
  test.each(["CI", "DEBUG", "NO_COLOR", "DATABASE_URL", "API_BASE", "FORCE_COLOR", "COLUMNS", "npmlike", "_x"])(
    "%s is passed on",
    (name) => expect(made({ allowed: [[name, "value"]] }).get(name)).toBe("value"),
  );

  test.each([
    ...["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "ld_preload", "DYLD_INSERT_LIBRARIES", "GLIBC_TUNABLES"],
    ...["NODE_OPTIONS", "NODE_PATH", "NPM_CONFIG_SCRIPT_SHELL", "npm_config_node_options", "PYTHONPATH"],
    ...["PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT", "PERL5LIB", "PERLLIB", "RUBYLIB", "RUBYOPT", "GEM_PATH"],
    ...["CLASSPATH", "_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS"],
    ...["GIT_SSH_COMMAND", "GIT_TEMPLATE_DIR", "GIT_CONFIG_COUNT", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS"],
    ...["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "IFS", "ZDOTDIR", "BASH_FUNC_ls"],
    ...["EDITOR", "VISUAL", "PAGER", "LESSOPEN", "MANPAGER", "RUSTC_WRAPPER", "CARGO_BUILD_RUSTC", "GOFLAGS"],
    ...["http_proxy", "HTTPS_PROXY", "ALL_PROXY", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "AMBIT_STATE"],
    ...["DOTNET_STARTUP_HOOKS", "COR_PROFILER", "PHP_INI_SCAN_DIR", "PHPRC", "LUA_INIT", "R_PROFILE", "GCONV_PATH"],
    ...["OPENSSL_CONF", "CURL_HOME", "KUBECONFIG", "LC_ALL", "LOCPATH", "SOMETHING_PRELOAD", "MY_TOOL_OPTS"],
  ])("%s is not, whatever the configuration says", (name) => {
    expect(made({ allowed: [[name, "value"]] }).get(name)).toBeUndefined();
  });

  test.each(["PATH", "HOME", "TMPDIR", "USER", "SHELL", "LANG", "TERM", "TZ"])("%s stays ours", (name) => {
    expect(made({ allowed: [[name, "/evil"]] }).get(name)).toBe(made().get(name));
  });

  test("nothing with an invalid name, and no value that is a function or contains a zero byte", () => {
    for (const name of ["", "A=B", "A B", "1A", "A\n", "A\0", "x()", "Ä"]) expect(isPassedOn(name, "v")).toBe(false);
    for (const value of ["() { :; }; x", "  () { x", "a\0b"]) expect(isPassedOn("FINE", value)).toBe(false);
    expect(isPassedOn("FINE", "plain () text\nwith lines")).toBe(true);
  });

  test("the first value for a name counts", () => {
    const allowed = [
      ["CI", "1"],
      ["CI", "2"],
    ] as const;
    expect(made({ allowed }).get("CI")).toBe("1");
  });

  test("whatever is named: no variable has a refused name", () => {
    const names = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constantFrom("LD_X", "A_PATH", "OK", "GIT_DIR", "X_OPTIONS"),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(names, fc.string())), (allowed) => {
        const own = new Set(made().keys());
        for (const [name, value] of environmentOf(PLAN, { ...HOST, allowed }))
          expect(own.has(name) || isPassedOn(name, value)).toBe(true);
      }),
    );
  });
});

describe("git", () => {
  test("asks only us for credentials if there is a network", () => {
    const variables = made({}, { ...PLAN, network: NETWORK });
    const settings = Array.from({ length: Number(variables.get("GIT_CONFIG_COUNT")) }, (_, place) => [
      variables.get(`GIT_CONFIG_KEY_${place}`),
      variables.get(`GIT_CONFIG_VALUE_${place}`),
    ]);
    expect(settings).toEqual([
      ["credential.helper", ""],
      ["credential.helper", "/run/ambit/ambit-native credential"],
    ]);
  });

  test("gets no settings without one", () => {
    expect([...made().keys()].filter((name) => name.startsWith("GIT_"))).toEqual([]);
  });
});
