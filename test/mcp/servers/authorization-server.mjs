// A real authorization server on loopback: whoever opens its page is signed in as alice and has consented. Its first line says its
// address. The argument is JSON: `seconds` that an access token is valid, and whether it has `revocation`. Below /test/ it says what it was asked, and revokes.
import { createServer } from "node:http";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";

const { seconds = 300, revocation = true } = JSON.parse(process.argv[2] ?? "{}");
const { privateKey } = await generateKeyPair("ES256", { extractable: true });
const asked = [];
const server = createServer().listen(0, "127.0.0.1");
await new Promise((ready) => server.once("listening", ready));
const issuer = `http://127.0.0.1:${server.address().port}`;
let delay = 0;

const provider = new Provider(issuer, {
  jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: "one", alg: "ES256", use: "sig" }] },
  scopes: ["ambit", "offline_access"],
  cookies: { keys: ["0123456789abcdef0123456789abcdef"] },
  pkce: { required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: () => true,
  ttl: { AccessToken: seconds, RefreshToken: 3_600, Interaction: 600, Session: 600, Grant: 3_600, AuthorizationCode: 60 },
  clientDefaults: { id_token_signed_response_alg: "ES256", token_endpoint_auth_method: "none" },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    revocation: { enabled: revocation },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_, __, oneOf) => oneOf ?? [],
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        ...{ scope: "ambit", audience: resource, accessTokenTTL: seconds, accessTokenFormat: "jwt" },
        jwt: { sign: { alg: "ES256" } },
      }),
    },
  },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
});

/** Answers the questions of the sign-in as a person who agrees. */
async function interact(request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (prompt.name === "login")
    return provider.interactionFinished(request, response, { login: { accountId: "alice" } });
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  const { missingOIDCScope, missingResourceScopes } = prompt.details;
  if (missingOIDCScope) grant.addOIDCScope(missingOIDCScope.join(" "));
  for (const [resource, scopes] of Object.entries(missingResourceScopes ?? {}))
    grant.addResourceScope(resource, scopes.join(" "));
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

const grants = new Set();
const tokens = [];
provider.on("grant.success", (context) => {
  grants.add(context.oidc.entities.Grant?.jti);
  tokens.push(context.body.access_token, context.body.refresh_token);
});
const handle = provider.callback();
server.on("request", async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, issuer);
  const json = (value) => response.setHeader("content-type", "application/json").end(JSON.stringify(value));
  if (pathname === "/test/asked") return json(asked);
  if (pathname === "/test/tokens") return json(tokens);
  if (pathname === "/test/delay") {
    delay = Number(searchParams.get("milliseconds"));
    return json({});
  }
  if (pathname === "/test/revoke") {
    for (const id of grants)
      for (const model of ["AccessToken", "RefreshToken", "AuthorizationCode"]) await provider[model].revokeByGrantId(id);
    return json({});
  }
  asked.push({ method: request.method, path: pathname, authorization: request.headers.authorization ?? null });
  if (pathname.startsWith("/interaction/")) return interact(request, response).catch((error) => json(String(error)));
  if (pathname === "/token" && delay > 0) await new Promise((over) => setTimeout(over, delay));
  return handle(request, response);
});
process.stdout.write(`${JSON.stringify({ issuer })}\n`);
process.stdin.resume().once("end", () => process.exit(0));
