import fc from "fast-check";
import { expect, test } from "vitest";
import { credentialText, readCredentialRequest } from "./credential-request.ts";

test.each([
  ["protocol=https\nhost=git.test\n\n", "https git.test null"],
  ["protocol=https\nhost=GIT.test:443\npath=a/b.git\n\n", "https git.test a/b.git"],
  ["capability[]=authtype\nprotocol=https\nhost=git.test\nwwwauth[]=Basic realm=x\n\n", "https git.test null"],
  ["protocol=https\nhost=git.test:8443\n\n", null],
  ["protocol=http\nhost=git.test\n\n", null],
  ["host=git.test\n\n", null],
  ["protocol=https\n\n", null],
  ["protocol=https\nhost=git.test\nhost=evil.test\n\n", null],
  ["protocol=https\nhost=git.test\n", null],
  ["protocol=https\nhost=git\0.test\n\n", null],
  ["protocol=https\nhost=git.test\r\n\n", null],
  ["protocol=https\nhost=user@git.test\n\n", null],
  ["protocol=https\nhost\n\n", null],
  ["\n\n", null],
])("%j", (text, wanted) => {
  const request = readCredentialRequest(text);
  expect(request === null ? null : `${request.protocol} ${request.host} ${request.path}`).toBe(wanted);
});

test.each([
  ["plain", { username: "a", password: "b" }, "username=a\npassword=b\n"],
  ["one more line", { username: "a", password: "b\nhost=evil.test" }, ""],
  ["nothing", { username: "", password: "b" }, ""],
])("the answer: %s", (_, credential, wanted) => {
  expect(credentialText(credential)).toBe(wanted);
});

test("no text makes it throw, and a parsed host is a plain one", () => {
  const line = fc.constantFrom("protocol=https", "host=git.test", "host=x y", "path=/", "", "=", "\0");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(line).map((lines) => `${lines.join("\n")}\n\n`),
      ),
      (text) => {
        const request = readCredentialRequest(text);
        if (request !== null) expect(request.host).toMatch(/^[a-z0-9._-]+$/);
      },
    ),
  );
});
