// Where an MCP server is: a program that ambit starts in a sandbox, or an address that the broker reaches. Secrets stand in
// both by name; the value of one reaches a program only where the user's own file says `reveal`.
import { type HeaderLine, handlesIn, requestFault, secretsIn } from "../../authority/axes/http-request.ts";
import { isIdentifying } from "../../authority/axes/redirect.ts";
import { parseUrl, type Url } from "../../authority/axes/url.ts";
import type { Span } from "../../authority/grant.ts";
import type { ConfigLevel } from "../config/config-keys.ts";
import type { Diagnostics } from "../diagnostic.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { readRoot } from "../record/hoist.ts";
import { flagOf, kindName, reportRefusal, textsOf } from "../scope/scope-values.ts";
import { type Entry, entryOf, type Mapping, type TreeNode } from "../tree.ts";
import { isPackageProgram, type PinnedPackage, readPackage } from "./server-package.ts";

export type ServerEndpoint = ServerProgram | ServerAddress;

export interface ServerProgram {
  readonly kind: "program";
  /** The program and its arguments. Nothing in it is read by a shell. */
  readonly command: readonly [string, ...string[]];
  /** Folders of programs and libraries that it sees, read-only. */
  readonly runtime: readonly (readonly string[])[];
  /** Added to an environment that is otherwise ambit's own. */
  readonly environment: readonly ServerVariable[];
  /** Its program is one of this package's; null: of this machine's. */
  readonly package: PinnedPackage | null;
}

export type ServerVariable =
  | { readonly name: string; readonly text: string; readonly secret: null }
  /** The value of the secret is given to the program: only the user's own file can say so. */
  | { readonly name: string; readonly text: null; readonly secret: string };

export interface ServerAddress {
  readonly kind: "http";
  readonly url: Url;
  /** As it is written; handles of secrets may stand in its query. */
  readonly address: string;
  /** Sent with each request; handles of secrets may stand in their values. */
  readonly headers: readonly HeaderLine[];
}

/** A secret that an endpoint names, and where it goes. */
export interface EndpointSecret {
  readonly name: string;
  readonly at: string;
  readonly isRevealed: boolean;
}

export const PROGRAM_KEYS: readonly string[] = ["command", "package", "runtime", "env"];
export const ADDRESS_KEYS: readonly string[] = ["url", "headers"];

const wordsMax = 256;
const wordCharactersMax = 4_096;
const variablesMax = 64;
const headersMax = 32;
const SECRET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The tool that a secret for a server is bound to: `ambit secrets set NAME --tool mcp.SERVER`. */
export function serverTool(server: string): string {
  return `mcp.${server}`;
}

export function endpointSecrets(endpoint: ServerEndpoint): readonly EndpointSecret[] {
  if (endpoint.kind === "program")
    return endpoint.environment.flatMap(({ name, secret }) =>
      secret === null ? [] : [{ name: secret, at: `variable ${name}`, isRevealed: true }],
    );
  const { url, headers } = endpoint;
  return [
    ...secretsIn(url, [], null).map((name) => ({ name, at: "query of its address", isRevealed: false })),
    ...headers.flatMap(([header, value]) =>
      handlesIn(value, "header").map((name) => ({ name, at: `header ${header}`, isRevealed: false })),
    ),
  ];
}

export function readEndpoint(
  node: Mapping,
  server: { readonly name: string; readonly span: Span; readonly level: ConfigLevel },
  reading: Reading,
  diagnostics: Diagnostics,
): ServerEndpoint | null {
  const at = (key: string): Entry | null => entryOf(node, key);
  const url = at("url");
  const [own, others] = url === null ? [PROGRAM_KEYS, ADDRESS_KEYS] : [ADDRESS_KEYS, PROGRAM_KEYS];
  for (const key of others) {
    const found = at(key);
    if (found !== null)
      diagnostics.error(
        "bad_value",
        found.keySpan,
        url === null
          ? `\`${key}\` is for a server with a \`url\``
          : `a server with a \`url\` has no \`${key}\`: it is not a program on this machine`,
        { fix: `${own[0]}:` },
      );
  }
  if (url !== null) return readAddress(url, at("headers"), reading, diagnostics);
  const command = readCommand(at("command"), server.span, server.name, diagnostics);
  const runtime = at("runtime");
  const variables = at("env");
  const pinned = at("package");
  const program = {
    package: pinned === null ? null : readPackage(pinned, diagnostics),
    runtime: runtime === null ? [] : readRuntime(runtime, server.level, reading, diagnostics),
    environment: variables === null ? [] : readVariables(variables, server.level, diagnostics),
  };
  // Otherwise another program of this machine would run under the name of the package.
  if (pinned !== null && command !== null && !isPackageProgram(command[0]))
    diagnostics.error(
      "bad_value",
      at("command")?.value.span ?? server.span,
      `${quoteText(command[0])} is not a program of a package`,
      {
        fix: "command: [the name of a program in the package, arguments]",
      },
    );
  return command === null ? null : { kind: "program", command, ...program };
}

