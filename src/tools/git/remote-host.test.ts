// The hosts of remotes: every host has a neighbour, one character away, that is not one.
import { describe, expect, test } from "vitest";
import { addressesLine, remoteRefusal } from "./remote-host.ts";

const push = { command: "push", remote: "there" } as const;

describe("a remote", () => {
  test.each([
    "https://git.example.test/demo.git",
    "http://git.example.test/demo.git",
    "ssh://me@git.example.test/demo.git",
    "git://git.example.test/demo.git",
    "me@git.example.test:demo.git",
    "git.example.test:/demo.git",
    "me@[2001:db8::1]:demo.git",
  ])("%s is a host", (address) => {
    expect(remoteRefusal(push, `${address}\n`)).toBeNull();
    expect(remoteRefusal(push, `${address}\n./x\n`)).toMatchObject({ ok: false });
  });

  test.each([
    "there",
    "./x",
    "../x",
    "/x",
    "./a:b",
    "/a:b",
    "~/x",
    "file:///x",
    "file://localhost/x",
    "ext::sh -c id",
    "https::https://git.example.test/demo.git",
    "HTTPS://git.example.test/demo.git",
    "ftp://git.example.test/demo.git",
    "hg::https://git.example.test",
    "x.bundle",
    ":x",
    "",
  ])("%j is not", (address) => {
    expect(remoteRefusal(push, `${address}\n`)).toMatchObject({ ok: false, code: "bad_value" });
  });
});

test("only commands that leave the repository have addresses", () => {
  expect(addressesLine({ command: "push" })).toEqual(["git", "remote", "get-url", "--push", "--all", "origin"]);
  expect(addressesLine({ command: "fetch", remote: "there" })).toEqual(["git", "remote", "get-url", "--all", "there"]);
  expect(addressesLine({ command: "status" })).toBeNull();
});
