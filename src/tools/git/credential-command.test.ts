// Which commands are a git that may receive a credential: each accepted row has a refused neighbour.
import { describe, expect, test } from "vitest";
import { takesCredential } from "./credential-command.ts";

const AT = "https://git.example.test/demo.git";

describe("a credential goes to", () => {
  test.each<[readonly string[]]>([
    [["git", "push"]],
    [["/usr/bin/git", "fetch", "origin"]],
    [["git", "clone", "--quiet", "--depth=1", AT]],
    [["git", "-C", "demo", "-c", "http.sslCAInfo=authority.pem", "push", "-u", "origin", "main"]],
    [["git", "-c", "HTTP.https://git.example.test/.sslCAInfo=a.pem", "ls-remote", AT]],
    [["git", "--no-pager", "--git-dir=x", "--work-tree", "y", "pull", "--ff-only"]],
    [["git", "remote", "update"]],
  ])("%j", (argv) => expect(takesCredential(argv)).toBe(true));
});

describe("no credential goes to", () => {
  test.each<[string, readonly string[]]>([
    ["another program", ["python3", "git", "push"]],
    ["a shell that runs git", ["sh", "-c", "git push"]],
    ["a program of that name elsewhere", ["./git", "push"]],
    ["a relative program of that name", ["/work/p/bin/git", "push"]],
    ["a name that only begins like it", ["git-push"]],
    ["a wrapper", ["env", "git", "push"]],
    ["nothing", []],
    ["no command", ["git"]],
    ["no command after options", ["git", "-C", "push"]],
    ["the command that prints it", ["git", "credential", "fill"]],
    ["the helper itself", ["/run/ambit/ambit-native", "credential", "get"]],
    ["a possible alias", ["git", "p"]],
    ["a shell by its settings", ["git", "-c", "alias.p=!sh", "p"]],
    ["hooks that the caller names", ["git", "-c", "core.hooksPath=h", "push"]],
    ["the same, in other letter case", ["git", "-c", "CORE.HOOKSPATH=h", "push"]],
    ["the same, in one word", ["git", "-ccore.hooksPath=h", "push"]],
    ["another helper", ["git", "-c", "credential.helper=!x", "push"]],
    ["programs of another folder", ["git", "--exec-path=x", "push"]],
    ["settings of a variable", ["git", "--config-env=core.hooksPath=H", "push"]],
    ["an unknown option", ["git", "--made-up", "push"]],
    ["submodules", ["git", "submodule", "update"]],
    ["a clone with settings", ["git", "clone", "-c", "core.hooksPath=h", AT]],
    ["a clone with settings among short options", ["git", "clone", "-qccore.hooksPath=h", AT]],
    ["a clone with an abbreviated long option", ["git", "clone", "--conf=core.hooksPath=h", AT]],
    ["a clone with hooks of a template", ["git", "clone", "--template=t", AT]],
    ["another program at the remote end", ["git", "fetch", "--upload-pack=./x", "."]],
    ["the same, abbreviated", ["git", "fetch", "--upload-p", "./x", "."]],
    ["the same of a clone", ["git", "clone", "-u./x", "."]],
    ["the same of a push", ["git", "push", "--exec=./x", "."]],
  ])("%s", (_title, argv) => expect(takesCredential(argv)).toBe(false));
});
