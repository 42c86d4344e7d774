// The platform globals that pure rooms may use beside the language itself: functions of their input alone, the same on every
// platform. The compiler reads this file for pure rooms, and test/tidy reads the names declared here.

declare class TextEncoder {
  encode(text?: string): Uint8Array<ArrayBuffer>;
}

declare class TextDecoder {
  constructor(label?: "utf-8", options?: { readonly fatal?: boolean; readonly ignoreBOM?: boolean });
  decode(bytes?: Uint8Array): string;
}

/** Base64 of a string whose characters are bytes. */
declare function btoa(binary: string): string;

/** Throws for text that is not base64, and accepts several spellings of the same bytes. */
declare function atob(base64: string): string;

/** Cancellation. Absent on purpose: `AbortSignal.timeout`, which needs a clock. */
declare class AbortSignal {
  private constructor();
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

declare class AbortController {
  readonly signal: AbortSignal;
  abort(): void;
}