function readAddress(
  { value }: Entry,
  headers: Entry | null,
  reading: Reading,
  diagnostics: Diagnostics,
): ServerAddress | null {
  const fix = { fix: "url: https://mcp.example.com/mcp" };
  const address = value.kind === "scalar" && typeof value.value === "string" ? value.value : null;
  const url = address === null ? null : parseUrl(address, reading.toAscii);
  if (address === null || url === null || !url.ok) {
    const why = url === null || url.ok ? `\`url\` is text, not ${kindName(value)}` : url.message;
    diagnostics.error("bad_value", value.span, why, fix);
    return null;
  }
  const { scheme, host, rest } = url.value;
  if (rest.includes("#")) diagnostics.error("bad_value", value.span, "an address of a server has no fragment", fix);
  const plain = plainCredential(address);
  if (plain !== null)
    diagnostics.error(
      "bad_value",
      value.span,
      `${quoteText(plain)} in the address is a credential: store it as a secret, and use its handle here`,
      {
        fix: `url: "https://mcp.example.com/mcp?${plain}={{secret:example-token}}"`,
      },
    );
  // Whatever a person gives to the server would be readable on the way.
  if (scheme === "http" && !(host.name === null && isLoopback(address)))
    diagnostics.error("bad_value", value.span, "without TLS a server is reached at 127.0.0.1 or [::1] only", fix);
  const lines = headers === null ? [] : readHeaders(headers, diagnostics);
  const fault = requestFault("POST", url.value, lines, true);
  if (fault !== null) diagnostics.error("bad_value", (headers?.value ?? value).span, fault);
  return { kind: "http", url: url.value, address, headers: lines };
}

function isLoopback(address: string): boolean {
  return /^http:\/\/(?:127\.0\.0\.1|\[::1\])(?:[:/?]|$)/i.test(address);
}

/** The protocol's own, and those that say whom a client is: clients of ambit never speak to a server directly. */
const OWN_HEADERS = /^(?:mcp-|content-|accept(?:-|$)|last-event-id$|host$|origin$|user-agent$)/i;

/** Names of headers and of parts of a query that hold a credential. */
const CREDENTIAL =
  /(?:^|[-_])(?:api[-_]?key|(?:access|auth|private)[-_]?key|token|secret|passw(?:or)?d|credentials?)$/i;

