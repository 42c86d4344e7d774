// Counts the values of a JSON text while its bytes arrive, so that a text which takes long to parse is refused before anything
// parses it. A text of few values is parsed in a time that its length alone decides.

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, OPEN_OBJECT] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

export class JsonMeter {
  readonly #valuesMax: number;
  #values = 1;
  #isString = false;
  #isEscaped = false;

  constructor(valuesMax: number) {
    this.#valuesMax = valuesMax;
  }

  /** The next bytes of the text. False once there are more values than allowed; members, elements, lists and objects count. */
  take(bytes: Uint8Array): boolean {
    let at = 0;
    while (at < bytes.length) {
      if (this.#isString) at = this.#string(bytes, at);
      else {
        const byte = bytes[at++];
        if (byte === QUOTE) this.#isString = true;
        else if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) this.#values++;
      }
    }
    return this.#values <= this.#valuesMax;
  }

  /** To the end of the string, or of the bytes. */
  #string(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) {
        this.#isString = false;
        return at + 1;
      }
    }
    return bytes.length;
  }
}
