// `ambit mcp login` and `logout`: a person signs in at a server in their browser, and the tokens stay with the daemon.
import type { ControlMessages } from "../../core/ports/daemon/daemon-control.ts";
import type { SignInView } from "../../core/ports/daemon/server-messages.ts";
import { askWidening } from "../approvals/presence-question.ts";
import { askOnce, tellRefusal } from "../control-ports.ts";
import { readValue } from "../secrets/value.ts";
import { visibleText } from "../terminal/cells.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { confirmation, fail, type JsonOption } from "../terminal/problems.ts";
import { timeText } from "../terminal/time.ts";
import type { RedirectWait, ServersPorts } from "./ports.ts";

export interface LoginOptions extends JsonOption {
  readonly host?: readonly string[];
  readonly clientId?: string;
  /** Where the secret of that client comes from: never an argument, which everybody on the machine can read. */
  readonly clientSecretFrom?: string;
  /** False: the person pastes the address that the browser was sent to. */
  readonly browser: boolean;
  readonly presence?: string;
}

const hostsMax = 8;
const waitMilliseconds = 600_000;

export async function mcpLogin(ports: ServersPorts, name: string, options: LoginOptions): Promise<ExitCode> {
  if (!options.browser && !ports.terminal.isInteractive)
    return fail(ports, options, EXIT.usage, "--no-browser needs a terminal to paste at", `ambit mcp login ${name}`);
  if (options.clientSecretFrom !== undefined && options.clientId === undefined)
    return fail(ports, options, EXIT.usage, "--client-secret-from needs the client that it is for", "--client-id ID");
  const read =
    options.clientSecretFrom === undefined ? null : await readValue(ports, options.clientSecretFrom, "", null);
  if (read?.ok === false) {
    const message = read.message.replace("--from", "--client-secret-from");
    return fail(ports, options, read.isUsage ? EXIT.usage : EXIT.error, message, null);
  }
  const redirect = await ports.redirects();
  try {
    const page = await openPage(ports, name, redirect.address, read?.value ?? null, options);
    if (typeof page === "number") return page;
    const state = new URL(page).searchParams.get("state") ?? "";
    const params = options.browser
      ? await redirect.wait(state, waitMilliseconds)
      : await pasted(ports, redirect, state);
    if (params === null)
      return fail(ports, options, EXIT.error, "the sign-in was not finished", `ambit mcp login ${name}`);
    const error = params.get("error");
    if (error !== null)
      return fail(ports, options, EXIT.error, `the authorization server refuses: ${error.slice(0, 64)}`, null);
    const asked = { state, code: params.get("code") ?? "", iss: params.get("iss") };
    const answer = await askOnce(ports, "servers.signin", asked);
    if (!answer.ok) return tellRefusal(ports, answer, options.json);
    if (options.json) ports.print(jsonLine(answer.value));
    else ports.print(`${ports.paint.good("signed in")} at ${visibleText(name)}: ${signInText(answer.value.signIn)}`);
    return EXIT.ok;
  } finally {
    redirect.close();
  }
}

export async function mcpLogout(ports: ServersPorts, name: string, options: JsonOption): Promise<ExitCode> {
  const answer = await askOnce(ports, "servers.logout", { cwd: ports.cwd, name });
  if (!answer.ok) return tellRefusal(ports, answer, options.json);
  if (options.json) ports.print(jsonLine({ name, ...answer.value }));
  else ports.print(signedOutText(ports, name, answer.value));
  return EXIT.ok;
}

/** For a server that is removed: what became of its sign-in, if there was one. */
export async function signOut(ports: ServersPorts, name: string): Promise<void> {
  const answer = await askOnce(ports, "servers.logout", { cwd: ports.cwd, name });
  if (!answer.ok) ports.printError(`${ports.paint.warn("warning")}: ${visibleText(answer.message)}`);
  else if (answer.value.wasSignedIn) ports.printError(signedOutText(ports, name, answer.value));
}

function signedOutText(
  { paint }: ServersPorts,
  name: string,
  { wasSignedIn, issuer, revocation }: ControlMessages["servers.logout"]["answers"],
): string {
  if (!wasSignedIn) return `not signed in at ${visibleText(name)}`;
  const head = `${paint.good("signed out")} of ${visibleText(name)}`;
  const at = visibleText(issuer ?? "its authorization server");
  switch (revocation) {
    case "revoked":
      return `${head}; its tokens are revoked at ${at}`;
    case "refresh token revoked":
      return `${head}; its refresh token is revoked at ${at}, where its access token is valid until it expires`;
    case "failed":
      return `${head}; ${paint.warn("warning")}: its tokens could not be revoked at ${at}, where they are valid until they expire`;
    case "not offered":
      return `${head}; ${at} does not revoke tokens: there they are valid until they expire`;
    case "nothing to revoke":
      return head;
    default:
      return revocation satisfies never;
  }
}

export function signInText({ issuer, scope, expires, hosts }: SignInView): string {
  const also = hosts.length === 0 ? "" : `, which reaches ${hosts.map(visibleText).join(", ")}`;
  const until = expires === null ? "" : `, token until ${timeText(expires)}`;
  return `${visibleText(issuer)}${scope === null ? "" : ` (${visibleText(scope)})`}${until}${also}`;
}

/** The page, as it was printed. Hosts that it needs are shown one by one, and allowed by the person. */
async function openPage(
  ports: ServersPorts,
  name: string,
  redirect: string,
  clientSecret: string | null,
  options: LoginOptions,
): Promise<string | ExitCode> {
  const hosts: string[] = [];
  for (;;) {
    const asked = { cwd: ports.cwd, name, redirect, hosts, clientId: options.clientId ?? null, clientSecret };
    const answer = await askWidening(ports, "servers.login", asked, options);
    if (typeof answer === "number") return answer;
    if (!answer.ok) return tellRefusal(ports, answer, options.json);
    const { page, issuer, scope, host } = answer.value;
    if (page !== null) {
      if (options.json) ports.print(jsonLine({ page, issuer, scope }));
      else {
        const wanted = scope === null ? "" : ` for ${visibleText(scope)}`;
        ports.printError(`sign in at ${visibleText(issuer ?? "")}${wanted}: open this page in your browser`);
        ports.print(visibleText(page));
      }
      return page;
    }
    if (host === null || hosts.length >= hostsMax)
      return fail(ports, options, EXIT.error, `${name} redirects to too many hosts`, null);
    const question = `${visibleText(name)} signs in at ${visibleText(host)}, which is not its own host. May ambit send requests there?`;
    const again = `ambit mcp login ${name} ${[...hosts, host].map((one) => `--host ${one}`).join(" ")}`;
    const isAllowed =
      options.host?.includes(host) === true || options.host?.includes(host.replace(/:443$/, "")) === true;
    const refused = await confirmation(ports, { ...options, yes: isAllowed }, question, again);
    if (refused !== null) {
      ports.printError(`  ${visibleText(name)} needs ${visibleText(host)}`);
      return refused;
    }
    hosts.push(host);
  }
}

/** INVARIANT: an address with another state is not the end of this sign-in. */
async function pasted(ports: ServersPorts, redirect: RedirectWait, state: string): Promise<URLSearchParams | null> {
  const question = `After the sign-in your browser shows an address that starts with ${redirect.address}: paste it here`;
  const text = (await ports.terminal.typed(question))?.trim() ?? "";
  if (!text.startsWith(`${redirect.address}?`)) return null;
  const params = new URLSearchParams(text.slice(redirect.address.length + 1));
  return params.get("state") === state ? params : null;
}
