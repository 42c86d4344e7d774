// A client's server as an entry of ours: the same program or address with nothing granted, and each value that may be a
// credential as a stored secret. INVARIANT: no such value is in the entry.
import { destinationText, type ToAscii } from "../../core/authority/axes/destination.ts";
import { urlParts } from "../../core/authority/axes/http-request.ts";
import { parseUrl, type Url } from "../../core/authority/axes/url.ts";
import { packageCommand } from "../../core/notation/servers/package-command.ts";
import type { PinnedPackage } from "../../core/notation/servers/server-package.ts";
import {
  beginsLikeCredential,
  credentialIn,
  isCredentialOption,
  isInput,
  referenceIn,
  SECRET_WORD,
} from "../credential-patterns.ts";
import type { ClientServer } from "./client-servers.ts";

/** A value that is stored, and named in the entry instead. */
export interface ImportedSecret {
  readonly secret: string;
  /** Where it stood. */
  readonly at: string;
  /** Null: the client takes it from a variable of the user, or asks for it. */
  readonly value: string | null;
  readonly variable: string | null;
  /** The host that it is sent to; null: the program gets it. */
  readonly host: string | null;
}

export interface ImportedServer {
  readonly name: string;
  readonly from: ClientServer;
  readonly endpoint:
    | {
        readonly kind: "program";
        readonly command: readonly string[];
        /** Where the client would fetch it: once it is fetched and pinned. */
        readonly package?: PinnedPackage;
        readonly runtime: readonly string[];
        readonly environment: readonly (readonly [string, string | { readonly secret: string }])[];
      }
    | { readonly kind: "http"; readonly url: string; readonly headers: readonly (readonly [string, string])[] };
  readonly secrets: readonly ImportedSecret[];
  readonly notes: readonly string[];
}

export type ImportResult =
  | { readonly ok: true; readonly value: ImportedServer }
  | { readonly ok: false; readonly name: string; readonly file: string; readonly why: string };

const nameCharactersMax = 32;
const secretCharactersMax = 64;
/** Shorter values cannot be redacted, so they are not stored. */
const valueCharactersMin = 8;

/** `isTaken`: names of servers and of secrets that are there already. */
export function importedServer(
  from: ClientServer,
  isTaken: { server(name: string): boolean; secret(name: string): boolean },
  toAscii: ToAscii,
): ImportResult {
  const refused = (why: string): ImportResult => ({ ok: false, name: from.name, file: from.file, why });
  const { endpoint } = from;
  const name = ownName(from.name);
  if (endpoint.kind === "other") return refused(endpoint.why);
  if (!from.isEnabled) return refused("it is disabled in the client");
  if (isOurs(from)) return refused("it is ambit itself");
  if (name === null) return refused("its name cannot be converted to a valid server name: add it with `ambit mcp add`");
  if (isTaken.server(name)) return refused(`a server ${name} already exists`);
  const secrets: ImportedSecret[] = [];
  const used = new Set<string>();
  const store = (at: string, of: string, value: string, host: string | null): string => {
    const secret = freeName(`${name}-${of}`, (one) => used.has(one) || isTaken.secret(one));
    used.add(secret);
    const reference = referenceIn(value);
    const variable = isInput(value) ? null : reference;
    secrets.push({ secret, at, value: reference === null ? value : null, variable, host });
    return secret;
  };
  if (endpoint.kind === "http") {
    const url = parseUrl(endpoint.url, toAscii);
    if (!url.ok) return refused(url.message);
    const host = hostOf(url.value);
    if (credentialIn(urlParts(url.value).query))
      return refused("its address has a credential: store it, and add the server with {{secret:NAME}} in the query");
    const headers = endpoint.headers.map(([header, value]): readonly [string, string] => {
      if (isPlainHeader(header, value)) return [header, value];
      const [, scheme = "", rest = value] = /^((?:Bearer|Basic|Token|token|bearer) )(.*)$/s.exec(value) ?? [];
      return [header, `${scheme}{{secret:${store(`header ${header}`, header, rest, host)}}}`];
    });
    const short = secrets.find(({ value }) => value !== null && value.length < valueCharactersMin);
    if (short !== undefined) return refused(tooShort(short.at));
    return {
      ok: true,
      value: { name, from, endpoint: { kind: "http", url: endpoint.url, headers }, secrets, notes: [] },
    };
  }
  const { command, environment, passed } = endpoint;
  const spoken = command.findIndex(
    (word, at) => credentialIn(word) || (at > 0 && isCredentialOption(command[at - 1] ?? "", word)),
  );
  if (spoken >= 0)
    return refused(`its argument ${spoken} may be a credential: pass it in a variable, and import it again`);
  const variables = environment.map(([variable, value]): readonly [string, string | { readonly secret: string }] =>
    isPlainVariable(variable, value)
      ? [variable, value]
      : [variable, { secret: store(`variable ${variable}`, variable, value, null) }],
  );
  const handed = passed
    .filter((variable) => !environment.some(([one]) => one === variable))
    .map((variable): readonly [string, { readonly secret: string }] => [
      variable,
      { secret: store(`variable ${variable}`, variable, `\${${variable}}`, null) },
    ]);
  const short = secrets.find(({ value }) => value !== null && value.length < valueCharactersMin);
  if (short !== undefined) return refused(tooShort(short.at));
  return {
    ok: true,
    value: {
      ...{ name, from, secrets, notes: programNotes(command) },
      endpoint: { kind: "program", command, runtime: [], environment: [...variables, ...handed] },
    },
  };
}

