import { expect, test } from "vitest";
import { gitRequest } from "./git-request.ts";

test.each<[string, string, string]>([
  ["GET", "/git.example/a/b.git/info/refs?service=git-upload-pack", "a/b.git git-upload-pack true"],
  ["GET", "/git.example/a/b/info/refs?service=git-receive-pack", "a/b git-receive-pack true"],
  ["POST", "/git.example/a/b.git/git-upload-pack", "a/b.git git-upload-pack false"],
  ["POST", "/git.example/~ann/b.c+d/git-receive-pack", "~ann/b.c+d git-receive-pack false"],
  ["POST", "/git.example/a/My%20Project/_git/b/git-upload-pack", "a/My%20Project/_git/b git-upload-pack false"],
  ["POST", "/git.example/a/.github/git-receive-pack", "a/.github git-receive-pack false"],
])("%s %s is a request of git", (method, target, wanted) => {
  const found = gitRequest(method, target);
  expect(found?.host).toBe("git.example");
  expect(`${found?.repository} ${found?.service} ${found?.isListing}`).toBe(wanted);
  expect(found?.path).toBe(target.slice("/git.example".length));
});

test.each<[string, string]>([
  ["POST", "/git.example/a/b/info/refs?service=git-upload-pack"],
  ["GET", "/git.example/a/b/info/refs"],
  ["GET", "/git.example/a/b/info/refs?service=git-upload-archive"],
  ["GET", "/git.example/a/b/info/refs?service=git-upload-pack&x=y"],
  ["GET", "/git.example/a/b/info/refs?service=git-upload-pack?"],
  ["GET", "/git.example/info/refs?service=git-upload-pack"],
  ["GET", "/git.example/a/b/git-upload-pack"],
  ["POST", "/git.example/a/b/git-upload-pack?x"],
  ["POST", "/git.example/git-upload-pack"],
  ["DELETE", "/git.example/a/b/git-upload-pack"],
  ["POST", "/git.example/a/b/info/lfs/objects/batch"],
  ["GET", "/git.example/api/v4/user"],
  ["POST", "/git.example/a/../b/git-upload-pack"],
  ["POST", "/git.example/a/./b/git-upload-pack"],
  ["POST", "/git.example/a//b/git-upload-pack"],
  ["POST", "/git.example/a/%2e%2e/b/git-upload-pack"],
  ["POST", "/git.example/a/b;c/git-upload-pack"],
  ["POST", "/git.example:444/a/git-upload-pack"],
  ["POST", "/me@git.example/a/git-upload-pack"],
  ["POST", "/GIT.example/a/git-upload-pack"],
  ["POST", "http://git.example/a/git-upload-pack"],
  ["POST", `/git.example/${"a".repeat(2_048)}/git-upload-pack`],
])("%s %s is not", (method, target) => {
  expect(gitRequest(method, target)).toBeNull();
});
