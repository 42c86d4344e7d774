// Messages between daemon and broker about one request to a model.
import { DENIAL_CODES, type DenialCode } from "../../../core/authority/decision.ts";
import { MODEL_PROVIDERS, type ModelProvider } from "../../../core/notation/config/model-setting.ts";
import { type ModelEstimate, type ModelUsage, promptCharactersMax } from "../../plan/sandboxes.ts";
import { type Check, exactly, flag, isShape, orNull, text, whole } from "../shape.ts";

/** Asks whether a client may use a model. */
export interface RelayQuestion extends ModelEstimate {
  readonly kind: "model-request";
  readonly number: number;
  readonly sandbox: string;
  readonly provider: ModelProvider;
  readonly model: string;
  /** SHA-256 of the body, before a maximum of output is set. */
  readonly digest: string;
  readonly bytes: number;
  /** The client sent a credential other than the placeholder. It is not passed on. */
  readonly hasForeignCredential: boolean;
}

/** Where the request goes and the one header that carries the credential. */
export interface RelayUpstream {
  /** `https://api.example.com`, with a path if the provider's own is below one. */
  readonly url: string;
  readonly header: string;
  /** Before the value: `Bearer `. */
  readonly prefix: string;
  /** Base64. */
  readonly value: string;
  /** The report has the end of the conversation. */
  readonly keepsPrompt: boolean;
}

/** The daemon's answer; `upstream` is null for a denial. */
export interface RelayAnswer {
  readonly kind: "model-answer";
  readonly number: number;
  readonly code: DenialCode | null;
  readonly message: string;
  /** The maximum of output to set in the request; null: as it is. */
  readonly outputTokens: number | null;
  readonly upstream: RelayUpstream | null;
}

/** What came of it. */
export interface RelayReport extends ModelUsage {
  readonly kind: "model-report";
  /** Of the question. */
  readonly number: number;
}

const number = whole(1, Number.MAX_SAFE_INTEGER);
const sandbox = text(64, /^[A-Za-z0-9_.-]+$/);
const count = whole(0, Number.MAX_SAFE_INTEGER);

const upstream: Check<RelayUpstream> = (value): value is RelayUpstream =>
  isShape<RelayUpstream>(value, {
    url: text(2_048, /^https?:\/\/[\x21-\x7e]+$/),
    header: text(64, /^[a-z-]+$/),
    prefix: text(16, /^[A-Za-z]* ?$/),
    value: text(16_384, /^[A-Za-z0-9+/=]+$/),
    keepsPrompt: flag,
  });

export function readRelayAnswer(value: unknown): RelayAnswer | null {
  const answer = isShape<RelayAnswer>(value, {
    kind: exactly("model-answer"),
    number,
    code: orNull(exactly<DenialCode>(...DENIAL_CODES)),
    message: text(4_096),
    outputTokens: orNull(whole(1, Number.MAX_SAFE_INTEGER)),
    upstream: orNull(upstream),
  });
  return answer && (value.code === null) === (value.upstream !== null) ? value : null;
}

export function readRelayBrokerMessage(value: unknown): RelayQuestion | RelayReport | null {
  const isQuestion = isShape<RelayQuestion>(value, {
    ...{ kind: exactly("model-request"), number, sandbox },
    provider: exactly<ModelProvider>(...MODEL_PROVIDERS),
    model: text(128),
    digest: text(64, /^[0-9a-f]{64}$/),
    bytes: count,
    hasForeignCredential: flag,
    ...{ isCharged: flag, isPremium: flag, inputTokens: count, outputTokens: orNull(count), outputLeast: count },
  });
  if (isQuestion) return value;
  const isReport = isShape<RelayReport>(value, {
    ...{ kind: exactly("model-report"), number, isSent: flag },
    status: whole(0, 999),
    input: orNull(count),
    output: orNull(count),
    ...{ cacheRead: count, cacheWrite: count },
    milliseconds: count,
    isWhole: flag,
    prompt: orNull(text(promptCharactersMax)),
  });
  return isReport ? value : null;
}
