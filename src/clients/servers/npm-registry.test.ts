import { expect, test } from "vitest";
import { npmRegistry, type RegistrySources } from "./npm-registry.ts";

const NONE: RegistrySources = { option: null, environment: {}, settings: null };

test.each<[string, Partial<RegistrySources>, string]>([
  ["nothing is written", {}, "https://registry.npmjs.org/"],
  ["an option", { option: "https://a.test/npm", settings: "registry=https://b.test" }, "https://a.test/npm/"],
  [
    "a variable",
    { environment: { npm_config_registry: "https://c.test/" }, settings: "registry=https://b.test" },
    "https://c.test/",
  ],
  ["a line of .npmrc", { settings: "; mine\nregistry = https://b.test\n//b.test/:_authToken=x\n" }, "https://b.test/"],
  ["a registry of another scope", { settings: "@other:registry=https://b.test" }, "https://registry.npmjs.org/"],
])("%s", (_, sources, registry) => {
  expect(npmRegistry("@a/server", { ...NONE, ...sources })).toEqual({ ok: true, registry });
});

test.each<[string, Partial<RegistrySources>]>([
  ["a registry of the package's scope", { settings: "@a:registry=https://b.test" }],
  ["a credential in the address", { option: "https://me:word@b.test/" }],
  ["a variable in the address", { settings: "registry=https://${HOST}/" }],
  ["another protocol", { option: "file:///srv/npm" }],
  ["settings that cannot be read", { settings: undefined }],
])("%s is refused", (_, sources) => {
  expect(npmRegistry("@a/server", { ...NONE, ...sources }).ok).toBe(false);
});