/** The first part of the query that is a credential in plain text; null for none. */
function plainCredential(address: string): string | null {
  const query = /\?([^#]*)/.exec(address)?.[1] ?? "";
  for (const part of query.split("&")) {
    const [name = "", value = ""] = part.split("=");
    if (value !== "" && !value.includes("{{secret:") && (CREDENTIAL.test(name) || /^key$/i.test(name))) return name;
  }
  return null;
}

function readHeaders({ value }: Entry, diagnostics: Diagnostics): readonly HeaderLine[] {
  if (value.kind !== "map" || value.entries.length > headersMax) {
    diagnostics.error("wrong_type", value.span, `\`headers\` is a map from at most ${headersMax} names to texts`, {
      fix: 'headers: { Authorization: "Bearer {{secret:example-token}}" }',
    });
    return [];
  }
  const seen = new Set<string>();
  return value.entries.flatMap(({ key, keySpan, value: written }): readonly HeaderLine[] => {
    const text = textOf(written);
    if (OWN_HEADERS.test(key) || seen.has(key.toLowerCase()))
      diagnostics.error("bad_value", keySpan, `the header ${quoteText(key)} is set by ambit, or is written twice`);
    else if (text === null)
      diagnostics.error(
        "wrong_type",
        written.span,
        `the header ${key} is text of at most ${wordCharactersMax} characters`,
        { fix: `${key}: "value"` },
      );
    // A credential in a file is in every copy of it.
    else if ((isIdentifying(key) || CREDENTIAL.test(key)) && handlesIn(text, "header").length === 0)
      diagnostics.error(
        "bad_value",
        written.span,
        `${key} is a credential: store it as a secret, and use its handle here`,
        {
          fix: `${key}: "Bearer {{secret:example-token}}"`,
        },
      );
    else {
      seen.add(key.toLowerCase());
      return [[key, text]];
    }
    return [];
  });
}

function readCommand(
  entry: Entry | null,
  span: Span,
  name: string,
  diagnostics: Diagnostics,
): ServerProgram["command"] | null {
  const fix = { fix: "command: [program, argument]" };
  if (entry === null) {
    diagnostics.error("missing_field", span, `${quoteText(name)} needs \`command\` or \`url\``, fix);
    return null;
  }
  const words = textsOf(entry, diagnostics);
  if (words === null) return null;
  const [program, ...rest] = words.map(({ text }) => text);
  const wrong = words.find(({ text }) => text.includes("\0") || text.length > wordCharactersMax);
  if (program === undefined || program === "" || words.length > wordsMax || wrong !== undefined) {
    const message = `a command has 1 to ${wordsMax} words of at most ${wordCharactersMax} characters, the program first`;
    diagnostics.error("bad_value", wrong?.span ?? entry.value.span, message, fix);
    return null;
  }
  return [program, ...rest];
}

/** A project's server sees programs of the project; others are the user's to show. */
function readRuntime(
  entry: Entry,
  level: ConfigLevel,
  reading: Reading,
  diagnostics: Diagnostics,
): ServerProgram["runtime"] {
  const { ceiling } = reading;
  return (textsOf(entry, diagnostics) ?? []).flatMap(({ text, span }) => {
    const root = readRoot(text, reading);
    if (!root.ok) reportRefusal(root, span, diagnostics);
    else if (level === "project" && ceiling?.every((name, at) => root.value[at] === name) !== true)
      diagnostics.error("escapes_root", span, `${quoteText(text)} is outside the project`, {
        fix: "write the server in your own mcp.yml: ambit mcp add --user",
      });
    else return [root.value];
    return [];
  });
}

/** They would change the programs of the sandbox itself, or what its own variables say. */
const REFUSED_VARIABLES =
  /^(?:LD_|DYLD_|GLIBC_|GCONV_|MALLOC_|AMBIT_|BWRAP_|(?:PATH|HOME|TMPDIR|USER|LOGNAME|SHELL|ENV|BASH_ENV|IFS)$)/;

function readVariables({ value }: Entry, level: ConfigLevel, diagnostics: Diagnostics): readonly ServerVariable[] {
  if (value.kind !== "map" || value.entries.length > variablesMax) {
    const message =
      value.kind === "map"
        ? `\`env\` has at most ${variablesMax} variables`
        : `\`env\` is a map from variables to texts, not ${kindName(value)}`;
    diagnostics.error(value.kind === "map" ? "too_large" : "wrong_type", value.span, message, {
      fix: 'env: { LOG_LEVEL: "debug" }',
    });
    return [];
  }
  return value.entries.flatMap(({ key, keySpan, value: written }): readonly ServerVariable[] => {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(key) || REFUSED_VARIABLES.test(key)) {
      diagnostics.error(
        "bad_value",
        keySpan,
        `${quoteText(key)} is set by the sandbox, or is not a valid variable name`,
      );
      return [];
    }
    if (written.kind === "map") {
      const secret = readReveal(key, written, level, diagnostics);
      return secret === null ? [] : [{ name: key, text: null, secret }];
    }
    const text = textOf(written);
    if (text === null)
      diagnostics.error(
        "wrong_type",
        written.span,
        `the value of ${key} is text of at most ${wordCharactersMax} characters`,
        { fix: `${key}: "value"` },
      );
    else if (handlesIn(text, "plain").length > 0)
      diagnostics.error(
        "bad_value",
        written.span,
        `${key}: the program would receive this text literally, not the value of the secret`,
        {
          fix: `${key}: { secret: ${handlesIn(text, "plain")[0] ?? ""}, reveal: true }`,
        },
      );
    else return [{ name: key, text, secret: null }];
    return [];
  });
}

/** `{ secret: name, reveal: true }`. INVARIANT: nothing but the user's own file gives the value of a secret to a program. */
function readReveal(name: string, node: Mapping, level: ConfigLevel, diagnostics: Diagnostics): string | null {
  const [secret, reveal] = [entryOf(node, "secret"), entryOf(node, "reveal")];
  const fix = { fix: `${name}: { secret: example-token, reveal: true }` };
  const odd = node.entries.find(({ key }) => key !== "secret" && key !== "reveal");
  const stored = secret === null ? null : textOf(secret.value);
  if (odd !== undefined) diagnostics.error("unknown_key", odd.keySpan, `unknown key ${quoteText(odd.key)}`, fix);
  else if (stored === null || !SECRET_NAME.test(stored))
    diagnostics.error("bad_value", node.span, `${name}: \`secret\` is the name of a stored secret`, fix);
  else if (level === "project")
    diagnostics.error("bad_value", node.span, `${name}: servers of a project cannot receive secret values`, {
      fix: "write the server in your own mcp.yml: ambit mcp add --user",
    });
  else if (reveal === null || flagOf(reveal, diagnostics, false) !== true)
    diagnostics.error(
      "bad_value",
      node.span,
      `${name}: the program would see the value of ${quoteText(stored)}: confirm this with \`reveal: true\``,
      fix,
    );
  else return stored;
  return null;
}

function textOf(node: TreeNode): string | null {
  const text = node.kind === "scalar" && typeof node.value === "string" ? node.value : null;
  return text === null || text.includes("\0") || text.length > wordCharactersMax ? null : text;
}