function tooShort(at: string): string {
  return `its ${at} may be a credential, and has less than ${valueCharactersMin} characters: it cannot be stored`;
}

const CONTAINERS = /^(?:.*\/)?(?:docker|podman)$/;

function programNotes([program = "", ...words]: readonly string[]): readonly string[] {
  const path = [program, ...words].find((word) => word.startsWith("/"));
  const fetching = packageCommand([program, ...words]);
  return [
    ...(CONTAINERS.test(program)
      ? ["containers do not run in its sandbox: install the server, and change `command`"]
      : []),
    ...(fetching?.ok === false ? [`${fetching.message}; ${fetching.fix ?? "change `command`"}`] : []),
    ...(path === undefined || fetching !== null ? [] : [`mount its program and libraries with \`runtime\`: ${path}`]),
    "it reaches no files and no network: write what it needs in `requires`",
  ];
}

/** Our own server, as `ambit connect` writes it. */
export function isOurs({ endpoint }: ClientServer): boolean {
  if (endpoint.kind !== "program") return false;
  // Node stands before it where ambit runs from a checkout, and variables where its folders are not the usual ones.
  const words = endpoint.command;
  return words.some((word, at) => /(?:^|\/)ambit$/.test(word) && words[at + 1] === "mcp" && words[at + 2] === "serve");
}

/** The name of ours for a name of a client's; null where nothing is left of it. */
export function ownName(text: string): string | null {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^[^a-z]+|-+$/g, "");
  return name === "" || name.length > nameCharactersMax || /[^\x20-\x7e]/.test(text) ? null : name;
}

function freeName(text: string, isTaken: (name: string) => boolean): string {
  const base = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, secretCharactersMax - 4)
    .replace(/-+$/, "");
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (!isTaken(name)) return name;
  }
}

/**
 * Plain: a number, a flag, a path, an address without credentials, or a few words of letters, in a variable whose name speaks
 * of no credential. Everything else is stored: a value too many in the store costs nothing, one too few is in a file.
 */
function isPlainVariable(name: string, value: string): boolean {
  if (SECRET_WORD.test(name) || beginsLikeCredential(value) || referenceIn(value) !== null) return value === "";
  return (
    /^(?:[a-z]{0,16}|[A-Z]{0,16}|\d{1,12}|\d+\.\d+(?:\.\d+)?|~?\.{0,2}\/[\w./@ -]*)$/.test(value) ||
    /^[a-z]+(?:[-_ ,][a-z]+){0,6}$/i.test(value) ||
    (/^https?:\/\/[\w.-]+(?::\d+)?(?:\/[\w./-]*)?$/.test(value) &&
      !/[A-Za-z0-9_-]{20}/.test(value.replace(/^https?:\/\/[^/]+/, "")))
  );
}

function isPlainHeader(name: string, value: string): boolean {
  if (/^(?:authorization|proxy-authorization|cookie|x-api-key)$/i.test(name)) return false;
  return isPlainVariable(name, value);
}

/** With its port, as a secret is bound to it. */
function hostOf({ scheme, host, port }: Url): string {
  const text = destinationText(host);
  const name = text.includes(":") && !text.startsWith("[") ? `[${text}]` : text;
  return port === (scheme === "https" ? 443 : 80) ? name : `${name}:${port}`;
}
