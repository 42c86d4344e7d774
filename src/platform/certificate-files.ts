// Certificate authorities: the system's, and the person's own, such as a company's, in files that they name. A file
// is read for its certificates alone, so whatever a variable names, nothing else of it is ever passed on.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { errorCode } from "../core/base/error-code.ts";

/** Each names one file of certificates. */
export const CERTIFICATE_VARIABLES: readonly string[] = [
  ...["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO"],
  ...["CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE", "NIX_SSL_CERT_FILE", "DENO_CERT"],
];

const fileBytesMax = 4_194_304;
const CERTIFICATE = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END (?:TRUSTED )?CERTIFICATE-----/g;

export type Certificates = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string };

/** A pipe or a device is not waited for. */
export function readCertificates(path: string): Certificates {
  if (!path.startsWith("/")) return { ok: false, why: "it is not an absolute path" };
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return { ok: false, why: `it cannot be read (${errorCode(error)})` };
  }
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) return { ok: false, why: "it is not a file" };
    if (found.size > fileBytesMax) return { ok: false, why: "it is larger than 4 MiB" };
    const all = readFileSync(descriptor, "latin1").match(CERTIFICATE) ?? [];
    return all.length === 0
      ? { ok: false, why: "it contains no certificate" }
      : { ok: true, text: `${all.join("\n")}\n` };
  } catch (error) {
    return { ok: false, why: `it cannot be read (${errorCode(error)})` };
  } finally {
    closeSync(descriptor);
  }
}

/** The first that is there, as distributions have it. */
const SYSTEM: readonly string[] = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** `own`: the user's files. As one text; null where there is none: then Node's are trusted. */
export function trustedAuthorities(own: readonly string[], charactersMax: number): string | null {
  const text = (path: string): string => {
    const read = readCertificates(path);
    return read.ok ? read.text : "";
  };
  const system = SYSTEM.map(text).find((one) => one !== "") ?? "";
  const all = `${system}${own.map(text).join("")}`;
  return all === "" || all.length > charactersMax ? null : all;
}
