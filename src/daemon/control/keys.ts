// Control messages about the secret store's key: show its source, lock, unlock, reseal under another key.
import { optionalText, textIn } from "../../core/base/fields.ts";
import { isJsonObject, type JsonObject, member } from "../../core/base/json.ts";
import { refusal } from "../../core/ports/daemon/exchange.ts";
import type { KeyInput, NewKey } from "../../core/ports/secret-key.ts";
import type { Gatekeeper } from "../calls/gatekeeper.ts";
import { NO_ACTOR } from "../log/entries.ts";
import type { Vault } from "../parts.ts";
import type { MessageHandler } from "../rpc/serving.ts";
import type { Admission } from "./admission.ts";

const passphraseCharactersMax = 1024;
const valueCharactersMax = 65_536;
const pathCharactersMax = 4096;

interface KeyParts {
  readonly vault: Vault;
  readonly gatekeeper: Gatekeeper;
  readonly admission: Admission;
}

export function keyAnswers({ vault, gatekeeper, admission }: KeyParts): readonly (readonly [string, MessageHandler])[] {
  return [
    [
      "secrets.source",
      async (exchange) => {
        const admitted = admission.handling(exchange);
        return admitted.ok ? { ok: true, value: { ...vault.source() } } : admitted;
      },
    ],
    [
      "secrets.unlock",
      async (exchange) => {
        const given = givenIn(exchange.value);
        const admitted = admission.handling(exchange);
        if (!admitted.ok) return admitted;
        return given === null ? BAD : vault.unlock(given);
      },
    ],
    [
      "secrets.lock",
      async (exchange) => {
        const admitted = admission.narrowing(exchange);
        return admitted.ok ? vault.lock() : admitted;
      },
    ],
    [
      "secrets.key",
      async (exchange) => {
        const wanted = member(exchange.value, "key");
        const key = isJsonObject(wanted) ? newKeyIn(wanted) : null;
        if (key === null) return BAD;
        const admitted = await admission.widening(exchange);
        if (!admitted.ok) return admitted;
        const more = { name: "*", by: admitted.value.by, source: key.source };
        return vault.rekey({ key }, gatekeeper.entries.make("secret", NO_ACTOR, "rekeyed", { of: "*", more }));
      },
    ],
  ];
}

const BAD = refusal("invalid_input", "the message cannot be parsed");

function givenIn(value: JsonObject): KeyInput | null {
  const passphrase = optionalText(value, "passphrase", valueCharactersMax);
  const identity = optionalText(value, "identity", pathCharactersMax);
  const bus = optionalText(value, "bus", pathCharactersMax);
  if (passphrase === undefined || identity === undefined || bus === undefined) return null;
  return { passphrase, identity, bus };
}

function newKeyIn(value: JsonObject): NewKey | null {
  const source = textIn(value, "source", 16);
  switch (source) {
    case "file":
      return { source };
    case "passphrase": {
      const passphrase = textIn(value, "passphrase", passphraseCharactersMax);
      return passphrase === null ? null : { source, passphrase };
    }
    case "keychain": {
      const bus = optionalText(value, "bus", pathCharactersMax);
      return bus === undefined ? null : { source, bus };
    }
    case "age": {
      const recipient = textIn(value, "recipient", pathCharactersMax);
      const identity = optionalText(value, "identity", pathCharactersMax);
      return recipient === null || identity === undefined ? null : { source, recipient, identity };
    }
    case "reference": {
      const reference = textIn(value, "reference", pathCharactersMax);
      const handed = optionalText(value, "value", valueCharactersMax);
      return reference === null || handed === undefined ? null : { source, reference, value: handed };
    }
    default:
      return null;
  }
}
