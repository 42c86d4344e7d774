// The broker's own address inside a sandbox: one question for a credential, one answer, end.

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

/** Kept when the connection is over. Nothing is said to a question that is not understood, or that gets a no. */
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
