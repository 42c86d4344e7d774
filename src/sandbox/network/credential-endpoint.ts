// The broker's own address inside a sandbox: one credential request, one answer, close.

import type { Socket } from "node:net";
import {
  type Credential,
  type CredentialRequest,
  credentialText,
  readCredentialRequest,
} from "./credential-request.ts";
import { credentialBytesMax, credentialMilliseconds } from "./limits.ts";
import { reset } from "./reset.ts";

export type AskCredential = (request: CredentialRequest) => Promise<Credential | null>;

/** Resolves when the connection is over. A request that does not parse or is refused gets no answer. */
export function serveCredential(socket: Socket, ask: AskCredential): Promise<void> {
  return new Promise((done) => {
    let text = "";
    let isAsked = false;
    socket.setTimeout(credentialMilliseconds, () => socket.destroy());
    socket.once("close", () => done());
    socket.on("end", () => {
      if (!isAsked) socket.end();
    });
    socket.on("data", (bytes: Buffer) => {
      if (isAsked) return;
      text += bytes.toString("latin1");
      if (text.length > credentialBytesMax) return void reset(socket);
      const end = text.indexOf("\n\n");
      if (end < 0) return;
      isAsked = true;
      const request = readCredentialRequest(text.slice(0, end + 2));
      if (request === null) return void socket.end();
      void ask(request).then((credential) => socket.end(credential === null ? "" : credentialText(credential)));
    });
    socket.resume();
  });
}
