import { describe, expect, it } from "vitest";
import { READING, treeOf } from "../testing/notation.ts";
import { readConfig } from "./config.ts";

const read = (oauth: unknown, level: "user" | "project" = "user") =>
  readConfig(treeOf({ oauth } as never), level, READING);

const RESOURCE = "http://127.0.0.1:8484/mcp";
const ISSUER = "https://login.example.com";
const CLIENT = { claims: { sub: "alice" }, agent: "scout", in: "/work/project" };
const withIssuer = (issuer: object): object => ({ resource: RESOURCE, issuers: [issuer] });
const withClient = (client: object): object => withIssuer({ issuer: ISSUER, clients: [client] });

describe("access tokens", () => {
  it("are of the issuers that are written, for the clients that are written", () => {
    const config = read(
      withIssuer({
        ...{ issuer: ISSUER, jwks: "https://keys.example.com/set?v=1", scopes: ["ambit"] },
        clients: [{ ...CLIENT, claims: { sub: "alice", groups: "ops" }, user: "alice" }],
      }),
    );
    expect([config.broken, config.oauth]).toEqual([
      false,
      {
        resource: RESOURCE,
        issuers: [
          {
            ...{ issuer: ISSUER, jwks: "https://keys.example.com/set?v=1", scopes: ["ambit"] },
            clients: [
              {
                claims: new Map([
                  ["sub", "alice"],
                  ["groups", "ops"],
                ]),
                ...{ agent: "scout", cwd: "/work/project", user: "alice" },
              },
            ],
          },
        ],
      },
    ]);
  });

  it.each(["http://127.0.0.1:9000/login", "http://[::1]:9000", ISSUER])("may be of %s", (issuer) => {
    expect(read(withIssuer({ issuer, clients: [CLIENT] })).broken).toBe(false);
  });

  it.each<readonly [unknown, string]>([
    ["yes", "is a map"],
    [{}, "`resource`"],
    [{ resource: RESOURCE }, "`issuers`"],
    [{ resource: "http://127.0.0.1/mcp", issuers: [] }, "`ambit mcp serve --http` prints"],
    [{ resource: "https://ambit.example.com/mcp", issuers: [] }, "`ambit mcp serve --http` prints"],
    [{ resource: `${RESOURCE}/`, issuers: [] }, "`ambit mcp serve --http` prints"],
    [{ resource: RESOURCE, issuers: [], audience: "x" }, "has no"],
    [withIssuer({ clients: [CLIENT] }), "an issuer needs an address"],
    [withIssuer({ issuer: "http://login.example.com", clients: [CLIENT] }), "is an https address"],
    [withIssuer({ issuer: "http://localhost:9000", clients: [CLIENT] }), "is an https address"],
    [withIssuer({ issuer: "http://127.0.0.1.example.com", clients: [CLIENT] }), "is an https address"],
    [withIssuer({ issuer: `${ISSUER}?tenant=a`, clients: [CLIENT] }), "no query"],
    [withIssuer({ issuer: ISSUER, jwks: "http://10.0.0.1/keys", clients: [CLIENT] }), "is an https address"],
    [withIssuer({ issuer: ISSUER, jwks: "file:///etc/passwd", clients: [CLIENT] }), "not an http or https URL"],
    [withIssuer({ issuer: ISSUER, scopes: ['a"b'], clients: [CLIENT] }), "is not a scope"],
    [withIssuer({ issuer: ISSUER }), "`clients` is a list"],
    [{ resource: RESOURCE, issuers: [1, 2].map(() => ({ issuer: ISSUER, clients: [CLIENT] })) }, "written twice"],
    [withClient({ ...CLIENT, claims: {} }), "1 to 16 claims"],
    [withClient({ ...CLIENT, claims: { sub: 1 } }), "1 to 16 claims"],
    [withClient({ ...CLIENT, claims: { sub: "" } }), "1 to 16 claims"],
    [withClient({ claims: CLIENT.claims, in: CLIENT.in }), "an `agent`"],
    [withClient({ claims: CLIENT.claims, agent: "scout" }), "the folder `in`"],
    [withClient({ ...CLIENT, in: "project" }), "a whole path"],
    [withClient({ ...CLIENT, user: "al ice" }), "a user name"],
    [withClient({ ...CLIENT, grants: [] }), "has no"],
  ])("%j is refused", (written, message) => {
    const config = read(written);
    expect(config.broken).toBe(true);
    expect(config.diagnostics.map((one) => one.message).join("\n")).toContain(message);
  });

  it("are never a project's to accept", () => {
    const config = read(withClient(CLIENT), "project");
    expect([config.broken, config.oauth]).toEqual([true, null]);
  });
});
